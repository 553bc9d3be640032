"""Features in any form (array, table, AnnData, node attributes), checked and converted to a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
from blockselect.inputs.node_attributes import encode_attributes
from blockselect.rows.checks import check_features
from blockselect.rows.chunks import RowChunks
from blockselect.rows.matrices import as_array, as_float_matrix, as_pandas, is_frame, is_tensor
from blockselect.rows.sums import in_memory
from blockselect.utils.arrays import Features, ObjectArray
from blockselect.utils.extras import comes_from
from blockselect.utils.parameters import check_names


def as_feature_table(features: Any) -> FeatureTable:
    """Convert features in any form to a NumPy, SciPy or pandas object; the values are not checked.

    Parameters
    ----------
    features : array, sparse matrix, pandas or polars DataFrame, Arrow table, AnnData, torch tensor or graph
        The node attributes of a networkx or igraph graph are encoded; an AttributedGraph contains features.
    """
    if sparse.issparse(features) or isinstance(features, list | tuple):
        return FeatureTable(features)
    if isinstance(features, pd.DataFrame):
        return FeatureTable(features, features.index, features.columns)
    if is_anndata(features):
        return FeatureTable(anndata_matrix(features), list(features.obs_names), list(features.var_names))
    if is_frame(features):
        frame = as_pandas(features, "features")
        return FeatureTable(frame, None, frame.columns)
    if is_tensor(features):
        return FeatureTable(as_array(features))
    if is_networkx(features) or is_igraph(features):
        return encode_attributes(features)
    if is_attributed_graph(features):
        return FeatureTable(features.features, features.node_ids, features.feature_names, features.encoding)
    kind = type(features).__name__
    if comes_from(features, "networkx", "igraph", "torch_geometric"):
        raise ValueError(
            f"features is of type {kind}, a graph; pass the features first and the graph by name: "
            "fit(features, adjacency=graph)."
        )
    if np.ndim(features if hasattr(features, "ndim") else np.asarray(features)) == 0:
        way = ""
        if isinstance(features, str | PathLike):
            way = ", from a file with blockselect.inputs.read_features(path).matrix"
        elif hasattr(features, "features") and hasattr(features, "adjacency"):
            way = ": fit(graph.features, adjacency=graph.adjacency)"
        elif isinstance(features, Mapping):
            way = ", from a dict with pandas.DataFrame(features)"
        raise ValueError(
            f"features is of type {kind}, which is not a matrix; pass an array, a sparse matrix or a DataFrame with "
            f"one row per node{way}."
        )
    return FeatureTable(features)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTable(FeatureTable):
    """Features that were checked and copied."""

    node_ids: ObjectArray | None = None  # (n,)
    feature_names: ObjectArray | None = None  # (m,)


def check_feature_table(
    features: Any,
    *,
    node_ids: Iterable[Any] | None = None,
    feature_names: Iterable[Any] | None = None,
    non_negative: bool = True,
    dtype: Any = np.float64,
) -> CheckedTable:
    """Check and convert features, as :func:`blockselect.check_attributed_graph` does."""
    if isinstance(features, CheckedTable):
        return features
    matrix: Features = features
    if isinstance(features, RowChunks):
        table = FeatureTable(features, features.node_ids, features.feature_names)
    else:
        table = features if isinstance(features, FeatureTable) else as_feature_table(features)
        matrix = as_float_matrix(table.matrix, "features", min_rows=2, min_columns=1)
    ids = check_names(table.node_ids if node_ids is None else node_ids, matrix.shape[0], "node id", "row")
    names = check_names(
        table.feature_names if feature_names is None else feature_names, matrix.shape[1], "feature name", "column"
    )
    if not in_memory(matrix):
        matrix.check(np.dtype(dtype))
    else:
        check_features(matrix, ids, names, np.dtype(dtype), non_negative=non_negative)
    return CheckedTable(matrix, ids, names, table.encoding)


def refuse_graph_as_target(y: Any, n_nodes: int, *, name: str = "adjacency") -> None:
    """Raise an error if `y` does not have one target per row: it is probably a graph that was passed by position.

    Parameters
    ----------
    y : any
        The second argument of `fit`.
    n_nodes : int
        Number of rows of the features.
    name : str
        The parameter of `fit` that takes the graph.
    """
    if isinstance(y, list | tuple) or (hasattr(y, "__array__") and not hasattr(y, "shape")):
        y = np.array(y, dtype=object)
    shape = () if sparse.issparse(y) or is_anndata(y) else tuple(getattr(y, "shape", ()))
    if shape[:1] != (n_nodes,) or len(shape) > 2 or shape == (n_nodes, n_nodes):
        raise ValueError(
            f"y is of type {type(y).__name__}{f' and shape {shape}' if shape else ''}, which is not one target per row "
            f"of X ({n_nodes} rows). If it is a graph, pass it by name: fit(X, {name}=graph). y itself is ignored and "
            "may be left out."
        )


def feature_matrix(features: Any) -> Features:
    """Convert features in any form to a matrix; numeric arrays and CSR matrices are returned unchanged."""
    is_plain = isinstance(features, np.ndarray) and not np.ma.isMaskedArray(features)
    is_csr = sparse.issparse(features) and features.format == "csr"
    if (is_plain or is_csr) and features.ndim == 2 and features.dtype.kind in "fiub":
        return features
    return as_float_matrix(as_feature_table(features).matrix, "features")
