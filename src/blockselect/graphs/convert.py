"""Matrices and edge tables of many kinds into a float matrix or a CSR adjacency."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, ObjectArray, Sparse
from blockselect.graphs.cells import check_cells, check_kind
from blockselect.graphs.edge_tables import edge_matrix


def as_float_matrix(matrix: Any, name: str) -> Features:
    """A float matrix of its own, dense or CSR: float32 stays, other numbers become float64."""
    if isinstance(matrix, pd.DataFrame):
        check_cells(matrix, name)
        matrix = _frame_values(matrix)
    if sparse.issparse(matrix):
        return _canonical_csr(matrix, name)
    try:
        array = np.asanyarray(matrix)  # keeps a mask, which is refused
    except ValueError as error:
        raise ValueError(f"{name} is no matrix ({error}); give every row as many entries.") from error
    if array.ndim != 2:
        raise ValueError(
            f"{name} is of type {type(matrix).__name__} and has {array.ndim} dimension(s); expected a matrix "
            "with one row a node."
        )
    check_cells(array, name)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which a later check names
        return np.array(array, dtype=_float_type(array.dtype), order="C")


def as_dense(matrix: Any) -> FloatArray:
    """A NumPy array of a dense or sparse matrix."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def as_square_csr(
    adjacency: Any, n_nodes: int | None, node_ids: ObjectArray | None = None, *, name: str = "adjacency"
) -> Sparse:
    """The (n, n) weights of a matrix or an edge table in float64, direction still in them.

    Where `n_nodes` is None, a matrix says it itself; a table of edges cannot: nodes without links are not in it.
    """
    if adjacency is None:
        raise ValueError(
            f"{name} is missing (None); pass the graph of these rows, or build one with "
            "nearest_neighbour_graph(features)."
        )
    if isinstance(adjacency, pd.DataFrame):
        if not _is_square_frame(adjacency):
            if n_nodes is None:
                raise ValueError(
                    f"{name} is a table of {len(adjacency)} edges, which does not say which nodes there are; pass the "
                    "square matrix of the links."
                )
            return adjacency_from_edges(adjacency, n_nodes, node_ids)
        adjacency = _align_square_frame(adjacency, node_ids)
    weights = sparse.csr_array(as_float_matrix(adjacency, name)).astype(np.float64, copy=False)
    rows, columns = weights.shape
    if rows != columns:
        hint = ""
        if rows == n_nodes:
            hint = (
                " Cross-validation (GridSearchCV, cross_val_score) slices rows only: it cannot split a graph."
                " Fit once on the whole graph, or compare settings by loss (history_) over"
                " sklearn.model_selection.ParameterGrid."
            )
        raise ValueError(
            f"{name} has shape {weights.shape}; expected a square matrix, one row and column a node.{hint}"
        )
    if n_nodes is not None and rows != n_nodes:
        raise ValueError(
            f"{name} has {rows} nodes but features has {n_nodes} rows; pass the graph of exactly these rows."
        )
    return weights


def without_direction(weights: Sparse) -> Sparse:
    """Direction is dropped, as in the paper's citation networks: a link either way is a link."""
    symmetric = sparse.csr_array(weights.maximum(weights.T))
    symmetric.sort_indices()
    return symmetric


def adjacency_from_edges(
    edges: pd.DataFrame, n_nodes: int, node_ids: ObjectArray | None = None, *, weight: Any = None
) -> Sparse:
    """The weights of a table of edges: the same edge twice counts once without weights and adds up with them."""
    return _canonical_csr(edge_matrix(edges, n_nodes, node_ids, weight=weight), "adjacency")


def _is_square_frame(frame: pd.DataFrame) -> bool:
    return frame.shape[0] == frame.shape[1] and set(frame.index) == set(frame.columns)


def _align_square_frame(frame: pd.DataFrame, node_ids: ObjectArray | None) -> pd.DataFrame:
    if not frame.index.is_unique:
        twice = frame.index[frame.index.duplicated()].unique().tolist()
        raise ValueError(f"adjacency has duplicate node ids, for example {twice[:3]}; make each unique.")
    known = frame.index if node_ids is None else pd.Index(node_ids, tupleize_cols=False)
    alone = known.symmetric_difference(frame.index, sort=False).tolist()
    if alone:
        raise ValueError(
            f"{len(alone)} node(s) are in only one of features and adjacency, for example {alone[:3]}; make "
            "both name the same nodes, or pass the adjacency without names (to_numpy())."
        )
    return frame.iloc[frame.index.get_indexer(known), frame.columns.get_indexer(known)]


def _frame_values(frame: pd.DataFrame) -> Any:
    kinds = list(frame.dtypes)
    if kinds and all(isinstance(kind, pd.SparseDtype) and kind.fill_value == 0 for kind in kinds):
        accessor: Any = frame.sparse
        return accessor.to_coo()
    if all(map(pd.api.types.is_numeric_dtype, kinds)) and not all(isinstance(k, np.dtype) for k in kinds):
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)  # nullable: else pd.NA among objects
    return frame.to_numpy()


def _canonical_csr(matrix: Any, name: str) -> Sparse:
    """CSR of its own: sorted, each entry once, no stored zero, 32-bit indices where they suffice."""
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimension(s); expected a matrix with one row a node.")
    if matrix.dtype.kind not in "biuf":
        check_kind(matrix.dtype, name)
    if matrix.format in ("csr", "csc", "bsr"):
        # A new container around the same arrays, as the check may trim the one it is asked of.
        matrix = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name} is a broken sparse matrix ({error}); build it again.") from error
    # As float before anything is added up: small integers would overflow.
    csr = sparse.csr_array(matrix.astype(_float_type(matrix.dtype)))
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if matrix.dtype == bool:
        csr.data[:] = 1.0
    index = np.int32 if max(csr.nnz, *csr.shape) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array(
        (csr.data, csr.indices.astype(index, copy=False), csr.indptr.astype(index, copy=False)),
        shape=csr.shape,
    )


def _float_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype == np.float32 else np.float64


def membership_matrix(labels: IntArray, dtype: Any = np.float64) -> Sparse:
    """Labels 0 … k − 1 as a one-hot matrix (n, k) (paper: F)."""
    n = len(labels)
    return sparse.csr_array((np.ones(n, dtype=dtype), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))
