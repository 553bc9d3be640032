"""Hints about two files that do not fit together: swapped, transposed, ids in another column, unknown nodes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.graphs.edge_tables import ENDS, edge_columns
from blockselect.graphs.features import FeatureTable


def are_swapped(features: pd.DataFrame, graph: pd.DataFrame) -> bool:
    """Whether the table of features lists links between nodes whose features are in the table of links."""
    if _has_ends(graph) or not (_has_ends(features) or (features.shape[1] <= 3 < graph.shape[1])):
        return False
    with suppress(ValueError):  # the first table is no list of links
        source, target, _ = edge_columns(features, weight=False)
        ends, ids = {*map(str, source), *map(str, target)}, set(map(str, graph.iloc[:, 0]))
        return len(ends & ids) > len(ends) / 2
    return False


def hint(table: FeatureTable, graph: Any, node_ids: Any, *, transposed: bool) -> str:
    """A sentence that names the option that probably helps, or an empty text."""
    ends = _ends(graph)
    if not transposed and _fits_columns(table, graph, ends):
        return " The graph fits the columns of the features; if nodes are in columns, give --transpose."
    if not ends:
        return ""
    ids = {str(one) for one in node_ids}
    if (name := _column_of_ids(table, ends)) is not None and not ends <= ids:
        return f" The links name the nodes by the column {name!r} of the features; give --id-column {name}."
    if len(ids) < len(node_ids):
        return " If another column of the features holds the ids of the nodes, name it with --id-column."
    if not ends <= ids and ends & ids:
        return " To leave out the links of nodes without features, give --unknown-nodes drop."
    return ""


def _has_ends(table: pd.DataFrame) -> bool:
    return set(ENDS) <= {str(name).strip().lower() for name in table.columns}


def _ends(graph: Any) -> set[str]:
    """The nodes that links name; empty for a matrix."""
    if isinstance(graph, pd.DataFrame):
        with suppress(ValueError):
            source, target, _ = edge_columns(graph, weight=False)
            return {str(end) for end in pd.concat([source, target]).dropna().tolist()}
    return {str(node) for node in graph} if hasattr(graph, "subgraph") else set()


def _fits_columns(table: FeatureTable, graph: Any, ends: set[str]) -> bool:
    rows, columns = table.matrix.shape
    if sparse.issparse(graph):
        return bool(graph.shape == (columns, columns) and rows != columns)
    return bool(ends) and table.feature_names is not None and ends <= {str(name) for name in table.feature_names}


def _column_of_ids(table: FeatureTable, ends: set[str]) -> str | None:
    """The first column of whole numbers without duplicates that contains all ends of the links."""
    if table.feature_names is None or not all(end.isdecimal() for end in ends):
        return None
    if not isinstance(table.matrix, np.ndarray):
        return None
    for name, column in zip(table.feature_names, table.matrix.T, strict=True):
        values = np.unique(column)
        is_whole = bool((values == np.round(values)).all())
        if is_whole and len(values) == len(column) and ends <= {f"{value:.0f}" for value in values}:
            return str(name)
    return None
