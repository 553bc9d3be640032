"""Networks and features from files: CSV tables, .npz, .npy and .mtx matrices; nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import Sparse
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.cells import is_number
from blockselect.graphs.convert import as_float_matrix
from blockselect.graphs.feature_table import FeatureTable
from blockselect.graphs.io.csv_tables import has_no_names, numeric_cells, read_csv_table
from blockselect.graphs.io.matrices import MATRIX_READERS, read_matrix


def read_features(path: str | PathLike[str]) -> FeatureTable:
    """Read the features of nodes.

    Parameters
    ----------
    path : path
        ``.csv``: a header; the first column holds the ids of the nodes, each other column a feature.
        ``.npz`` (of SciPy or NumPy), ``.npy``, ``.mtx``: a matrix, one row a node.
    """
    file = _existing(path)
    if file.suffix.lower() != ".csv":
        return FeatureTable(read_matrix(file))
    table = read_csv_table(file, as_text=False)
    id_name, *names = table.columns.tolist()
    if has_no_names(names) or (is_number(id_name) and all(map(is_number, names))):
        raise ValueError(
            f"{file}: the first line {[id_name, *names][:4]} looks like data; expected a header that names "
            "the id column and then each feature. Add it (or put a letter before such names)."
        )
    if "" in names:
        raise ValueError(f"{file}: column {names.index('') + 2} has no name; name it in the header.")
    ids = table.iloc[:, 0].str.strip().tolist()
    if "" in ids:
        raise ValueError(f"{file}: row {ids.index('') + 1} has no id in its first column; give it one.")
    matrix = numeric_cells(table.iloc[:, 1:], ids, file)
    return FeatureTable(matrix, np.array(ids, dtype=object), np.array(names, dtype=object))


def read_graph(path: str | PathLike[str]) -> pd.DataFrame | Sparse:
    """Read a network.

    Parameters
    ----------
    path : path
        ``.csv``: a list of edges with a header, the columns source, target and perhaps weight, or two or
        three columns in this order. All cells are kept as text, an empty one as missing.
        ``.npz`` (of SciPy or NumPy), ``.npy``, ``.mtx``: the adjacency, one row and column a node.
    """
    file = _existing(path)
    if file.suffix.lower() != ".csv":
        return sparse.csr_array(as_float_matrix(read_matrix(file), str(file)))
    table = read_csv_table(file, as_text=True)
    if all(map(is_number, table.columns[:2])):
        raise ValueError(
            f"{file}: the first line {table.columns[:4].tolist()} looks like an edge; expected a header: "
            "add the line source,target or source,target,weight."
        )
    cells = table.apply(lambda column: column.str.strip())
    return cells.mask(cells == "")


def read_attributed_graph(features_path: str | PathLike[str], graph_path: str | PathLike[str]) -> AttributedGraph:
    """Read a network and the features of its nodes, and check them.

    Edges of a CSV file find their nodes by id: those in the first column of a features CSV, or the row
    numbers 0, 1, … of a features matrix. An adjacency matrix has its nodes in the order of the rows.

    Parameters
    ----------
    features_path, graph_path : path
        See :func:`read_features` and :func:`read_graph`.
    """
    table, graph = read_features(features_path), read_graph(graph_path)
    node_ids = table.node_ids
    if isinstance(graph, pd.DataFrame):
        if node_ids is None:  # the edges are text
            node_ids = np.arange(table.matrix.shape[0]).astype(str).astype(object)
        _check_edge_header(graph, node_ids, Path(graph_path))
    try:
        return check_attributed_graph(table.matrix, graph, node_ids=node_ids, feature_names=table.feature_names)
    except ValueError as error:
        raise ValueError(f"{features_path} with {graph_path}: {error}") from error


def _check_edge_header(edges: pd.DataFrame, node_ids: Iterable[Any], path: Path) -> None:
    first = edges.columns[:2].tolist()
    if set(first) <= set(node_ids) and [name.lower() for name in first] != ["source", "target"]:
        raise ValueError(
            f"{path}: the first line {first} names two nodes; expected a header: add the line source,target."
        )


def _existing(path: str | PathLike[str]) -> Path:
    file = Path(path)
    known = [".csv", *MATRIX_READERS]
    if file.suffix.lower() not in known:
        raise ValueError(f"{file} has the suffix {file.suffix!r}; expected one of {', '.join(known)}.")
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is no file; check the path.")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty; check how it was written.")
    return file
