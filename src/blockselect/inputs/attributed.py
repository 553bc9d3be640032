"""AttributedGraph: a network and the features of its nodes; input is checked and converted here, and only here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.inputs.adjacency import as_adjacency, graph_of, read_in_order, without_direction
from blockselect.inputs.attributes import encode_attributes
from blockselect.inputs.features import as_feature_table
from blockselect.inputs.kinds import FeatureTable, is_anndata, is_igraph, is_networkx
from blockselect.inputs.labels import check_classes
from blockselect.inputs.neighbour_graph import nearest_neighbour_graph
from blockselect.rows.checks import check_features, check_weights
from blockselect.rows.chunks import RowChunks
from blockselect.rows.matrices import as_float_matrix
from blockselect.rows.sums import by_row, in_memory
from blockselect.utils.arrays import BoolArray, Features, IntArray, ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_names
from blockselect.utils.wording import count


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class AttributedGraph:
    """An undirected network whose nodes carry features.

    Make one with :func:`check_attributed_graph`, which checks and converts its input, or from a graph whose nodes have
    attributes with :meth:`from_networkx` or :meth:`from_igraph`. Selectors accept it: ``fit(graph)``.
    """

    adjacency: Sparse  # (n, n), symmetric, non-negative; self-loops are on the diagonal
    features: Features  # (n, m), dense, CSR or RowChunks; non-negative unless `non_negative=False` was passed
    node_ids: ObjectArray | None = None  # (n,)
    feature_names: ObjectArray | None = None  # (m,)
    classes: IntArray | None = None  # (n,) known classes, only for evaluation: no selector reads them
    encoding: pd.DataFrame | None = None  # one row per attribute: attribute, kind, n_missing, n_columns, columns
    origin: str | None = None  # the record that the graph was built from the features, such as "uns['neighbors']"

    def __repr__(self) -> str:
        parts = [count(self.n_nodes, "node"), count(self.n_links, "link"), count(self.n_features, "feature")]
        if self.classes is not None:
            n_classes = len(np.unique(self.classes))
            parts.append(f"{n_classes:,} class{'' if n_classes == 1 else 'es'}")
        return f"AttributedGraph({', '.join(parts)})"

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        attributes: Iterable[Any] | None = None,
        fill: float | None = None,
        weight: Any = None,
        non_negative: bool = True,
    ) -> AttributedGraph:
        """Read a networkx graph, with the attributes of its nodes as features.

        Numbers become one column, named after the attribute. Texts are categories, and lists or sets of texts are
        words: they become columns of zeros and ones, named "attribute=value". `encoding` records what was done. Whole
        numbers that stand for categories must be converted to text first.

        Parameters
        ----------
        graph : networkx graph
            The order and the ids of the nodes are kept. A node that lacks a category or words has zeros in their
            columns; `encoding` says how many nodes lack each attribute.
        attributes : iterable, optional
            The attributes to use; None uses all of them. Leave out labels that you want to compare the features with.
        fill : float, optional
            The value for nodes that lack a numeric attribute; by default, a missing number is an error.
        weight : attribute, False or None, default=None
            The edge attribute with the weights: see :func:`blockselect.as_adjacency`.
        non_negative : bool, default=True
            Whether negative numbers are an error, as they must be for methods based on block models.

        Returns
        -------
        AttributedGraph

        Examples
        --------
        >>> import networkx
        >>> graph = networkx.path_graph(["ann", "bob", "cleo"])
        >>> networkx.set_node_attributes(graph, {"ann": 31, "bob": 35, "cleo": 62}, "age")
        >>> networkx.set_node_attributes(graph, {"ann": ["chess"], "bob": ["chess", "go"], "cleo": []}, "plays")
        >>> read = AttributedGraph.from_networkx(graph)
        >>> read.feature_names.tolist()
        ['age', 'plays=chess', 'plays=go']
        >>> read.encoding[["attribute", "kind", "n_columns"]]
          attribute     kind  n_columns
        0       age  numbers          1
        1     plays    words          2
        """
        return _from_graph(graph, is_networkx, "networkx", attributes, fill, weight, non_negative)

    @classmethod
    def from_igraph(
        cls,
        graph: Any,
        *,
        attributes: Iterable[Any] | None = None,
        fill: float | None = None,
        weight: Any = None,
        non_negative: bool = True,
    ) -> AttributedGraph:
        """Read an igraph graph, with the attributes of its vertices as features, as :meth:`from_networkx` does.

        The attribute "name", if there is one, contains the node ids.
        """
        return _from_graph(graph, is_igraph, "igraph", attributes, fill, weight, non_negative)

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
        """Number of undirected links, including self-loops."""
        return (int(self.adjacency.nnz) + self.n_self_loops) // 2

    @property
    def n_isolated(self) -> int:
        """Number of isolated nodes; a self-loop counts as a link."""
        return int(np.count_nonzero(np.diff(self.adjacency.indptr) == 0))

    @property
    def is_linked(self) -> BoolArray:
        """Which nodes have a link to another node: (n,)."""
        return np.asarray(np.diff(self.adjacency.indptr) > (self.adjacency.diagonal() != 0))

    @property
    def has_features(self) -> BoolArray:
        """Which nodes have a non-zero feature: (n,)."""
        return np.asarray(by_row(self.features, _has_features))

    @property
    def frame(self) -> pd.DataFrame:
        """The features, which must be in memory, as a DataFrame with names; sparse features stay sparse."""
        of_sparse: Any = pd.DataFrame.sparse  # the type stubs of pandas do not know it
        make = of_sparse.from_spmatrix if sparse.issparse(self.features) else pd.DataFrame
        frame: pd.DataFrame = make(self.features, index=self.node_ids, columns=self.feature_names)
        return frame

    def only(self, nodes: BoolArray) -> AttributedGraph:
        """The subgraph of some nodes; the graph itself if these are all nodes."""
        if nodes.all():
            return self
        return replace(
            self,
            adjacency=self.adjacency[nodes][:, nodes],
            features=self.features[nodes],
            node_ids=None if self.node_ids is None else self.node_ids[nodes],
            classes=None if self.classes is None else self.classes[nodes],
        )


def _has_features(block: Features, rows: slice) -> BoolArray:
    return np.asarray(np.asarray((block != 0).sum(axis=1)).ravel() > 0)


def _from_graph(
    graph: Any,
    is_right: Callable[[Any], bool],
    library: str,
    attributes: Iterable[Any] | None,
    fill: float | None,
    weight: Any,
    non_negative: bool,
) -> AttributedGraph:
    if not is_right(graph):
        raise ParameterError("graph", f"is of type {type(graph).__name__}; expected a {library} graph.")
    table = encode_attributes(graph, attributes, fill=fill)
    links = as_adjacency(graph, nodes=table.node_ids, weight=weight)
    return check_attributed_graph(table, links, non_negative=non_negative)


def check_attributed_graph(
    features: Any,
    adjacency: Any = None,
    *,
    node_ids: Iterable[Any] | None = None,
    feature_names: Iterable[Any] | None = None,
    classes: Iterable[int] | None = None,
    n_neighbors: int | None = None,
    non_negative: bool = True,
    dtype: Any = np.float64,
) -> AttributedGraph:
    """Check a network and its features, and convert them to the package's internal form.

    Parameters
    ----------
    features : array, sparse matrix, DataFrame of pandas or polars, Arrow table, AnnData, or RowChunks, of shape (n, m)
        Finite and non-negative; float32 is kept, all other types become float64. The index and columns of a DataFrame,
        or the names in an AnnData, name the nodes and features. Row chunks are not copied. The attributes of the nodes
        of a networkx or igraph graph are encoded, as :meth:`AttributedGraph.from_networkx` does.
    adjacency : graph or None
        Finite, non-negative link weights; the larger weight of the two directions is used. Any form that
        :func:`blockselect.as_adjacency` reads: a square matrix, edges, a networkx, igraph or PyTorch Geometric
        graph; nodes are matched by their ids if both have them. For an AnnData, also the key of a graph in its
        `obsp`. A weight of 0 is not a link. May be omitted if `features` is a graph itself.
    node_ids, feature_names : iterable, optional
        Names without duplicates. An edge table refers to nodes by these ids, or by row numbers if there are no ids.
    classes : iterable of int, optional
        Known classes of the nodes, only for evaluation.
    n_neighbors : int, optional
        If `adjacency` is None, each node is linked to this many nearest neighbours in feature space; without it, a
        missing adjacency is an error.
    non_negative : bool
        Whether negative features are an error, as they must be for methods based on block models.
    dtype : dtype
        Float type of the computation; values must be in its range.

    Returns
    -------
    AttributedGraph
        It shares no arrays with the input, which is never changed.

    Raises
    ------
    ValueError
        The message says what is wrong, where it is, and what to do.

    Examples
    --------
    >>> words = pd.DataFrame({"graph": [1, 2, 0], "gene": [0, 1, 3]}, index=["ann", "bob", "cleo"])
    >>> graph = check_attributed_graph(words, pd.DataFrame({"source": ["ann"], "target": ["bob"]}))
    >>> graph.n_nodes, graph.n_features, graph.n_links, graph.n_isolated
    (3, 2, 1, 1)
    """
    adjacency = graph_of(features, adjacency)
    table = check_feature_table(
        features, node_ids=node_ids, feature_names=feature_names, non_negative=non_negative, dtype=dtype
    )
    if adjacency is None and n_neighbors is not None:
        if not in_memory(table.matrix):
            raise ValueError("a nearest-neighbour graph needs the features in memory; pass an adjacency.")
        adjacency = nearest_neighbour_graph(table.matrix, n_neighbors)
    n_nodes = table.matrix.shape[0]
    return AttributedGraph(
        adjacency=check_adjacency(adjacency, n_nodes, node_ids=table.node_ids, dtype=dtype),
        features=table.matrix,
        node_ids=table.node_ids,
        feature_names=table.feature_names,
        classes=check_classes(classes, n_nodes, table.node_ids),
        encoding=table.encoding,
        origin=getattr(adjacency, "origin", None),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTable(FeatureTable):
    """Features that passed the checks, in arrays of their own."""

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
    """Check and convert only the features, as :func:`check_attributed_graph` does."""
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


def check_adjacency(
    adjacency: Any,
    n_nodes: int | None = None,
    *,
    node_ids: ObjectArray | None = None,
    dtype: Any = np.float64,
    own_order: bool = False,
) -> Sparse:
    """Check and convert only the network: symmetric CSR with finite weights ≥ 0 and at least one link.

    If `n_nodes` is None, the graph itself must say how many nodes it has, which a table of edges does not. If there are
    no ids, a graph whose nodes have names is rejected, unless `own_order` keeps the order of the graph.
    """
    weights = read_in_order(adjacency, n_nodes, node_ids, own_order=own_order).matrix
    check_weights(weights, node_ids, np.dtype(dtype))
    return without_direction(weights)


def check_same_order(node_ids: Iterable[Any] | None, graph: Any, adjacency: Sparse, *, what: str, fix: str) -> None:
    """Raise an error if the rows and a graph that was read in its own order name the nodes in different orders.

    Parameters
    ----------
    node_ids : iterable or None
        Names of the rows; without them, a graph whose nodes have names is rejected.
    graph : any
        The graph as the user passed it.
    adjacency : CSR of shape (n, n)
        The same graph, read by :func:`check_adjacency` in its own order.
    what, fix : str
        For the error message: whose rows these are, and how to reorder them.
    """
    if sparse.issparse(graph) or isinstance(graph, np.ndarray):
        return
    n_nodes = adjacency.shape[0]
    in_their_order = check_adjacency(graph, n_nodes, node_ids=check_names(node_ids, n_nodes, "node id", "row"))
    if (in_their_order != adjacency).nnz:
        raise ValueError(
            f"{what} and the graph name the nodes in different orders; use the order of the graph for both: {fix}."
        )


def refuse_graph_as_target(y: Any, n_nodes: int, *, name: str = "adjacency") -> None:
    """Raise an error if `y` cannot be a target of the rows: a graph was probably passed by position, and y is ignored.

    Parameters
    ----------
    y : any
        The second argument of `fit`.
    n_nodes : int
        Rows of the features.
    name : str
        The parameter that takes the graph.
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
