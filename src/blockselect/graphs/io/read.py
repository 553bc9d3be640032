"""Networks and features from files of many formats; nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.errors import ParameterError
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.cells import is_number
from blockselect.graphs.convert import as_adjacency, as_float_matrix
from blockselect.graphs.edge_tables import edge_columns
from blockselect.graphs.feature_table import FeatureTable, as_feature_table
from blockselect.graphs.io.arrow_files import read_arrow
from blockselect.graphs.io.csv_tables import has_no_names, numeric_cells, read_csv_table
from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.graph_files import read_edge_list, read_markup
from blockselect.graphs.io.h5ad import read_cells
from blockselect.graphs.io.matlab import FEATURE_VARIABLES, GRAPH_VARIABLES, read_mat
from blockselect.graphs.io.matrices import MATRIX_READERS, read_matrix
from blockselect.graphs.io.name_lists import read_names
from blockselect.graphs.io.packed import format_of, is_packed
from blockselect.graphs.io.ten_x import with_names_beside
from blockselect.warned import warn_caller

FilePath: TypeAlias = str | PathLike[str]
UnknownNodes: TypeAlias = Literal["error", "drop"]

TEXT = (".csv", ".tsv", ".txt")
ARROW = (".parquet", ".feather")
MARKUP = (".graphml", ".gml")
FEATURE_FORMATS = (*TEXT, *ARROW, *MATRIX_READERS, ".mat", ".h5ad")
GRAPH_FORMATS = (*FEATURE_FORMATS, *MARKUP, ".edgelist")
_MAY_BE_PACKED = (*TEXT, *MARKUP, ".edgelist", ".mtx")


def read_features(
    path: FilePath,
    *,
    node_ids: FilePath | None = None,
    feature_names: FilePath | None = None,
    transpose: bool = False,
) -> FeatureTable:
    """Read the features of nodes.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt`` (also packed, ``.gz`` or ``.zst``): a header; the first column holds the ids of the
        nodes, each other column a feature. ``.parquet``, ``.feather``: the same, the ids in the index that pandas
        stored or in a first column of text. ``.npz`` (of SciPy or NumPy), ``.npy``, ``.mat``, ``.mtx``: a matrix, one
        row a node; beside an ``.mtx`` file barcodes.tsv and features.tsv are read, as 10x writes them, genes in rows.
        ``.h5ad``: an AnnData.
    node_ids, feature_names : path, optional
        Text files with one name a line, for matrices that bring none.
    transpose : bool, default=False
        The file has features in rows and nodes in columns.
    """
    file = _existing(path, FEATURE_FORMATS)
    table = _read_feature_file(file)
    if transpose:
        table = FeatureTable(_transposed(table.matrix), table.feature_names, table.node_ids)
    if node_ids is not None:
        table = replace(table, node_ids=read_names(node_ids))
    if feature_names is not None:
        table = replace(table, feature_names=read_names(feature_names))
    return table


def read_graph(path: FilePath) -> Any:
    """Read a network.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt`` (also packed, ``.gz`` or ``.zst``), ``.parquet``, ``.feather``: a list of edges
        with a header, the columns source, target and perhaps weight, or two columns in this order. Cells of text files
        are kept as text, an empty one as missing. ``.edgelist``: the same without a header, blanks between.
        ``.graphml``, ``.gml``: as networkx writes them; nodes are called by their text. ``.npz`` (of SciPy or NumPy),
        ``.npy``, ``.mtx``, ``.mat``: the adjacency, one row and column a node. ``.h5ad``: the graph
        ``obsp["connectivities"]`` of an AnnData.

    Returns
    -------
    DataFrame, sparse matrix, networkx graph or AnnData
        As :func:`blockselect.as_adjacency` reads them.
    """
    file = _existing(path, GRAPH_FORMATS)
    suffix = format_of(file)
    if suffix in TEXT:
        return _read_edge_text(file)
    if suffix in ARROW:
        table = read_arrow(file)
        with naming_file(file, "write a row for each edge.", problem="is no list of edges"):
            return _ids_as_text(table)
    if suffix == ".edgelist":
        return read_edge_list(file)
    if suffix in MARKUP:
        return read_markup(file, suffix)
    if suffix == ".h5ad":
        return read_cells(file)
    matrix = read_mat(file, GRAPH_VARIABLES) if suffix == ".mat" else read_matrix(file)
    return sparse.csr_array(as_float_matrix(matrix, str(file)))


def read_attributed_graph(
    features_path: FilePath,
    graph_path: FilePath,
    *,
    node_ids: FilePath | None = None,
    feature_names: FilePath | None = None,
    transpose: bool = False,
    unknown_nodes: UnknownNodes = "error",
    weight: str | Literal[False] | None = None,
) -> AttributedGraph:
    """Read a network and the features of its nodes, and check them.

    Edges find their nodes by id: those that the features have, or the row numbers 0, 1, …. An adjacency matrix has its
    nodes in the order of the rows.

    Parameters
    ----------
    features_path, graph_path : path
        See :func:`read_features` and :func:`read_graph`.
    node_ids, feature_names, transpose
        See :func:`read_features`.
    unknown_nodes : {"error", "drop"}, default="error"
        What to do with links of nodes that have no row in the features.
    weight : str, False or None
        The column of the weights; see :func:`blockselect.as_adjacency`.
    """
    if unknown_nodes not in get_args(UnknownNodes):
        raise ParameterError("unknown_nodes", f"is {unknown_nodes!r}; choose one of {list(get_args(UnknownNodes))}.")
    table = read_features(features_path, node_ids=node_ids, feature_names=feature_names, transpose=transpose)
    graph = read_graph(graph_path)
    ids = table.node_ids
    if not sparse.issparse(graph):
        if ids is None:  # the edges are text
            ids = np.arange(table.matrix.shape[0]).astype(str)
        ids = np.array([str(one) for one in ids], dtype=object)
        if isinstance(graph, pd.DataFrame):
            _check_edge_header(graph, ids, Path(graph_path))
    try:
        if unknown_nodes == "drop" and not sparse.issparse(graph) and ids is not None:
            graph = _without_unknown(graph, ids, weight)
        adjacency = graph
        if weight is not None and not sparse.issparse(graph):
            adjacency = as_adjacency(graph, nodes=ids, weight=weight)
        return check_attributed_graph(table.matrix, adjacency, node_ids=ids, feature_names=table.feature_names)
    except (ValueError, TypeError) as error:  # the latter: a cell that is neither a number nor text
        hint = "" if transpose else _hint_to_transpose(table, graph)
        raise ValueError(f"{features_path} with {graph_path}: {error}{hint}") from error


def _read_feature_file(file: Path) -> FeatureTable:
    suffix = format_of(file)
    if suffix in TEXT:
        return _read_feature_text(file)
    if suffix in ARROW:
        return _with_ids(read_arrow(file))
    if suffix == ".h5ad":
        return as_feature_table(read_cells(file))
    if suffix == ".mat":
        return FeatureTable(read_mat(file, FEATURE_VARIABLES))
    matrix = read_matrix(file)
    return with_names_beside(file, matrix) if suffix == ".mtx" else FeatureTable(matrix)


def _read_feature_text(file: Path) -> FeatureTable:
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


def _read_edge_text(file: Path) -> pd.DataFrame:
    table = read_csv_table(file, as_text=True)
    if all(map(is_number, table.columns[:2])):
        raise ValueError(
            f"{file}: the first line {table.columns[:4].tolist()} looks like an edge; expected a header: "
            "add the line source,target or source,target,weight."
        )
    cells: pd.DataFrame = table.apply(lambda column: column.str.strip())
    return cells.mask(cells == "")


def _with_ids(frame: pd.DataFrame) -> FeatureTable:
    """Ids from the index that pandas stored, or from a first column of text."""
    if not isinstance(frame.index, pd.RangeIndex):
        return FeatureTable(frame.reset_index(drop=True), frame.index.astype(str), frame.columns)
    if frame.shape[1] > 1 and not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0]):
        rest = frame.iloc[:, 1:]
        return FeatureTable(rest, frame.iloc[:, 0].astype(str), rest.columns)
    return FeatureTable(frame, None, frame.columns)


def _ids_as_text(edges: pd.DataFrame) -> pd.DataFrame:
    """Nodes are called by their text, whatever the format."""
    edges = edges.set_axis([str(name) for name in edges.columns], axis=1)  # pandas numbers columns that have no names
    source, target, _ = edge_columns(edges, weight=False)
    return edges.assign(**{str(end.name): end.astype("string").astype(object) for end in (source, target)})


def _transposed(matrix: Any) -> Any:
    return matrix.to_numpy().T if isinstance(matrix, pd.DataFrame) else matrix.T


def _without_unknown(graph: Any, ids: Iterable[Any], weight: Any) -> Any:
    """The graph without links of nodes that have no features, and with a warning of how many these are."""
    known = set(ids)
    if isinstance(graph, pd.DataFrame):
        source, target, _ = edge_columns(graph, weight=weight)
        keep = source.isin(known) & target.isin(known)
        n_dropped, kept = int((~keep).sum()), graph[keep]
    elif hasattr(graph, "subgraph"):
        kept = graph.subgraph([node for node in graph if node in known]).copy()
        n_dropped = graph.number_of_edges() - kept.number_of_edges()
        kept.add_nodes_from(known)
    else:
        return graph
    if n_dropped:
        warn_caller(f"{n_dropped} link(s) of nodes without features are left out.", UserWarning)
    return kept


def _hint_to_transpose(table: FeatureTable, graph: Any) -> str:
    """Said where the graph fits the columns of the features rather than their rows."""
    rows, columns = table.matrix.shape
    if sparse.issparse(graph):
        fits = graph.shape == (columns, columns) and rows != columns
    elif isinstance(graph, pd.DataFrame) and table.feature_names is not None:
        fits = len(graph) > 0 and set(graph.iloc[:, 0]) <= {str(name) for name in table.feature_names}
    else:
        fits = False
    return " The graph fits the columns of the features; if nodes are in columns, give --transpose." if fits else ""


def _check_edge_header(edges: pd.DataFrame, node_ids: Iterable[Any], path: Path) -> None:
    first = edges.columns[:2].tolist()
    if set(first) <= set(node_ids) and [name.lower() for name in first] != ["source", "target"]:
        raise ValueError(
            f"{path}: the first line {first} names two nodes; expected a header: add the line source,target."
        )


def _existing(path: FilePath, known: tuple[str, ...]) -> Path:
    file = Path(path)
    suffix = format_of(file)
    if suffix not in known:
        raise ValueError(f"{file} has the suffix {file.suffix!r}; expected one of {', '.join(known)}.")
    if (is_packed(file) and suffix not in _MAY_BE_PACKED) or (suffix == ".mtx" and file.suffix.lower() == ".zst"):
        raise ValueError(f"{file} is packed, which {suffix} files must not be; unpack it first.")
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is no file; check the path.")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty; check how it was written.")
    return file
