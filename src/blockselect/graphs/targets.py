"""What was passed by position, where scikit-learn has its target y: refused unless a target, since y is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

_GRAPH_ATTRIBUTES = (  # networkx and dgl, igraph, PyTorch Geometric, AnnData, AttributedGraph
    "edges",
    "es",
    "edge_index",
    "obsp",
    "adjacency",
)
_EDGE_COLUMNS = {"source", "target"}


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
