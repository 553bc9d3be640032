"""NodeGraph: a graph that cross-validation can cut together with the rows of the features."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np

from blockselect.inputs.adjacency import read_nodes
from blockselect.inputs.graph_objects import ReadGraph


class NodeGraph(ReadGraph):
    """A graph that scikit-learn can cut together with the rows of X.

    Cross-validation fits to some of the rows of X. It takes the same rows, but all columns, of a matrix that is passed
    along, and does not cut other graphs at all. Indexing this class returns the induced subgraph: the given nodes
    and the links among them. So `GridSearchCV`, `cross_val_score` and metadata routing work with
    ``adjacency=NodeGraph(graph)``.

    Parameters
    ----------
    graph : matrix, edges, or graph of another library
        Any form that :func:`blockselect.as_adjacency` reads.
    nodes : int, iterable of ids, or None, default=None
        The ids of the nodes in the order of the rows of X, such as ``X.index``, or their number, as in
        :func:`blockselect.as_adjacency`. A graph whose nodes have names needs it, unless they are in the order of the
        rows and the selector receives a DataFrame with these names; a scaler before the selector may lose them.

    Attributes
    ----------
    matrix : csr_array of shape (n, n)
        The weights of the links.
    node_ids : array of shape (n,) or None
        The names of the nodes, if they have names; features with ids are matched by them.

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
        read = read_nodes(graph, nodes)
        ids = read.node_ids
        is_ordered = ids is None or nodes is not None or ids.tolist() == list(range(len(ids)))
        super().__init__(read.matrix, ids, own_order=is_ordered)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes, twice, as in the shape of a matrix."""
        n = len(self)
        return n, n

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: Any) -> NodeGraph:
        """The induced subgraph of some nodes, given by their rows: numbers, a slice or a mask."""
        if isinstance(rows, tuple):  # scikit-learn calls graph[rows, ...]
            rows, *columns = rows
            if columns != [Ellipsis]:
                raise IndexError("a NodeGraph is cut by nodes, not by rows and columns; use graph[rows].")
        at = np.atleast_1d(np.arange(len(self))[rows])
        part = copy(self)
        part.matrix = self.matrix[at][:, at]
        part.node_ids = None if self.node_ids is None else self.node_ids[at]
        return part

    def __repr__(self) -> str:
        return f"NodeGraph({len(self)} nodes)"
