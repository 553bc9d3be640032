"""Text files and text tables, read by pandas; the module `files` lists what pandas would misread."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO, TextIOWrapper
from itertools import islice
from logging import getLogger
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blockselect.utils.arrays import ObjectArray
from blockselect.utils.parameters import check_known

UNPACKED_BYTES = 2**30  # a compressed file may unpack to this size in any case,
UNPACKED_RATIO = 200  # and a large file to this many times its own size
ADVICE = {
    ".npz": "save the matrix with scipy.sparse.save_npz(path, matrix) or numpy.savez(path, matrix).",
    ".npy": "save a matrix of numbers with numpy.save(path, matrix).",
    ".mtx": "save the matrix with scipy.io.mmwrite(path, matrix).",
    ".mat": "save one matrix in it, in MATLAB with save('file.mat', 'X', '-v7').",
    ".h5ad": "write it with adata.write_h5ad(path).",
    ".parquet": "write it again, for example with pandas.",
    ".feather": "write it again, for example with pandas.",
    ".xlsx": "save it again in Excel, or as .csv.",
}
BLANKS = r"\s+"
note = getLogger("blockselect.files").info
"""Log in one line how a file was read, if users may not expect it; the command stores these lines in run.json."""


class BadFileError(ValueError):
    """A problem with a file and its remedy; `reading` adds the name of the file."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every error raised while a file is read into one that names the file and a remedy.

    Given damaged files, NumPy, SciPy, pandas, networkx, h5py and pyarrow raise almost any type of exception. Only an
    ImportError, for a missing package, is not due to the file.
    """
    if not path.is_file():  # a pipe can be read only once, and a device may never end
        raise FileNotFoundError(f"{path} does not exist or is not a file; check the path.")
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
        if "pickle" in reason or "Python objects" in reason:  # the message of NumPy recommends loading them
            reason = "it is damaged or contains pickled objects, which could run code"
        packing = " packed with gzip" if is_packed(path) else ""
        advice = ADVICE.get(format_of(path), f"correct it or export it again, as UTF-8 text{packing}.")
        raise ValueError(f"{path} could not be read: {reason}; {advice}") from error


def format_of(path: Path) -> str:
    """Return the suffix of the format: .csv for edges.csv.gz."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def most_unpacked(path: Path) -> int:
    """Return the largest number of bytes to which a compressed file may unpack."""
    return max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)


def check_unpacked(n_bytes: int, path: Path) -> None:
    """Raise an error if a compressed file unpacks to many times its size, as real data does not."""
    if n_bytes > most_unpacked(path):
        raise BadFileError(
            f"its {path.stat().st_size:,} bytes unpack to {n_bytes:,} or more, but at most {most_unpacked(path):,} are "
            "allowed; store the matrix as a sparse one, or without compression."
        )


def text_bytes(path: Path) -> bytes:
    """Return the unpacked content of a text file, without a byte-order mark."""
    if is_packed(path):
        parts, total = [], 0
        with gzip.open(path) as packed:
            while part := packed.read(2**16):
                parts.append(part)
                total += len(part)
                check_unpacked(total, path)
        content = b"".join(parts)
    else:
        content = path.read_bytes()
    at = content.find(b"\0")
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise BadFileError(
            f"line {line} contains a NUL byte, so the file is damaged or UTF-16; save it again as UTF-8."
        )
    return content.removeprefix(codecs.BOM_UTF8)


def find_separator(line: str, decimal: str = ".") -> str | None:
    """Return the first comma, semicolon or tab after the first cell of a line, which may be quoted, or None."""
    separators = ";\\t" if decimal == "," else ",;\\t"
    found = re.match(rf'^(?:"(?:[^"]|"")*"|[^"{separators}]*)([{separators}])', line)
    return None if found is None else found[1]


def read_csv_table(
    path: Path, *, text: str | None = None, as_text: bool = False, header: bool = True, decimal: str = "."
) -> pd.DataFrame:
    """Read a CSV file; columns are named by its header, or numbered ("0", "1", …) if it has none.

    The first column, or the one called `text`, is read as text, so that 007 stays 007; with `as_text`, all columns are.
    Otherwise, a column is numeric if all its cells are numbers. Only empty cells are missing. Text is stripped of
    blanks.
    """
    content = text_bytes(path)
    lines = TextIOWrapper(BytesIO(content), encoding="utf-8", newline="")
    separator = find_separator(lines.readline(), decimal)
    if separator is None:
        raise BadFileError(
            "the header has only one column; expected ids and then features, or source and target, separated by "
            "commas, semicolons or tabs."
        )
    lines.seek(0)
    names = [name.strip() for name in next(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))]
    if not header:
        names = [str(at) for at in range(len(names))]
    if text is not None:
        check_columns([text], names)
    kinds: Any = str if as_text else {0 if text is None else names.index(text): str}
    return parse_table(content, separator, names, header=header, dtype=kinds, decimal=decimal)


def parse_table(
    content: bytes, separator: str, names: list[str], *, header: bool, dtype: Any, skip: int = 0, decimal: str = "."
) -> pd.DataFrame:
    """Read a table with pandas, starting below `skip` lines and any header; its columns are called `names`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                BytesIO(content),
                sep=separator,
                header=0 if header else None,
                names=range(len(names)),  # because pandas would rename duplicates
                index_col=False,
                dtype=dtype,
                keep_default_na=False,
                na_values=[""],
                decimal=decimal,
                skiprows=skip,
                skipinitialspace=True,
                low_memory=False,  # one type per column, even in long files
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        if "EOF inside string" not in str(error):
            _refuse_ragged(content, separator, len(names), skip)
        raise
    if table.empty:
        raise BadFileError("there is no row below the header; add one row per node or edge.")
    if table.iloc[:, -1].hasnans:  # pandas pads short rows
        _refuse_ragged(content, separator, len(names), skip)
    for at in table.select_dtypes(include=["object", "string"]):
        with suppress(AttributeError):  # Boolean values and missing cells
            table[at] = table[at].str.strip()
    return table.set_axis(names, axis=1)


def _refuse_ragged(content: bytes, separator: str, width: int, skip: int) -> None:
    """Raise an error for the first row that has more or fewer cells than columns."""
    lines: Iterable[str] = islice(TextIOWrapper(BytesIO(content), encoding="utf-8", newline=""), skip, None)
    if separator == BLANKS:
        lines, separator = (" ".join(line.split()) for line in lines), " "
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    for row in rows:
        if len(row) != width and any(cell.strip() for cell in row):
            raise BadFileError(
                f"line {skip + rows.line_num} has {len(row)} cell(s), but the first line has {width}; write one cell "
                f"per column in each row, with {separator!r} between them as in the first line."
            )


def check_columns(names: Iterable[str], header: Iterable[str]) -> None:
    """Raise an error for a column that the file does not have."""
    try:
        check_known(names, header, what="column")
    except ValueError as error:
        raise BadFileError(str(error)) from error


def read_names(path: Path, *, column: int = 0) -> ObjectArray:
    """Read one name per line, without a header; if lines contain tabs, the names are in column number `column`."""
    with reading(path):
        lines = text_bytes(path).decode().rstrip("\r\n").split("\n")
        names = [(line.split("\t") + [""] * column)[column].strip() for line in lines]
        if "" in names:
            raise BadFileError(f"line {names.index('') + 1} has no name; write one name per line.")
        return np.array(names, dtype=object)
