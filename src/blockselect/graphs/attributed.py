"""AttributedGraph: a network and the features of its nodes, checked once, here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import BoolArray, Features, IntArray, ObjectArray, Sparse
from blockselect.errors import ParameterError
from blockselect.graphs.adjacency import as_square_csr, obsp_graph, without_direction
from blockselect.graphs.checks import check_features, check_weights
from blockselect.graphs.chunks import RowChunks
from blockselect.graphs.features import as_feature_table, as_float_matrix, is_anndata
from blockselect.graphs.neighbours import nearest_neighbour_graph
from blockselect.graphs.node_labels import check_classes, check_names

_GRAPH_ATTRIBUTES = (  # networkx and dgl, igraph, PyTorch Geometric, AnnData, AttributedGraph
    "edges",
    "es",
    "edge_index",
    "obsp",
    "adjacency",
)
_EDGE_COLUMNS = {"source", "target"}


@dataclass(frozen=True, slots=True, eq=False)
class AttributedGraph:
    """An undirected network whose nodes carry features.

    Make one with :func:`check_attributed_graph`, which checks and cleans what it is given.
    """

    adjacency: Sparse  # (n, n), symmetric, non-negative; a self-loop stands once, on the diagonal
    features: Features  # (n, m), dense, CSR or RowChunks; non-negative unless `non_negative=False` was passed
    node_ids: ObjectArray | None = None  # (n,)
    feature_names: ObjectArray | None = None  # (m,)
    classes: IntArray | None = None  # (n,) known classes, for evaluation alone: no selector reads them

    @property
    def n_nodes(self) -> int:
        return int(self.adjacency.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.features.shape[1])

    @property
    def n_self_loops(self) -> int:
        return int(np.count_nonzero(self.adjacency.diagonal()))

    @property
    def n_links(self) -> int:
        """Links without direction, self-loops included."""
        return (int(self.adjacency.nnz) + self.n_self_loops) // 2

    @property
    def n_isolated(self) -> int:
        """Nodes without any link; a self-loop is one."""
        return int(np.count_nonzero(np.diff(self.adjacency.indptr) == 0))

    @property
    def is_linked(self) -> BoolArray:
        """Which nodes have a link to another one; a self-loop is none: (n,)."""
        return np.asarray(np.diff(self.adjacency.indptr) > (self.adjacency.diagonal() != 0))

    @property
    def has_features(self) -> BoolArray:
        """Which nodes have any feature, in memory: (n,)."""
        return np.asarray(np.asarray((self.features != 0).sum(axis=1)).ravel() > 0)

    def only(self, nodes: BoolArray) -> AttributedGraph:
        """The graph of some of its nodes; itself where these are all."""
        if nodes.all():
            return self
        return replace(
            self,
            adjacency=self.adjacency[nodes][:, nodes],
            features=self.features[nodes],
            node_ids=None if self.node_ids is None else self.node_ids[nodes],
            classes=None if self.classes is None else self.classes[nodes],
        )


def check_attributed_graph(
    features: Any,
    adjacency: Any,
    *,
    node_ids: Iterable[Any] | None = None,
    feature_names: Iterable[Any] | None = None,
    classes: Iterable[int] | None = None,
    n_neighbors: int | None = None,
    non_negative: bool = True,
    dtype: Any = np.float64,
) -> AttributedGraph:
    """Check a network and its features, and bring them into the one form used inside.

    Parameters
    ----------
    features : array, sparse matrix, DataFrame of pandas or polars, Arrow table, AnnData, or RowChunks, of shape (n, m)
        Finite and non-negative; float32 stays, any other type of number becomes float64. The index and columns of a
        DataFrame, or those of an AnnData, name the nodes and features. Row chunks stay where they are.
    adjacency : graph or None
        Finite, non-negative link weights; the elementwise maximum of both directions is used. Whatever
        :func:`blockselect.as_adjacency` reads: a square matrix, edges, a graph of networkx, igraph or PyTorch
        Geometric; nodes are found by their ids where both have them. Beside an AnnData also the key of a graph in its
        `obsp`. A weight of 0 is no link.
    node_ids, feature_names : iterable, optional
        Names, without duplicates. An edge table names nodes by these ids; without ids, by row numbers.
    classes : iterable of int, optional
        Known classes of the nodes, kept for evaluation alone.
    n_neighbors : int, optional
        Where `adjacency` is None, link each node with this many of its nearest by the features; without
        it a missing adjacency is an error.
    non_negative : bool
        Refuse negative features, as the block model method must.
    dtype : dtype
        Float type of the computation to come: values must be small enough for it.

    Returns
    -------
    AttributedGraph
        Arrays of its own: the caller's are never changed.

    Raises
    ------
    ValueError
        Names what is wrong, where, and what to do.

    Examples
    --------
    >>> import pandas as pd
    >>> words = pd.DataFrame({"graph": [1, 2, 0], "gene": [0, 1, 3]}, index=["ann", "bob", "cleo"])
    >>> graph = check_attributed_graph(words, pd.DataFrame({"source": ["ann"], "target": ["bob"]}))
    >>> graph.n_nodes, graph.n_features, graph.n_links, graph.n_isolated
    (3, 2, 1, 1)
    """
    _check_float(dtype)
    if isinstance(adjacency, str) and is_anndata(features):
        adjacency = obsp_graph(features, adjacency)
    if isinstance(features, RowChunks):
        node_ids = features.node_ids if node_ids is None else node_ids
    elif not sparse.issparse(features):
        table = as_feature_table(features)
        features = table.matrix
        node_ids = table.node_ids if node_ids is None else node_ids
        feature_names = table.feature_names if feature_names is None else feature_names
    matrix = features if isinstance(features, RowChunks) else as_float_matrix(features, "features")
    n_nodes, n_features = matrix.shape
    if n_nodes < 2:
        raise ValueError(f"features has {n_nodes} row(s); a network needs at least two nodes: pass one row a node.")
    ids = check_names(node_ids, n_nodes, "node id", "row")
    names = check_names(feature_names, n_features, "feature name", "column")
    if isinstance(matrix, RowChunks):
        matrix.check(np.dtype(dtype))
    else:
        check_features(matrix, ids, names, np.dtype(dtype), non_negative=non_negative)
    if adjacency is None and n_neighbors is not None:
        if isinstance(matrix, RowChunks):
            raise ValueError("a graph of nearest neighbours needs the features in memory; pass an adjacency.")
        adjacency = nearest_neighbour_graph(matrix, n_neighbors)
    return AttributedGraph(
        adjacency=check_adjacency(adjacency, n_nodes, node_ids=ids, dtype=dtype),
        features=matrix,
        node_ids=ids,
        feature_names=names,
        classes=check_classes(classes, n_nodes, ids),
    )


def _check_float(dtype: Any) -> None:
    try:
        is_float = np.dtype(dtype).kind == "f"
    except TypeError:
        is_float = False
    if not is_float:
        raise ParameterError("dtype", f"is {dtype!r}; expected a float type, such as numpy.float64.")


def check_adjacency(
    adjacency: Any,
    n_nodes: int | None = None,
    *,
    node_ids: ObjectArray | None = None,
    dtype: Any = np.float64,
    own_order: bool = False,
) -> Sparse:
    """The checks of the network alone: CSR, symmetric, weights finite and ≥ 0, at least one link.

    Where `n_nodes` is None the graph itself must say how many nodes it has, which a table of edges does not. Without
    ids, one whose nodes have names is refused unless `own_order` leaves it as it is.
    """
    weights = as_square_csr(adjacency, n_nodes, node_ids, own_order=own_order)
    check_weights(weights, node_ids, np.dtype(dtype))
    return without_direction(weights)


def check_same_order(node_ids: Iterable[Any] | None, graph: Any, adjacency: Sparse, *, what: str, fix: str) -> None:
    """Refuse rows that name the nodes in another order than the graph does, which was read in an order of its own.

    Parameters
    ----------
    node_ids : iterable or None
        Names of the rows; without them a graph whose nodes have names is refused.
    graph : any
        As it came in.
    adjacency : CSR of shape (n, n)
        The same, read by :func:`check_adjacency` in its own order.
    what, fix : str
        What has the rows, and how to put them in order, as errors call it.
    """
    if sparse.issparse(graph) or isinstance(graph, np.ndarray):
        return
    n_nodes = adjacency.shape[0]
    in_their_order = check_adjacency(graph, n_nodes, node_ids=check_names(node_ids, n_nodes, "node id", "row"))
    if (in_their_order != adjacency).nnz:
        raise ValueError(f"{what} and the graph name the nodes in another order; put them in that of the graph: {fix}.")


def check_feature_matrix(
    features: Any,
    *,
    feature_names: Iterable[Any] | None = None,
    non_negative: bool = True,
    dtype: Any = np.float64,
) -> Features:
    """The checks of the features alone, for methods that need no network. The caller's array is never changed."""
    matrix = as_float_matrix(features, "features")
    names = check_names(feature_names, matrix.shape[1], "feature name", "column")
    check_features(matrix, None, names, np.dtype(dtype), non_negative=non_negative)
    return matrix


def refuse_graph_as_target(y: Any, n_nodes: int, *, name: str = "adjacency") -> None:
    """Refuse whatever looks like a graph, and whatever has not one value for each node.

    Parameters
    ----------
    y : any
        What `fit` was given as its second argument.
    n_nodes : int
        Rows of the features.
    name : str
        The parameter that takes the graph.
    """
    if hasattr(y, "__array__") and not hasattr(y, "__len__"):
        y = np.asarray(y)
    if _looks_like_a_graph(y, n_nodes):
        raise ValueError(f"y looks like a graph; pass it by name: fit(X, {name}=graph).")
    n_values = _n_values(y)
    if n_values != n_nodes:
        came = f"of type {type(y).__name__}" + (f" with {n_values} values" if n_values is not None else "")
        raise ValueError(
            f"y is {came}, but X has {n_nodes} rows; y is ignored and may be left out, and a graph is passed by name: "
            f"fit(X, {name}=graph)."
        )


def _looks_like_a_graph(y: Any, n_nodes: int) -> bool:
    if sparse.issparse(y) or getattr(y, "is_sparse", False) or any(hasattr(y, name) for name in _GRAPH_ATTRIBUTES):
        return True
    if isinstance(y, Mapping | AbstractSet | PathLike):
        return True
    columns = getattr(y, "columns", None)
    if columns is not None and {str(column).strip().lower() for column in columns} >= _EDGE_COLUMNS:
        return True
    if _n_values(y) is None:
        return False
    shape = y.shape if hasattr(y, "shape") else _shape_of_list(y)
    if len(shape) != 2 or shape[1] < 2:
        return False
    # Two values of each node may be targets, unless they are pairs of nodes.
    return shape == (n_nodes, n_nodes) or shape[0] != n_nodes or _are_pairs_of_nodes(y, n_nodes)


def _n_values(y: Any) -> int | None:
    """How many there are; None of what is no list or array, such as a number or text."""
    try:
        return None if isinstance(y, str | bytes) else len(y)
    except TypeError:
        return None


def _shape_of_list(y: Any) -> tuple[int, ...]:
    rows = list(y)
    if rows and all(isinstance(row, list | tuple | np.ndarray | dict) for row in rows):
        return len(rows), max(len(row) for row in rows)
    return (len(rows),)


def _are_pairs_of_nodes(y: Any, n_nodes: int) -> bool:
    array = np.asarray(y)
    if array.ndim != 2 or array.shape[1] != 2:
        return False
    if array.dtype.kind in "iu":
        return bool(array.min() >= 0 and n_nodes // 2 <= array.max() < n_nodes)  # classes are fewer
    return array.dtype.kind in "OUST"


def row_ids(X: Any) -> Any:
    """The ids that the rows of X have."""
    if sparse.issparse(X) or isinstance(X, np.ndarray):
        return None
    if isinstance(X, RowChunks):
        return X.node_ids
    if isinstance(X, pd.DataFrame):
        return X.index
    return list(X.obs_names) if is_anndata(X) else None
