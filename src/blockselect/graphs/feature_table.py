"""Features as people have them: arrays, pandas, polars, Arrow, AnnData, torch, with the names they bring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import Features
from blockselect.extras import comes_from
from blockselect.graphs.convert import as_float_matrix
from blockselect.graphs.foreign_frames import anndata_matrix, as_array, as_pandas, is_anndata, is_frame, is_tensor


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features as they came in, still unchecked."""

    matrix: Features  # (n, m): array, sparse matrix, list or DataFrame of pandas
    node_ids: Iterable[Any] | None = None  # (n,)
    feature_names: Iterable[Any] | None = None  # (m,)


def as_feature_table(features: Any, *, layer: str | None = None) -> FeatureTable:
    """Bring features into a form that NumPy, SciPy or pandas hold.

    Parameters
    ----------
    features : array, sparse matrix, DataFrame of pandas or polars, Arrow table, AnnData or torch tensor
        A graph in its place is refused.
    layer : str, optional
        Of an AnnData, instead of X.
    """
    if isinstance(features, pd.DataFrame):
        return FeatureTable(features, features.index, features.columns)
    if is_anndata(features):
        return FeatureTable(anndata_matrix(features, layer), list(features.obs_names), list(features.var_names))
    if is_frame(features):
        frame = as_pandas(features, "features")
        return FeatureTable(frame, None, frame.columns)
    if is_tensor(features):
        return FeatureTable(as_array(features))
    if comes_from(features, "networkx", "igraph", "torch_geometric"):
        raise ValueError(
            f"features is of type {type(features).__name__}, a graph; pass the features first and the graph by name: "
            "fit(features, adjacency=graph)."
        )
    if np.ndim(_plain(features)) == 0:
        raise ValueError(
            f"features is of type {type(features).__name__}, which is no matrix; pass one row a node: an array, a "
            f"sparse matrix or a DataFrame{_way_to_a_matrix(features)}."
        )
    return FeatureTable(features)


def feature_matrix(features: Any) -> Features:
    """Features of any kind that selectors take; arrays and CSR matrices of numbers stay as they are."""
    is_plain = isinstance(features, np.ndarray) and not np.ma.isMaskedArray(features)
    is_csr = sparse.issparse(features) and features.format == "csr"
    if (is_plain or is_csr) and features.ndim == 2 and features.dtype.kind in "fiub":
        return features
    return as_float_matrix(features if is_csr else as_feature_table(features).matrix, "features")


def _plain(features: Any) -> Any:
    """What has dimensions; a ragged list has some, which a later check names."""
    if isinstance(features, list | tuple):
        return [0]
    return features if hasattr(features, "ndim") else np.asarray(features)


def _way_to_a_matrix(features: Any) -> str:
    if isinstance(features, str | PathLike):
        return ", of a file blockselect.graphs.read_features(path).matrix"
    if hasattr(features, "features") and hasattr(features, "adjacency"):
        return ": fit(graph.features, adjacency=graph.adjacency)"
    return ", of a dict pandas.DataFrame(features)" if isinstance(features, Mapping) else ""
