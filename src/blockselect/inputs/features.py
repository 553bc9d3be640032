"""Features as users have them: arrays, sparse matrices, data frames, AnnData and torch tensors, as a `FeatureTable`."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.inputs.kinds import (
    FeatureTable,
    anndata_matrix,
    is_anndata,
    is_attributed_graph,
    is_igraph,
    is_networkx,
)
from blockselect.rows.matrices import as_array, as_float_matrix, as_pandas, is_frame, is_tensor
from blockselect.utils.arrays import Features
from blockselect.utils.extras import comes_from


def as_feature_table(features: Any, *, layer: str | None = None) -> FeatureTable:
    """Convert features to an object of NumPy, SciPy or pandas; the values are not checked.

    Parameters
    ----------
    features : array, sparse matrix, DataFrame of pandas or polars, Arrow table, AnnData, torch tensor or graph
        The attributes of the nodes of a networkx or igraph graph are encoded; an AttributedGraph has features already.
    layer : str, optional
        The layer of an AnnData to read instead of X.
    """
    if sparse.issparse(features) or isinstance(features, list | tuple):
        return FeatureTable(features)
    if isinstance(features, pd.DataFrame):
        return FeatureTable(features, features.index, features.columns)
    if is_anndata(features):
        return FeatureTable(anndata_matrix(features, layer), list(features.obs_names), list(features.var_names))
    if is_frame(features):
        frame = as_pandas(features, "features")
        return FeatureTable(frame, None, frame.columns)
    if is_tensor(features):
        return FeatureTable(as_array(features))
    if is_networkx(features) or is_igraph(features):
        from blockselect.inputs.attributes import encode_attributes  # here, because it builds on this module

        return encode_attributes(features)
    if is_attributed_graph(features):
        return FeatureTable(features.features, features.node_ids, features.feature_names, features.encoding)
    if comes_from(features, "networkx", "igraph", "torch_geometric"):
        raise ValueError(
            f"features is of type {type(features).__name__}, a graph; pass the features first and the graph by name: "
            "fit(features, adjacency=graph)."
        )
    if np.ndim(features if hasattr(features, "ndim") else np.asarray(features)) == 0:
        raise ValueError(
            f"features is of type {type(features).__name__}, which is not a matrix; pass an array, a sparse matrix or "
            f"a DataFrame with one row per node{_way_to_a_matrix(features)}."
        )
    return FeatureTable(features)


def _way_to_a_matrix(features: Any) -> str:
    if isinstance(features, str | PathLike):
        return ", from a file with blockselect.inputs.read_features(path).matrix"
    if hasattr(features, "features") and hasattr(features, "adjacency"):
        return ": fit(graph.features, adjacency=graph.adjacency)"
    return ", from a dict with pandas.DataFrame(features)" if isinstance(features, Mapping) else ""


def feature_matrix(features: Any) -> Features:
    """Features of any kind as a matrix; arrays and CSR matrices of numbers are returned as they are."""
    is_plain = isinstance(features, np.ndarray) and not np.ma.isMaskedArray(features)
    is_csr = sparse.issparse(features) and features.format == "csr"
    if (is_plain or is_csr) and features.ndim == 2 and features.dtype.kind in "fiub":
        return features
    return as_float_matrix(as_feature_table(features).matrix, "features")
