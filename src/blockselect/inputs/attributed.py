"""AttributedGraph: a network with the features of its nodes, to which all input is checked and converted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.inputs.adjacency import as_adjacency, check_adjacency, graph_of
from blockselect.inputs.features import check_feature_table
from blockselect.inputs.kinds import is_igraph, is_networkx
from blockselect.inputs.labels import check_classes
from blockselect.inputs.neighbour_graph import nearest_neighbour_graph
from blockselect.inputs.node_attributes import encode_attributes
from blockselect.rows.sums import by_row, in_memory
from blockselect.utils.arrays import BoolArray, Features, IntArray, ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.wording import count


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class AttributedGraph:
    """An undirected network whose nodes carry features.

    Create one with :func:`check_attributed_graph`, which checks and converts its input, or from a graph whose nodes
    have attributes with :meth:`from_networkx` or :meth:`from_igraph`. Selectors accept it: ``fit(graph)``.
    """

    adjacency: Sparse  # (n, n), symmetric, non-negative; self-loops are on the diagonal
    features: Features  # (n, m), dense, CSR or RowChunks; non-negative unless `non_negative=False` was passed
    node_ids: ObjectArray | None = None  # (n,)
    feature_names: ObjectArray | None = None  # (m,)
    classes: IntArray | None = None  # (n,) known classes, used for evaluation but not for selection
    encoding: pd.DataFrame | None = None  # columns attribute, kind, n_missing, n_columns, columns; a row per attribute
    origin: str | None = None  # where it is recorded that the graph was built from the features: "uns['neighbors']"

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

        A numeric attribute becomes one column, named after it. Texts are treated as categories, and lists or sets of
        texts as words; both become columns of zeros and ones, named "attribute=value". `encoding` lists the columns of
        each attribute. Convert whole numbers that represent categories to text first.

        Parameters
        ----------
        graph : networkx graph
            Nodes keep their order and ids. A node without a category or words has zeros in the corresponding columns;
            `encoding` counts the nodes that lack each attribute.
        attributes : iterable, optional
            The attributes to use; by default, all of them. Leave out known labels if you want to compare the
            result with them.
        fill : float, optional
            The value for nodes that lack a numeric attribute; by default, a missing number is an error.
        weight : attribute, False or None, default=None
            The edge attribute with the weights; see :func:`blockselect.as_adjacency`.
        non_negative : bool, default=True
            Whether to reject negative numbers, which methods based on block models do not support.

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
        """Number of nodes without links; a self-loop counts as a link."""
        return int(np.count_nonzero(np.diff(self.adjacency.indptr) == 0))

    @property
    def is_linked(self) -> BoolArray:
        """Mask of the nodes that have a link to another node: (n,)."""
        return np.asarray(np.diff(self.adjacency.indptr) > (self.adjacency.diagonal() != 0))

    @property
    def has_features(self) -> BoolArray:
        """Mask of the nodes that have a non-zero feature: (n,)."""
        return np.asarray(by_row(self.features, _has_features))

    @property
    def frame(self) -> pd.DataFrame:
        """The features as a DataFrame with names; sparse features stay sparse. They must be in memory."""
        if not sparse.issparse(self.features):
            return pd.DataFrame(self.features, index=self.node_ids, columns=self.feature_names)
        of_sparse: Any = pd.DataFrame.sparse  # missing from the type stubs of pandas
        frame: pd.DataFrame = of_sparse.from_spmatrix(self.features, index=self.node_ids, columns=self.feature_names)
        return frame.fillna(0.0)  # in pandas 3.0, entries that are not stored appear as NaN

    def only(self, nodes: BoolArray) -> AttributedGraph:
        """Return the subgraph of the nodes in a mask (n,); the graph itself if the mask selects all nodes."""
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
    """Check a network and its features, and convert them to an AttributedGraph.

    Parameters
    ----------
    features : array, sparse matrix, pandas or polars DataFrame, Arrow table, AnnData, or RowChunks, of shape (n, m)
        Must be finite and non-negative; float32 is kept, all other types become float64. The index and columns of a
        DataFrame, or the names in an AnnData, name the nodes and features. Row chunks are not copied. Node attributes
        of a networkx or igraph graph are encoded as in :meth:`AttributedGraph.from_networkx`.
    adjacency : graph or None
        Finite, non-negative link weights; the larger of the weights in the two directions is used. Any form that
        :func:`blockselect.as_adjacency` reads: a square matrix, edges, a networkx, igraph or PyTorch Geometric
        graph; nodes are matched by id if both have ids. For an AnnData, also the key of a graph in its `obsp`. A
        weight of 0 is not a link. Not needed if `features` is itself a graph.
    node_ids, feature_names : iterable, optional
        Names without duplicates. An edge table refers to nodes by these ids, or by row numbers if there are no ids.
    classes : iterable of int, optional
        Known classes of the nodes, used only for evaluation.
    n_neighbors : int, optional
        If `adjacency` is None, each node is linked to this many nearest neighbours in feature space. If both are
        None, an error is raised.
    non_negative : bool
        Whether to reject negative features, which methods based on block models do not support.
    dtype : dtype
        Float type of the computation; values must be in its range.

    Returns
    -------
    AttributedGraph
        The graph shares no memory with the input, which is never changed.

    Raises
    ------
    ValueError
        The message states the problem, its position and a remedy.

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
