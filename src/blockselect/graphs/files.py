"""read_features, read_graph, read_attributed_graph: networks and features from files of many formats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import FloatArray
from blockselect.errors import ParameterError
from blockselect.extras import needed
from blockselect.graphs.adjacency import as_adjacency
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.edge_tables import ENDS, edge_columns
from blockselect.graphs.features import FeatureTable, as_feature_table, as_float_matrix
from blockselect.graphs.matrix_files import MATRIX_READERS, read_arrow, read_matrix
from blockselect.graphs.text_files import (
    PACKED,
    BadFileError,
    format_of,
    is_packed,
    read_csv_table,
    read_edge_list,
    read_markup,
    read_names,
    reading,
)
from blockselect.parameters import is_number
from blockselect.warned import warn_caller
from blockselect.wording import shortened

FilePath: TypeAlias = str | PathLike[str]
UnknownNodes: TypeAlias = Literal["error", "drop"]

CSV = (".csv", ".tsv", ".txt")
ARROW = (".parquet", ".feather")
MARKUP = (".graphml", ".gml")
MAY_BE_PACKED = (*CSV, *MARKUP, ".edgelist", ".mtx")
FEATURE_FORMATS = (*CSV, *ARROW, *MATRIX_READERS, ".mat", ".h5ad")
GRAPH_FORMATS = (*FEATURE_FORMATS, *MARKUP, ".edgelist")
FEATURE_VARIABLES = ("features", "Attributes", "X", "fea")  # usual names in .mat files
GRAPH_VARIABLES = ("adjacency", "Network", "A", "graph")


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
        nodes, each other column one feature. ``.parquet``, ``.feather``: the same, with the ids in the index that
        pandas stored or in a first column of text. ``.npz`` (of SciPy or NumPy), ``.npy``, ``.mat``, ``.mtx``: a
        matrix with one row per node. If barcodes.tsv and features.tsv lie beside an ``.mtx`` file, as 10x writes them,
        they give the names, and the matrix has genes in rows. ``.h5ad``: an AnnData.
    node_ids, feature_names : path, optional
        Text files with one name per line, for matrices without names.
    transpose : bool, default=False
        Whether the file has features in rows and nodes in columns.
    """
    file = _known(path, FEATURE_FORMATS)
    with reading(file):
        table = _read_table(file)
    if format_of(file) == ".mtx":
        table = _with_10x_names(file, table)
    if transpose:
        table = FeatureTable(table.matrix.T, table.feature_names, table.node_ids)
    if node_ids is not None:
        table = replace(table, node_ids=read_names(Path(node_ids)))
    if feature_names is not None:
        table = replace(table, feature_names=read_names(Path(feature_names)))
    return table


def read_graph(path: FilePath) -> Any:
    """Read a network.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt`` (also packed, ``.gz`` or ``.zst``), ``.parquet``, ``.feather``: a list of edges
        with a header, the columns source, target and perhaps weight, or two columns in this order. Cells of text files
        are kept as text, an empty one as missing. ``.edgelist``: the same without a header, separated by blanks.
        ``.graphml``, ``.gml``: as networkx writes them; node ids are text. ``.npz`` (of SciPy or NumPy),
        ``.npy``, ``.mtx``, ``.mat``: the adjacency, one row and column per node. ``.h5ad``: the graph
        ``obsp["connectivities"]`` of an AnnData.

    Returns
    -------
    DataFrame, sparse matrix, networkx graph or AnnData
        Any of these can be passed to :func:`blockselect.as_adjacency`.
    """
    file = _known(path, GRAPH_FORMATS)
    suffix = format_of(file)
    with reading(file):
        if suffix in CSV:
            return _read_edge_csv(file)
        if suffix in ARROW:
            return _ids_as_text(read_arrow(file))
        if suffix == ".edgelist":
            return read_edge_list(file)
        if suffix in MARKUP:
            return read_markup(file)
        if suffix == ".h5ad":
            return _read_h5ad(file)
        matrix = read_matrix(file, GRAPH_VARIABLES)
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

    Edges name nodes by the ids of the features, or by the row numbers 0, 1, … if the features have no ids. An adjacency
    matrix has its nodes in the order of the rows.

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
    try:
        if not sparse.issparse(graph):  # its nodes are called by text
            ids = np.array([str(one) for one in (range(table.matrix.shape[0]) if ids is None else ids)], dtype=object)
            if isinstance(graph, pd.DataFrame):
                _check_edge_header(graph, ids)
            if unknown_nodes == "drop":
                graph = _without_unknown(graph, ids, weight)
            if weight is not None:
                graph = as_adjacency(graph, nodes=ids, weight=weight)
        return check_attributed_graph(table.matrix, graph, node_ids=ids, feature_names=table.feature_names)
    except (ValueError, TypeError) as error:  # TypeError: a cell that is neither a number nor text
        hint = "" if transpose else _hint_to_transpose(table, graph)
        raise ValueError(f"{features_path} with {graph_path}: {error}{hint}") from error


def _known(path: FilePath, known: tuple[str, ...]) -> Path:
    file = Path(path)
    suffix = format_of(file)
    if suffix not in known:
        raise ValueError(f"{file} has the suffix {file.suffix!r}; expected one of {', '.join(known)}.")
    if is_packed(file) and suffix not in MAY_BE_PACKED:
        raise ValueError(f"{file} is packed, which {suffix} files must not be; unpack it first.")
    return file


def _read_table(file: Path) -> FeatureTable:
    suffix = format_of(file)
    if suffix in CSV:
        return _read_feature_csv(file)
    if suffix in ARROW:
        return _with_ids(read_arrow(file))
    if suffix == ".h5ad":
        return as_feature_table(_read_h5ad(file))
    return FeatureTable(read_matrix(file, FEATURE_VARIABLES))


def _read_h5ad(file: Path) -> Any:
    return needed("anndata", "an .h5ad file").read_h5ad(file)


def _read_feature_csv(file: Path) -> FeatureTable:
    table = read_csv_table(file, as_text=False)
    header = table.columns.tolist()
    if _looks_like_data(header[1:]) or all(map(is_number, header)):
        raise BadFileError(
            f"the first line {header[:4]} looks like data; expected a header that names the id column and then each "
            "feature. Add it (or put a letter before such names)."
        )
    if "" in header[1:]:
        raise BadFileError(f"column {header.index('', 1) + 1} has no name; name it in the header.")
    ids = table.iloc[:, 0].str.strip().tolist()
    if "" in ids:
        raise BadFileError(f"row {ids.index('') + 1} has no id in its first column; give it one.")
    matrix = _numbers(table.iloc[:, 1:], ids)
    return FeatureTable(matrix, np.array(ids, dtype=object), np.array(header[1:], dtype=object))


def _looks_like_data(names: list[str]) -> bool:
    """Whether names are numbers that are not whole or not distinct: tables are often written with numbered columns."""
    numbers = [float(name) for name in names if is_number(name)]
    return len(numbers) == len(names) and not (
        len(set(numbers)) == len(numbers) and all(number.is_integer() for number in numbers)
    )


def _numbers(cells: pd.DataFrame, node_ids: list[str]) -> FloatArray:
    """All cells as float64; an error names the first that is no finite number."""
    columns = [  # as text first, because float64 cannot hold whole numbers of hundreds of digits
        column if column.dtype.kind in "biuf" else pd.to_numeric(column.astype(str), errors="coerce")
        for _, column in cells.items()
    ]
    matrix = np.column_stack(columns).astype(np.float64)
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        row, position = wrong[0].tolist()
        cell, name = str(cells.iloc[row, position]), str(cells.columns[position])
        raise BadFileError(
            f"row {row + 1} ({shortened(node_ids[row])!r}), column {shortened(name)!r} holds {shortened(cell)!r}, "
            "which is not a finite number (float64 holds up to 1.8e308); fill in a number (with a decimal point), or "
            "encode the column as numbers or drop it."
        )
    return matrix


def _read_edge_csv(file: Path) -> pd.DataFrame:
    table = read_csv_table(file, as_text=True)
    if all(map(is_number, table.columns[:2])):
        raise BadFileError(
            f"the first line {table.columns[:4].tolist()} looks like an edge; expected a header: add the line "
            "source,target or source,target,weight."
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
    """Node ids are text in every format."""
    edges = edges.set_axis([str(name) for name in edges.columns], axis=1)  # pandas numbers columns that have no names
    source, target, _ = edge_columns(edges, weight=False)
    return edges.assign(**{str(end.name): end.astype("string").astype(object) for end in (source, target)})


def _with_10x_names(file: Path, table: FeatureTable) -> FeatureTable:
    """Transpose a Matrix Market file if the names of cells and genes lie beside it, as 10x writes them."""
    prefix = file.name[: max(0, file.name.lower().find("matrix.mtx"))]

    def beside(*names: str) -> Path | None:
        candidates = [file.with_name(f"{prefix}{name}{packed}") for name in names for packed in ("", *PACKED)]
        return next((candidate for candidate in candidates if candidate.is_file()), None)

    barcodes, genes = beside("barcodes.tsv"), beside("features.tsv", "genes.tsv")
    if barcodes is None or genes is None:
        return table
    ids, names = read_names(barcodes), read_names(genes)
    if table.matrix.shape != (len(names), len(ids)):
        raise ValueError(
            f"{file} has shape {table.matrix.shape}, but {genes.name} has {len(names)} lines and {barcodes.name} "
            f"{len(ids)}; 10x writes genes in rows and cells in columns: use three files of the same run, or move the "
            "names away."
        )
    try:
        symbols = read_names(genes, column=1)
    except ValueError:  # there is only one column
        symbols = names
    return FeatureTable(sparse.csr_array(table.matrix.T), ids, symbols if len(set(symbols)) == len(symbols) else names)


def _check_edge_header(edges: pd.DataFrame, node_ids: Iterable[Any]) -> None:
    first = edges.columns[:2].tolist()
    if set(first) <= set(node_ids) and [name.lower() for name in first] != list(ENDS):
        raise ValueError(
            f"the first line {first} of the links names two nodes; expected a header: add the line source,target."
        )


def _without_unknown(graph: Any, ids: Iterable[Any], weight: Any) -> Any:
    """The graph without the links of nodes that have no features; a warning tells how many were dropped."""
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
    """A hint if the graph fits the columns of the features rather than their rows."""
    rows, columns = table.matrix.shape
    if sparse.issparse(graph):
        fits = graph.shape == (columns, columns) and rows != columns
    elif isinstance(graph, pd.DataFrame) and table.feature_names is not None:
        fits = len(graph) > 0 and set(graph.iloc[:, 0]) <= {str(name) for name in table.feature_names}
    else:
        fits = False
    return " The graph fits the columns of the features; if nodes are in columns, give --transpose." if fits else ""
