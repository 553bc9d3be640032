"""read_features, read_graph, read_attributed_graph: networks and features from files of many formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.errors import ParameterError, warn_caller
from blockselect.extras import needed
from blockselect.graphs.adjacency import CONNECTIVITIES, as_adjacency, cell_graph
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.edge_tables import ENDS, edge_columns
from blockselect.graphs.feature_tables import TableColumns, features_of_frame, read_feature_csv
from blockselect.graphs.features import FeatureTable, as_feature_table, as_float_matrix, is_anndata
from blockselect.graphs.matrix_files import MATRIX_READERS, read_arrow, read_matrix
from blockselect.graphs.text_files import (
    PACKED,
    BadFileError,
    check_unpacked,
    format_of,
    is_packed,
    read_csv_table,
    read_edge_list,
    read_markup,
    read_names,
    reading,
)
from blockselect.parameters import is_number

FilePath: TypeAlias = str | PathLike[str]
UnknownNodes: TypeAlias = Literal["error", "drop"]

CSV = (".csv", ".tsv", ".txt")
ARROW = (".parquet", ".feather")
TABLES = (*CSV, *ARROW)
MARKUP = (".graphml", ".gml")
MAY_BE_PACKED = (*CSV, *MARKUP, ".edgelist", ".mtx")
FEATURE_FORMATS = (*TABLES, *MATRIX_READERS, ".mat", ".h5ad")
GRAPH_FORMATS = (*FEATURE_FORMATS, *MARKUP, ".edgelist")
FEATURE_VARIABLES = ("features", "Attributes", "X", "fea")  # usual names in .mat files
MOST_EDGE_COLUMNS = 1000
GRAPH_VARIABLES = ("adjacency", "Network", "A", "graph")


def read_features(
    path: FilePath,
    *,
    node_ids: FilePath | None = None,
    feature_names: FilePath | None = None,
    transpose: bool = False,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    one_hot: bool = False,
) -> FeatureTable:
    """Read the features of nodes.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt`` (also packed, ``.gz`` or ``.zst``): a header; the first column holds the ids of the
        nodes, each other column one feature. ``.parquet``, ``.feather``: the same, with the ids in the index that
        pandas stored, or in a first column of text or called id. ``.npz`` (of SciPy or NumPy), ``.npy``, ``.mat``,
        ``.mtx``: a matrix with one row per node. If barcodes.tsv and features.tsv lie beside an ``.mtx`` file, as 10x
        writes them, they give the names, and the matrix has genes in rows. ``.h5ad``: an AnnData.
    node_ids, feature_names : path, optional
        Text files with one name per line, for matrices without names.
    transpose : bool, default=False
        Whether the file has features in rows and nodes in columns.
    id_column : str, optional
        The column of a table (``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.feather``) that holds the ids of the
        nodes.
    drop : sequence of str
        Columns of a table that are left out.
    one_hot : bool, default=False
        Whether each value of a text column of a table becomes an indicator, called ``column=value``. An empty cell has
        none.
    """
    file = _known(path, FEATURE_FORMATS)
    for parameter, value in {"id_column": id_column, "drop": drop, "one_hot": one_hot}.items():
        if value and format_of(file) not in TABLES:
            raise ParameterError(parameter, f"is for tables ({', '.join(TABLES)}), but {file} is none; leave it out.")
    if one_hot and transpose:
        raise ParameterError("one_hot", "needs one column per feature, which a transposed table does not have.")
    with reading(file):
        table = _read_table(file, TableColumns(id_column, drop, one_hot))
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
    id_column: str | None = None,
    drop: Sequence[str] = (),
    one_hot: bool = False,
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
    node_ids, feature_names, transpose, id_column, drop, one_hot
        See :func:`read_features`.
    unknown_nodes : {"error", "drop"}, default="error"
        What to do with links of nodes that have no row in the features.
    weight : str, False or None
        The column of the weights; see :func:`blockselect.as_adjacency`.
    """
    if unknown_nodes not in get_args(UnknownNodes):
        raise ParameterError("unknown_nodes", f"is {unknown_nodes!r}; choose one of {list(get_args(UnknownNodes))}.")
    try:
        table = read_features(
            features_path,
            node_ids=node_ids,
            feature_names=feature_names,
            transpose=transpose,
            id_column=id_column,
            drop=drop,
            one_hot=one_hot,
        )
        graph = read_graph(graph_path)
        files = f"{features_path} with {graph_path}"
        network = _joined(table, graph, files, unknown_nodes, weight, transposed=transpose)
        if is_anndata(graph) and Path(features_path).samefile(graph_path):
            return replace(network, origin=cell_graph(graph, CONNECTIVITIES).origin)
        return network
    except ValueError as error:
        if _are_swapped(features_path, graph_path, weight):
            raise ValueError(
                f"{features_path} holds links and {graph_path} holds features, so the two files are swapped; give "
                f"--features {graph_path} --graph {features_path}."
            ) from error
        raise


def _joined(
    table: FeatureTable, graph: Any, files: str, unknown_nodes: UnknownNodes, weight: Any, *, transposed: bool
) -> AttributedGraph:
    """The checked network of features and graph; an error names the files and the option that probably helps."""
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
        named = () if ids is None else ids
        raise ValueError(f"{files}: {error}{_hint(table, graph, named, transposed=transposed)}") from error


def _are_swapped(features: FilePath, graph: FilePath, weight: Any) -> bool:
    """Whether the two files are a network if each is read in place of the other, and no header says otherwise."""
    with suppress(Exception):  # the error that brought us here says what is wrong
        if _has_ends(read_graph(graph)):
            return False
    with suppress(Exception):
        table, links = read_features(graph), read_graph(features)
        _joined(table, links, "", "error", weight, transposed=False)
        return not isinstance(links, pd.DataFrame) or _has_ends(links) or table.matrix.shape[1] > 2
    return False


def _has_ends(graph: Any) -> bool:
    is_table = isinstance(graph, pd.DataFrame)
    return is_table and set(ENDS) <= {str(name).strip().lower() for name in graph.columns}


def _hint(table: FeatureTable, graph: Any, node_ids: Iterable[Any], *, transposed: bool) -> str:
    """A sentence that names the option that probably helps, or an empty text."""
    ends: set[str] = set()  # the nodes that links name; a matrix has no names
    with suppress(ValueError):
        if isinstance(graph, pd.DataFrame):
            source, target, _ = edge_columns(graph, weight=False)
            ends = set(map(str, pd.concat([source, target]).dropna()))
        elif hasattr(graph, "subgraph"):
            ends = set(map(str, graph))
    listed = list(map(str, node_ids))
    ids = set(listed)
    if not ends <= ids and (name := _column_of_ids(table, ends)) is not None:
        return f" The links name the nodes by the column {name!r} of the features; give --id-column {name}."
    rows, columns = table.matrix.shape
    names = set() if table.feature_names is None else set(map(str, table.feature_names))
    fits_columns = bool(ends) and ends <= names
    if sparse.issparse(graph):
        fits_columns = graph.shape == (columns, columns) and rows != columns
    if fits_columns and not transposed:
        return " The graph fits the columns of the features; if nodes are in columns, give --transpose."
    if ends and (not ends & ids or len(ids) < len(listed)):
        return " If another column of the features holds the ids of the nodes, name it with --id-column."
    if not ends <= ids:
        return " To leave out the links of nodes without features, give --unknown-nodes drop."
    return ""


def _column_of_ids(table: FeatureTable, ends: set[str]) -> str | None:
    """The first column of whole numbers without duplicates that contains all ends of the links."""
    if table.feature_names is None or sparse.issparse(table.matrix):
        return None
    for name, (_, column) in zip(table.feature_names, pd.DataFrame(table.matrix).items(), strict=False):
        is_whole = column.dtype.kind in "iuf" and bool((column % 1 == 0).all())
        if is_whole and column.is_unique and ends <= set(column.astype(str).str.removesuffix(".0")):
            return str(name)
    return None


def _known(path: FilePath, known: tuple[str, ...]) -> Path:
    file = Path(path)
    suffix = format_of(file)
    if suffix not in known:
        raise ValueError(f"{file} has the suffix {file.suffix!r}; expected one of {', '.join(known)}.")
    if is_packed(file) and suffix not in MAY_BE_PACKED:
        raise ValueError(f"{file} is packed, which {suffix} files must not be; unpack it first.")
    return file


def _read_table(file: Path, use: TableColumns) -> FeatureTable:
    suffix = format_of(file)
    if suffix in CSV:
        return read_feature_csv(file, use)
    if suffix in ARROW:
        return features_of_frame(read_arrow(file), use)
    if suffix == ".h5ad":
        return as_feature_table(_read_h5ad(file))
    return FeatureTable(read_matrix(file, FEATURE_VARIABLES))


def _read_h5ad(file: Path) -> Any:
    anndata, h5py = needed("anndata", "an .h5ad file"), needed("h5py", "an .h5ad file")

    def declared(group: Any) -> int:
        return sum(declared(item) if isinstance(item, h5py.Group) else item.nbytes for item in group.values())

    with h5py.File(file) as stored:  # chunks that were never written take no space in the file
        check_unpacked(declared(stored), file)
    return anndata.read_h5ad(file)


def _read_edge_csv(file: Path) -> pd.DataFrame:
    table = read_csv_table(file, as_text=True, check_header=_check_edge_columns)
    return table.mask(table == "")


def _check_edge_columns(header: list[str]) -> None:
    """Refuse a table that is no list of edges before it is read: with many columns that would take minutes."""
    if all(map(is_number, header[:2])):
        raise BadFileError(
            f"the first line {header[:4]} looks like an edge; expected a header: add the line source,target or "
            "source,target,weight."
        )
    edge_columns(pd.DataFrame(columns=header), weight=False)
    if len(header) > MOST_EDGE_COLUMNS:
        raise BadFileError(
            f"it has {len(header):,} columns, but an edge table may have {MOST_EDGE_COLUMNS:,}; keep source, target "
            "and weight."
        )


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
