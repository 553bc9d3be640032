"""Advice for a feature file and a graph file that do not match: the parameter that may solve the problem."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pandas as pd
from scipy import sparse

from blockselect.inputs.edges import edge_columns
from blockselect.inputs.kinds import FeatureTable


def hint(table: FeatureTable, graph: Any, node_ids: Iterable[Any], *, transposed: bool) -> str:
    """Return a sentence naming a parameter that may solve the problem, or an empty string."""
    ends: set[str] = set()  # the ends of the links; empty for a matrix
    with suppress(ValueError):
        if isinstance(graph, pd.DataFrame):
            source, target, _ = edge_columns(graph, weight=False)
            ends = set(map(str, pd.concat([source, target]).dropna()))
        elif hasattr(graph, "subgraph"):
            ends = set(map(str, graph))
    rows, columns = table.matrix.shape
    names = [] if table.feature_names is None else list(map(str, table.feature_names))
    listed = list(map(str, node_ids))
    ids = set(listed)
    if not ends <= ids and names and not sparse.issparse(table.matrix):
        for name, (_, column) in zip(names, pd.DataFrame(table.matrix).items(), strict=False):
            is_whole = column.dtype.kind in "iuf" and bool((column % 1 == 0).all())
            if is_whole and column.is_unique and ends <= set(column.astype(str).str.removesuffix(".0")):
                return f" The links name the nodes by the column {name!r} of the features; give id_column={name!r}."
    fits_columns = bool(ends) and ends <= set(names)
    if sparse.issparse(graph):
        fits_columns = graph.shape == (columns, columns) and rows != columns
    if fits_columns and not transposed:
        return " The graph fits the columns of the features; if nodes are in columns, give transpose=True."
    if ends and (not ends & ids or len(ids) < len(listed)):
        number = "; if none does, number the rows in a first column, as pandas does" if len(ids) < len(listed) else ""
        return f" If another column of the features contains the ids of the nodes, name it with id_column{number}."
    if not ends <= ids:
        return " To leave out the links of nodes without features, give unknown_nodes='drop'."
    return ""
