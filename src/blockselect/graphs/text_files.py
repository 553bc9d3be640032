"""Text files, plain or packed: CSV tables, edge lists, GraphML, GML and lists of names."""

from __future__ import annotations

import csv
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blockselect.arrays import ObjectArray
from blockselect.extras import needed
from blockselect.graphs.edge_tables import ENDS, WEIGHT
from blockselect.parameters import check_known

PACKED = (".gz", ".zst")
UNPACKED_BYTES = 2**30  # a compressed file may always unpack to this size,
UNPACKED_RATIO = 200  # and a large one to this many bytes per byte of its own
PIECE = 2**12  # bytes unpacked at once: Zstandard can make 32,768 bytes of one
ADVICE = {
    ".npz": "save the matrix with scipy.sparse.save_npz(path, matrix) or numpy.savez(path, matrix).",
    ".npy": "save a matrix of numbers with numpy.save(path, matrix).",
    ".mtx": "save the matrix with scipy.io.mmwrite(path, matrix).",
    ".mat": "save one matrix in it, in MATLAB with save('file.mat', 'X', '-v7').",
    ".h5ad": "write it with adata.write_h5ad(path).",
    ".parquet": "write it again, for example with pandas.",
    ".feather": "write it again, for example with pandas.",
}
# The separator is the first of these characters after the first cell of the header, quoted or not.
FIRST_SEPARATOR = re.compile(r'^(?:"(?:[^"]|"")*"|[^",;\t]*)([,;\t])')


class BadFileError(ValueError):
    """A problem in a file and its cure; `reading` adds the name of the file."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error raised while a file is read into one that names the file and the cure.

    On damaged files the parsers of NumPy, SciPy, pandas, networkx, h5py and pyarrow raise nearly every kind of
    exception. Only a missing package is not the fault of the file.
    """
    if not path.is_file():  # a pipe can be read only once, and a device may never end
        raise FileNotFoundError(f"{path} does not exist or is no file; check the path.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty; check how it was written.")
    try:
        yield
    except ImportError:
        raise
    except BadFileError as error:
        raise ValueError(f"{path}: {error}") from error
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        if "pickle" in reason or "Python objects" in reason:  # NumPy would advise to load them
            reason = "it is damaged or holds pickled objects, which could run code"
        packing = " packed with gzip or zstd" if is_packed(path) else ""
        advice = ADVICE.get(format_of(path), f"correct it or export it again, as UTF-8 text{packing}.")
        raise ValueError(f"{path} could not be read: {reason}; {advice}") from error


def format_of(path: Path) -> str:
    """The suffix that names the format: .csv for edges.csv.gz."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def is_packed(path: Path) -> bool:
    return path.suffix.lower() in PACKED


def most_unpacked(path: Path) -> int:
    """The number of bytes to which a compressed file may unpack."""
    return max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)


def check_unpacked(n_bytes: int, path: Path) -> None:
    """Refuse a compressed file that becomes far larger than data do."""
    if n_bytes > most_unpacked(path):
        raise BadFileError(
            f"its {path.stat().st_size:,} bytes unpack to {n_bytes:,} or more, but at most {most_unpacked(path):,} are "
            "allowed; store the matrix as a sparse one, or without compression."
        )


def text_bytes(path: Path) -> bytes:
    """The unpacked content of a text file. At a NUL byte pandas would end a cell, and SciPy's parser crashes."""
    content = _unpacked(path) if is_packed(path) else path.read_bytes()
    at = content.find(b"\0")
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise BadFileError(f"line {line} holds a NUL byte, so the file is damaged or UTF-16; save it again as UTF-8.")
    return content


def _unpacked(path: Path) -> bytes:
    """Unpack frame by frame: the usual stream takes a .zst file that was cut off for a complete one."""
    if path.suffix.lower() == ".gz":
        new_frame: Any = partial(zlib.decompressobj, wbits=31)
    else:
        new_frame = needed("zstandard", f"{path}, packed by Zstandard,").ZstdDecompressor().decompressobj
    frame, parts, total = new_frame(), [], 0
    with path.open("rb") as packed:
        while piece := packed.read(PIECE):
            while piece:
                if frame.eof:
                    frame = new_frame()
                parts.append(frame.decompress(piece))
                total += len(parts[-1])
                check_unpacked(total, path)
                piece = frame.unused_data
    if not frame.eof:
        raise ValueError("it ends before its data do")
    return b"".join(parts)


def read_csv_table(
    path: Path,
    *,
    as_text: bool,
    text_column: str | None = None,
    check_header: Callable[[list[str]], None] | None = None,
) -> pd.DataFrame:
    """The table of a CSV file, with columns named by its header.

    The first column, or the one called `text_column`, is text, so that 007 stays 007. The others are text too if
    `as_text`; otherwise a column holds numbers if all its cells do. No cell is taken for a missing value: an empty
    cell is the empty text. Text has no blanks at its ends. `check_header` raises an error for wrong names of columns
    before the rows are read.
    """
    content = text_bytes(path)
    lines = TextIOWrapper(BytesIO(content), encoding="utf-8-sig", newline="")
    found = FIRST_SEPARATOR.match(lines.readline())
    if found is None:
        raise BadFileError(
            "the header has one column only; expected ids and then features, or source and target, with commas, "
            "semicolons or tabs between them."
        )
    separator = found.group(1)
    lines.seek(0)
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    header = [name.strip() for name in next(rows)]
    if text_column is not None:
        check_columns([text_column], header)
    if check_header is not None:
        check_header(header)
    for row in rows:  # pandas would fill up short rows without a warning
        if len(row) != len(header) and any(cell.strip() for cell in row):
            raise BadFileError(
                f"line {rows.line_num} has {len(row)} cell(s) but the header has {len(header)}; write one cell per "
                f"column in each row, with {separator!r} between them as in the header."
            )
    table = pd.read_csv(
        BytesIO(content),
        sep=separator,
        header=0,
        names=range(len(header)),  # as pandas would rename duplicates
        index_col=False,
        dtype=str if as_text else {0 if text_column is None else header.index(text_column): str},
        na_filter=False,
        low_memory=False,  # one type per column, however long
        skipinitialspace=True,
        encoding="utf-8-sig",
    )
    if table.empty:
        raise BadFileError("there is no row below the header; add one row per node or edge.")
    for at in table.select_dtypes(exclude=["number", "bool"]):
        table[at] = table[at].astype(str).str.strip()
    return table.set_axis(header, axis=1)


def check_columns(names: Iterable[str], header: Iterable[str]) -> None:
    """Refuse a column that the file does not have."""
    try:
        check_known(names, header, what="column")
    except ValueError as error:
        raise BadFileError(str(error)) from error


def read_names(path: Path, *, column: int = 0) -> ObjectArray:
    """One name per line, without a header; if lines have tabs, the names in one column."""
    with reading(path):
        lines = text_bytes(path).decode("utf-8-sig").rstrip("\r\n").split("\n")
        names = [(line.split("\t") + [""] * column)[column].strip() for line in lines]
        if "" in names:
            raise BadFileError(f"line {names.index('') + 1} has no name; write one name per line.")
        return np.array(names, dtype=object)


def read_edge_list(path: Path) -> pd.DataFrame:
    """Edges without a header: source, target and perhaps a weight, separated by blanks; # starts a comment."""
    lines = text_bytes(path).decode("utf-8-sig").split("\n")
    cells_by_line = {number: line.partition("#")[0].split() for number, line in enumerate(lines, start=1)}
    edges = {number: cells for number, cells in cells_by_line.items() if cells}
    if not edges:
        raise BadFileError("it holds no edge; write one per line: source target.")
    width = len(next(iter(edges.values())))
    for number, cells in edges.items():
        if len(cells) != width or width not in (2, 3) or "{" in cells[-1]:
            raise BadFileError(
                f"line {number} has {len(cells)} cell(s), the last {cells[-1]!r}; write source, target and perhaps a "
                "weight on every line, separated by blanks and without attributes in braces, as "
                "networkx.write_weighted_edgelist(graph, path) does."
            )
    return pd.DataFrame(list(edges.values()), columns=[*ENDS, WEIGHT][:width])


def read_markup(path: Path) -> Any:
    """The networkx graph of a GraphML or GML file, with node ids as text."""
    suffix = format_of(path)
    networkx = needed("networkx", f"a {suffix} file")
    text = text_bytes(path).decode("utf-8-sig")
    if suffix == ".graphml" and ("<!DOCTYPE" in text or "<!ENTITY" in text):  # they can make a small file a large one
        raise BadFileError("it declares entities, which GraphML does not need; export it again without them.")
    graph = networkx.parse_graphml(text) if suffix == ".graphml" else networkx.parse_gml(text)
    for key, items in (("node_default", graph.nodes), ("edge_default", graph.edges)):
        defaults = graph.graph.pop(key, {})  # networkx reads them from GraphML without applying them
        for item in items:
            items[item].update({**defaults, **items[item]})
    twice = [name for name, n in Counter(map(str, graph)).items() if n > 1]
    if twice:
        raise BadFileError(
            f"{len(twice)} label(s) name two nodes, once as a number and once as text, for example {twice[0]}; give "
            "each node a label of its own."
        )
    return networkx.relabel_nodes(graph, str)
