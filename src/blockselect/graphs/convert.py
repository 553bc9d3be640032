"""as_adjacency: graphs of many kinds into a CSR adjacency; and matrices of many kinds into a float matrix."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, ObjectArray, Sparse
from blockselect.errors import ParameterError
from blockselect.graphs.cells import check_cells, check_kind
from blockselect.graphs.checks import check_names, refuse_unordered
from blockselect.graphs.edge_tables import edge_matrix
from blockselect.graphs.foreign_graphs import ForeignGraph, read_foreign
from blockselect.scalars import check_whole

FEW_NON_ZERO = 0.05  # share of non-zero features below which sparse products are quicker than dense ones


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


def as_plain_csr(features: Features) -> Sparse:
    """A copy in double precision, columns in order, no zeros: the same for equal features of any storage or type."""
    rows = sparse.csr_array(features, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def by_density(rows: Sparse) -> Features:
    """CSR where few entries are non-zero, else dense: whichever is quicker, and the same for equal features."""
    return rows if rows.nnz < FEW_NON_ZERO * rows.shape[0] * rows.shape[1] else rows.toarray()


def as_adjacency(graph: Any, *, nodes: int | Iterable[Any] | None = None, weight: Any = None) -> Sparse:
    """The links of a graph as a sparse matrix, one row and column a node, direction still in them.

    Selectors take all of these as `adjacency`, and put them in the order of the features' ids themselves. Call this
    function to choose the weight, or to say which row is which node.

    Parameters
    ----------
    graph : sparse matrix, array, DataFrame, edge list, or graph of another library
        A square matrix (SciPy, NumPy, torch, or a DataFrame whose index and columns are the same nodes); edges (a table
        of pandas, polars or Arrow with the columns source, target and perhaps weight, a list of pairs, an array of
        shape (E, 2) or (2, E)); a graph of networkx or igraph, `Data` of PyTorch Geometric, or an AnnData, whose
        ``obsp["connectivities"]`` is read.
    nodes : int, iterable of ids, or None
        The nodes in the order of the rows: their ids, or how many there are where edges number them. None: those of the
        graph, in its own order; a list of edges does not say, and needs them.
    weight : column or attribute, False or None, default=None
        What the weight of a link is called. None: weight, if there is one; a column that holds numbers and is called
        otherwise is refused, and an edge of networkx that lacks the attribute has weight 1, as there. False: links
        count alike, those of a matrix too. Parallel edges add up with weights, as those of a multigraph always do;
        without weights the same row twice is one link.

    Returns
    -------
    csr_array of shape (n, n)
        Weights in float64. A selector uses the larger of both directions.

    Examples
    --------
    >>> as_adjacency([("ann", "bob"), ("bob", "cleo")], nodes=["ann", "bob", "cleo"]).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    if nodes is None:
        return as_square_csr(graph, None, weight=weight)
    if isinstance(nodes, int | Real):
        return as_square_csr(graph, check_whole("nodes", nodes, 1), weight=weight)
    if isinstance(nodes, pd.DataFrame):
        raise ParameterError("nodes", "is a DataFrame; pass the ids of its rows: nodes=table.index.")
    refuse_unordered(nodes, "nodes")
    listed = list(nodes)
    ids = check_names(listed, len(listed), "node id", "row")
    return as_square_csr(graph, len(listed), ids, weight=weight)


def as_square_csr(
    adjacency: Any,
    n_nodes: int | None,
    node_ids: ObjectArray | None = None,
    *,
    name: str = "adjacency",
    weight: Any = None,
    own_order: bool = False,
) -> Sparse:
    """The (n, n) weights of any graph that :func:`as_adjacency` reads, in the order of the features' rows.

    Where `n_nodes` is None, the graph says it itself; a table of edges cannot: nodes without links are not in it.
    A graph whose nodes have names beside rows without ids is refused, unless it may stay in its `own_order`.
    """
    if adjacency is None:
        raise ValueError(
            f"{name} is missing (None); pass the graph of these rows, or build one with "
            "nearest_neighbour_graph(features)."
        )
    if not sparse.issparse(adjacency) and not isinstance(adjacency, pd.DataFrame):
        adjacency = read_foreign(adjacency, n_nodes, name, weight)
    fix = "pass the adjacency without names (to_numpy())"
    foreign = isinstance(adjacency, ForeignGraph)  # its weights were chosen when it was read
    if isinstance(adjacency, pd.DataFrame):
        if not _is_square_frame(adjacency):
            if n_nodes is None:
                raise ValueError(
                    f"{name} is a table of {len(adjacency)} edges, which does not say which nodes there are; "
                    "name them: as_adjacency(edges, nodes=ids)."
                )
            return adjacency_from_edges(adjacency, n_nodes, node_ids, weight=weight)
        adjacency, names = _square_frame(adjacency)
    elif isinstance(adjacency, ForeignGraph):
        adjacency, names = adjacency.matrix, adjacency.node_ids
        fix = (
            "add those without links: graph.add_nodes_from(features.index), or choose the nodes: "
            "graph.subgraph(features.index), features.loc[list(graph)]"
        )
    else:
        names = None
    weights = sparse.csr_array(as_float_matrix(adjacency, name)).astype(np.float64, copy=False)
    if names is not None and n_nodes is not None and not (own_order and node_ids is None):
        at = _places(names, n_nodes, node_ids, name, fix)
        weights = sparse.csr_array(weights[at][:, at])
    _check_square(weights, n_nodes, name)
    if foreign and names is None:
        _refuse_numbers_for_ids(node_ids, name)
    return weights if foreign else _weighted_matrix(weights, weight)


def _weighted_matrix(weights: Sparse, weight: Any) -> Sparse:
    """The entries of a matrix are its weights: there are none to choose, but they can be left out."""
    if weight is False:
        weights.data[:] = 1.0
    elif weight is not None:
        raise ParameterError(
            "weight", f"is {weight!r}, but the entries of a matrix are its weights; leave it out, or False: all alike."
        )
    return weights


def _check_square(weights: Sparse, n_nodes: int | None, name: str) -> None:
    rows, columns = weights.shape
    if rows != columns:
        hint = " Pairs of nodes are whole numbers or names: pairs.astype(int)." if 2 in (rows, columns) else ""
        if rows == n_nodes:
            hint += (
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


def _square_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, ObjectArray]:
    """The frame with its columns in the order of its rows, and the names of both."""
    if not frame.index.is_unique:
        twice = frame.index[frame.index.duplicated()].unique().tolist()
        raise ValueError(f"adjacency has duplicate node ids, for example {twice[:3]}; make each unique.")
    return frame.iloc[:, frame.columns.get_indexer(frame.index)], frame.index.to_numpy(dtype=object)


def _places(names: ObjectArray, n_nodes: int, node_ids: ObjectArray | None, name: str, fix: str) -> NDArray[np.intp]:
    """Where the node of each row of the features stands in a graph whose nodes have names: (n,)."""
    own = pd.Index(names, tupleize_cols=False)
    if node_ids is not None:
        known = pd.Index(node_ids, tupleize_cols=False)
        _check_same_nodes(known, own, fix)
        return own.get_indexer(known)
    if own.tolist() == list(range(n_nodes)):
        return np.arange(n_nodes)
    if all(isinstance(one, Integral) for one in own.tolist()):
        _check_same_nodes(
            pd.RangeIndex(n_nodes), own, f"add those without links: graph.add_nodes_from(range({n_nodes}))"
        )
    raise ValueError(
        f"the nodes of {name} are called {own[:3].tolist()}, … but the rows of the features have no ids, so their "
        "order may differ; pass the features as a DataFrame whose index names the nodes, or say which row is "
        f"which: {name}=as_adjacency(graph, nodes=ids_of_the_rows)."
    )


def _refuse_numbers_for_ids(node_ids: ObjectArray | None, name: str) -> None:
    """A graph that only numbers its nodes speaks of rows, but a list of edges that does so speaks of ids."""
    if node_ids is None or not any(isinstance(one, Real) for one in node_ids):
        return
    if node_ids.tolist() != list(range(len(node_ids))):
        raise ValueError(
            f"the nodes of {name} are numbered 0, 1, … but the index of the features is {node_ids[:3].tolist()}, …, so "
            f"that a number may be a row or an id; pass {name}=as_adjacency(graph) where it is the row, or a list of "
            "edges, which goes by id, where it is the id."
        )


def _check_same_nodes(known: pd.Index[Any], other: pd.Index[Any], fix: str) -> None:
    alone = known.symmetric_difference(other, sort=False).tolist()
    if alone:
        raise ValueError(
            f"{len(alone)} node(s) are in only one of features and adjacency, for example {alone[:3]}; make "
            f"both name the same nodes (1 and '1' differ), or {fix}."
        )


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
