"""NodeGraph: a graph from which cross-validation takes the subgraph of the rows in each fold."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np

from blockselect.inputs.adjacency import read_with_nodes
from blockselect.inputs.graph_objects import ReadGraph


class NodeGraph(ReadGraph):
    """A graph that can be indexed with the rows of X, as cross-validation requires.

    Cross-validation fits a selector to some rows of X. It takes the same rows of an adjacency matrix, but all its
    columns, and passes graphs from other libraries on unchanged. Indexing a NodeGraph returns the induced subgraph:
    these nodes and the links among them. So `GridSearchCV`, `cross_val_score` and metadata routing work with
    ``adjacency=NodeGraph(graph)``.

    Parameters
    ----------
    graph : matrix, edges, or graph of another library
        Any form that :func:`blockselect.as_adjacency` reads.
    nodes : int, iterable of ids, or None, default=None
        The ids of the nodes in the order of the rows of X, such as ``X.index``, or their number, as in
        :func:`blockselect.as_adjacency`. Required if the nodes of the graph have names, unless they are in the order
        of the rows and the selector receives a DataFrame with these names, which a preceding scaler may drop.

    Attributes
    ----------
    matrix : csr_array of shape (n, n)
        The weights of the links.
    node_ids : array of shape (n,) or None
        The names of the nodes, if they have names; they are matched with the ids of the features.

    Examples
    --------
    >>> from blockselect import NodeGraph
    >>> graph = NodeGraph([("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")], nodes=["ann", "bob", "cleo"])
    >>> graph
    NodeGraph(3 nodes)
    >>> graph[[0, 2]].matrix.toarray()
    array([[0., 0.],
           [1., 0.]])
    """

    def __init__(self, graph: Any, *, nodes: int | Iterable[Any] | None = None) -> None:
        read = read_with_nodes(graph, nodes)
        ids = read.node_ids
        is_ordered = ids is None or nodes is not None or ids.tolist() == list(range(len(ids)))
        super().__init__(read.matrix, ids, own_order=is_ordered)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the adjacency matrix: (n, n)."""
        n = len(self)
        return n, n

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: Any) -> NodeGraph:
        """Return the subgraph induced by some rows: row numbers, a slice or a mask."""
        if isinstance(rows, tuple):  # scikit-learn calls graph[rows, ...]
            rows, *columns = rows
            if columns != [Ellipsis]:
                raise IndexError("a NodeGraph is indexed by nodes, not by rows and columns; use graph[rows].")
        at = np.atleast_1d(np.arange(len(self))[rows])
        part = copy(self)
        part.matrix = self.matrix[at][:, at]
        part.node_ids = None if self.node_ids is None else self.node_ids[at]
        return part

    def __repr__(self) -> str:
        return f"NodeGraph({len(self)} nodes)"
