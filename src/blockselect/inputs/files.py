"""read_features, read_graph, read_attributed_graph: networks and features from files of many formats.

The files are read with pandas, networkx, SciPy, pyarrow and anndata, and the results pass the same checks as objects in
memory. The following guards catch input that these libraries would misread, or that would crash the process:

| behaviour of the library | guard |
|---|---|
| pandas reads the ids 007 and 7 as 7, and rounds long ids | ids are read as text |
| pandas reads the ids NA, null and None as missing | only empty cells are missing; among numbers, NA is missing too |
| pandas renames a second column x to "x.1" | names are read separately; duplicates are refused |
| pandas pads short rows and truncates long rows | cells are counted if a last cell is missing, or pandas warns |
| pandas truncates cells at # if comments are allowed | only comments above the first edge are skipped |
| pandas ends a cell at a NUL byte, and SciPy crashes | text files with NUL bytes are refused |
| pandas uses the first row of data as the header | a header of numbers is refused, or read as the first edge |
| pandas takes minutes for an edge table of thousands of columns | at most 1,000 columns are read |
| Excel stores 15 digits of an id | longer ids that are numbers are refused |
| a first column of whole numbers may be ids or a feature | unless it is called id, `id_column` or `drop` must name it |
| networkx reads default values in GraphML without applying them | they are applied |
| networkx reads the GML labels 1 and "1" as two nodes | they are refused, because ids are text |
| networkx accepts XML that declares entities | such GraphML and GEXF files are refused |
| small gzip, zip, Parquet, Feather and HDF5 files can unpack to huge ones | at most 200 times their size, or 1 GiB |
| NumPy and SciPy trust the shape that a file declares | it is compared with the size of the file |
| NumPy loads pickled objects, which run code | they are refused |
| SciPy crashes on unknown types in a damaged MATLAB file | the types of all elements are checked first |
| pyarrow crashes on cells that point outside a damaged Feather file | the table is validated first |
"""

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

from blockselect.inputs.adjacency import as_adjacency, cell_graph
from blockselect.inputs.arrow_files import read_arrow
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.inputs.edges import ENDS, edge_columns
from blockselect.inputs.feature_tables import (
    ARROW,
    CSV,
    EXCEL,
    TableOptions,
    read_columns,
    read_excel_table,
    read_feature_table,
)
from blockselect.inputs.features import as_feature_table
from blockselect.inputs.file_hints import hint
from blockselect.inputs.graph_files import (
    MARKUP,
    attribute_table,
    note_unused,
    read_edge_text,
    read_markup,
    without_row_numbers,
)
from blockselect.inputs.kinds import CONNECTIVITIES, FeatureTable, is_anndata
from blockselect.inputs.matrix_files import MATRIX_READERS, read_matrix, with_10x_names
from blockselect.inputs.text_files import (
    BadFileError,
    check_columns,
    check_unpacked,
    format_of,
    is_packed,
    note,
    read_names,
    reading,
)
from blockselect.rows.matrices import as_float_matrix
from blockselect.utils.errors import ParameterError, warn_caller
from blockselect.utils.extras import needed
from blockselect.utils.parameters import is_number

FilePath: TypeAlias = str | PathLike[str]
UnknownNodes: TypeAlias = Literal["error", "drop"]

TABLES = (*CSV, EXCEL, *ARROW)
MAY_BE_PACKED = (*CSV, *MARKUP, ".edgelist", ".mtx")
WHOLE = (*MARKUP, ".h5ad")  # one file contains links and features
FEATURE_FORMATS = (*TABLES, *MATRIX_READERS, *WHOLE)
GRAPH_FORMATS = (*FEATURE_FORMATS, ".edgelist")
FEATURE_VARIABLES = ("features", "Attributes", "X", "fea")  # usual names of the feature matrix in .mat and .npz files
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
    fill: float | None = None,
    decimal: str = ".",
    header: bool = True,
) -> FeatureTable:
    """Read the features of nodes.

    Parameters
    ----------
    path : path
        The suffix names the format:

        - ``.csv``, ``.tsv``, ``.txt`` (also with ``.gz``), ``.xlsx`` (first sheet): a table with a header. The first
          column contains the node ids, and every other column contains a feature.
        - ``.parquet``, ``.feather``: a table. The ids are the index that pandas stored, or a first column that contains
          text or is called id.
        - ``.npz`` (from SciPy or NumPy), ``.npy``, ``.mat``, ``.mtx``: a matrix with one row per node. If an ``.mtx``
          file has barcodes.tsv and features.tsv next to it, as written by 10x software, the names are read from these
          files, and rows are genes.
        - ``.h5ad``: an AnnData.
        - ``.graphml``, ``.gexf``, ``.gml``, ``.json`` (node-link): the attributes of nodes, encoded as in
          :meth:`blockselect.AttributedGraph.from_networkx`. An attribute that is a different text for each node is left
          out.
    node_ids, feature_names : path, optional
        Text files with one name per line, for matrices without names.
    transpose : bool, default=False
        Whether the file has features in rows and nodes in columns.
    id_column : str, optional
        The column of a table, or the attribute of nodes, that contains the node ids.
    drop : sequence of str
        Columns of a table, or attributes of nodes, to leave out.
    one_hot : bool, default=False
        Whether each value of a text column of a table becomes an indicator, called ``column=value``. For an empty cell,
        all indicators are 0. Node attributes are always encoded.
    fill : float, optional
        The number for empty cells, and for NA, NaN, null or None among numbers; by default, they are an error.
    decimal : {".", ","}, default="."
        The decimal separator of numbers in text files.
    header : bool, default=True
        Whether the first row of a text or Excel table names the columns. Without a header, columns are called "0", "1",
        …, and the first column contains ids if it contains text.
    """
    options = TableOptions(id_column, drop, one_hot, fill, decimal, header)
    return _read_features(_known(path, FEATURE_FORMATS), options, node_ids, feature_names, transpose=transpose)[0]


def _read_features(
    file: Path, options: TableOptions, node_ids: FilePath | None, feature_names: FilePath | None, *, transpose: bool
) -> tuple[FeatureTable, Any]:
    """Return the features of a file (see :func:`read_features`) and its graph, or None if it cannot contain a graph."""
    suffix, graph = format_of(file), None
    for parameter in ("id_column", "drop", "one_hot", "fill"):
        if getattr(options, parameter) not in (None, (), [], False) and suffix not in (*TABLES, *MARKUP):
            raise ParameterError(parameter, f"is for tables ({', '.join(TABLES)}), not for {file}; leave it out.")
    for parameter, value in {"node_ids": node_ids, "feature_names": feature_names, "transpose": transpose}.items():
        if value and suffix in MARKUP:
            raise ParameterError(parameter, f"is for matrices and tables, but {file} is a graph; leave it out.")
    if options.one_hot and transpose:
        raise ParameterError("one_hot", "needs one column per feature, which a transposed table does not have.")
    with reading(file):
        if suffix in TABLES:
            table = read_feature_table(file, options)
        elif suffix in MARKUP:
            graph = read_markup(file, options.id_column)
            table = attribute_table(graph, file, options)
        elif suffix == ".h5ad":
            graph = _read_h5ad(file)
            table = as_feature_table(graph)
        else:
            table = FeatureTable(read_matrix(file, FEATURE_VARIABLES))
    if suffix == ".mtx":
        table = with_10x_names(file, table)
    if transpose:
        table = FeatureTable(table.matrix.T, table.feature_names, table.node_ids)
    if node_ids is not None:
        table = replace(table, node_ids=read_names(Path(node_ids)))
    if feature_names is not None:
        table = replace(table, feature_names=read_names(Path(feature_names)))
    return table, graph


def read_label_column(
    path: FilePath, column: str, *, id_column: str | None = None, decimal: str = ".", header: bool = True
) -> pd.Series[Any]:
    """Read one column of a table, or one node attribute, as text, with the ids of the nodes as index."""
    file = _known(path, (*TABLES, *MARKUP))
    with reading(file):
        if format_of(file) in MARKUP:
            values = dict(read_markup(file, id_column).nodes(data=column))
            if all(value is None for value in values.values()):
                raise BadFileError(f"no node has an attribute {column!r}; choose another one.")
            labels = pd.Series(values, dtype=object)
        else:
            table = read_columns(file, TableOptions(id_column, decimal=decimal, header=header))
            cells, ids = table.matrix, table.node_ids
            check_columns([column], cells.columns)
            values = cells.loc[:, [column]].iloc[:, 0].to_numpy(dtype=object)
            labels = pd.Series(values, index=None if ids is None else pd.Index(ids))
    labels.index = labels.index.astype(str)
    return labels.astype(str).mask(labels.isna(), "")


def read_graph(path: FilePath, *, header: bool = True, decimal: str = ".") -> Any:
    """Read a network.

    Parameters
    ----------
    path : path
        The suffix names the format:

        - ``.csv``, ``.tsv``, ``.txt`` (also compressed, ``.gz``), ``.xlsx``, ``.parquet``, ``.feather``: edges with a
          header: either the columns source, target and optionally weight, or two columns, source first. Cells of text
          files remain text, and empty cells are missing. Edges without a header are recognised if nodes are numbers, or
          if they are separated by blanks, or by tabs below comments, as in the networks of SNAP. A text file may also
          contain an adjacency matrix: its header and first column name the nodes, or all cells are numbers.
        - ``.edgelist``: source, target and optionally a weight, without a header, separated by blanks.
        - ``.graphml``, ``.gexf``, ``.gml``, ``.json`` (node-link): a graph as networkx reads it, with node ids as text.
        - ``.npz`` (from SciPy or NumPy), ``.npy``, ``.mtx``, ``.mat``: an adjacency matrix.
        - ``.h5ad``: the graph ``obsp["connectivities"]`` of an AnnData.
    header : bool, default=True
        If False, the first row of a text or Excel table is read as an edge, unless it names source and target.
    decimal : {".", ","}, default="."
        The decimal separator of weights in text files.

    Returns
    -------
    DataFrame, sparse matrix, networkx graph or AnnData
        Any of these can be passed to :func:`blockselect.as_adjacency`.
    """
    file = _known(path, GRAPH_FORMATS)
    suffix = format_of(file)
    with reading(file):
        if suffix in (*CSV, ".edgelist"):
            return read_edge_text(file, header=header, decimal=decimal)
        if suffix == EXCEL:
            table = read_excel_table(file)
            if not _has_ends(table) and (not header or all(map(is_number, table.columns[:2]))):
                note("read %s as edges without a header: source and target", file.name)
                table = read_excel_table(file, header=False)
            return _ids_as_text(without_row_numbers(table, file))
        if suffix in ARROW:
            return _ids_as_text(read_arrow(file))
        if suffix in MARKUP:
            return read_markup(file)
        if suffix == ".h5ad":
            return _read_h5ad(file)
        matrix = read_matrix(file, GRAPH_VARIABLES)
    return sparse.csr_array(as_float_matrix(matrix, str(file)))


def read_attributed_graph(
    features_path: FilePath,
    graph_path: FilePath | None = None,
    *,
    node_ids: FilePath | None = None,
    feature_names: FilePath | None = None,
    transpose: bool = False,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    one_hot: bool = False,
    fill: float | None = None,
    decimal: str = ".",
    header: bool = True,
    unknown_nodes: UnknownNodes = "error",
    weight: str | Literal[False] | None = None,
) -> AttributedGraph:
    """Read a network and the features of its nodes, and check them.

    Edges name nodes by the ids of the features, or by the row numbers 0, 1, … if the features have no ids. An adjacency
    matrix has its nodes in the order of the rows.

    Parameters
    ----------
    features_path, graph_path : path
        See :func:`read_features` and :func:`read_graph`. One file is enough if it contains both: a graph whose nodes
        have attributes (``.graphml``, ``.gexf``, ``.gml``, ``.json``), or ``.h5ad``.
    node_ids, feature_names, transpose, id_column, drop, one_hot, fill, decimal, header
        See :func:`read_features`.
    unknown_nodes : {"error", "drop"}, default="error"
        What to do with links of nodes that have no row in the features.
    weight : str, False or None
        The column of the weights; see :func:`blockselect.as_adjacency`.
    """
    if unknown_nodes not in get_args(UnknownNodes):
        raise ParameterError("unknown_nodes", f"is {unknown_nodes!r}; choose one of {list(get_args(UnknownNodes))}.")
    options = TableOptions(id_column, drop, one_hot, fill, decimal, header)
    features_file, graph_file = Path(features_path), Path(features_path if graph_path is None else graph_path)
    one_file = features_file == graph_file
    try:
        _known(features_file, WHOLE if graph_path is None else FEATURE_FORMATS)
        table, graph = _read_features(features_file, options, node_ids, feature_names, transpose=transpose)
        if graph is None or not one_file:
            graph = read_graph(graph_file, header=header, decimal=decimal)
            if format_of(graph_file) in MARKUP:
                note_unused(graph, graph_file)
        files = str(graph_file) if one_file else f"{features_file} with {graph_file}"
        network = _joined(table, graph, files, unknown_nodes, weight, transposed=transpose)
        if is_anndata(graph) and one_file:
            return replace(network, origin=cell_graph(graph, CONNECTIVITIES).origin)
        return network
    except ValueError as error:
        if not one_file and _are_swapped(features_file, graph_file, weight):
            raise ValueError(
                f"{features_file} contains links and {graph_file} contains features, so the two files are swapped; "
                f"read {graph_file} as the features and {features_file} as the graph."
            ) from error
        raise


def _joined(
    table: FeatureTable, graph: Any, files: str, unknown_nodes: UnknownNodes, weight: Any, *, transposed: bool
) -> AttributedGraph:
    """Check features and graph together; an error names the files and a parameter that may solve the problem."""
    ids = table.node_ids
    try:
        if not sparse.issparse(graph):  # its nodes are named by text
            ids = np.array([str(one) for one in (range(table.matrix.shape[0]) if ids is None else ids)], dtype=object)
            if isinstance(graph, pd.DataFrame):
                _check_edge_header(graph, ids)
            if unknown_nodes == "drop":
                graph = _without_unknown(graph, ids, weight)
        if weight is not None:
            graph = as_adjacency(graph, nodes=ids, weight=weight)
        return check_attributed_graph(replace(table, node_ids=ids), graph)
    except (ValueError, TypeError) as error:  # TypeError: a cell that is neither a number nor text
        named = () if ids is None else ids
        raise ValueError(f"{files}: {error}{hint(table, graph, named, transposed=transposed)}") from error


def _are_swapped(features: FilePath, graph: FilePath, weight: Any) -> bool:
    """Whether the two files make sense as a network once they are swapped, and no header contradicts this."""
    with suppress(Exception):  # the error for the original order is raised instead
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


def _known(path: FilePath, known: tuple[str, ...]) -> Path:
    file = Path(path)
    suffix = format_of(file)
    if suffix not in known:
        raise ValueError(f"{file} has the suffix {file.suffix!r}; expected one of {', '.join(known)}.")
    if is_packed(file) and suffix not in MAY_BE_PACKED:
        raise ValueError(f"{file} is compressed, which is not supported for {suffix} files; unpack it first.")
    return file


def _read_h5ad(file: Path) -> Any:
    anndata, h5py = needed("anndata", "an .h5ad file"), needed("h5py", "an .h5ad file")

    def declared(group: Any) -> int:
        return sum(declared(item) if isinstance(item, h5py.Group) else item.nbytes for item in group.values())

    with h5py.File(file) as stored:  # the file does not contain chunks that were never written
        check_unpacked(declared(stored), file)
    return anndata.read_h5ad(file)


def _ids_as_text(edges: pd.DataFrame) -> pd.DataFrame:
    """Convert node ids to text, as in every format."""
    edges = edges.set_axis([str(name) for name in edges.columns], axis=1)  # columns without names are numbered
    source, target, _ = edge_columns(edges, weight=False)
    return edges.assign(**{str(end.name): end.astype("string").astype(object) for end in (source, target)})


def _check_edge_header(edges: pd.DataFrame, node_ids: Iterable[Any]) -> None:
    first = edges.columns[:2].tolist()
    if set(first) <= set(node_ids) and [name.lower() for name in first] != list(ENDS):
        raise ValueError(
            f"the first line {first} of the links names two nodes; expected a header: add the line source,target, or "
            "give header=False."
        )


def _without_unknown(graph: Any, ids: Iterable[Any], weight: Any) -> Any:
    """Drop the links of nodes that have no features, and warn about the number of dropped links."""
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
