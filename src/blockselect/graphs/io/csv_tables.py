"""CSV tables with a header, read as text or numbers, with errors that say which line or cell is wrong."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray
from blockselect.graphs.cells import is_number
from blockselect.graphs.io.packed import open_text
from blockselect.wording import shortened

LONG = 40  # characters of a cell that an error shows
# The separator is the first of these after the first cell of the header, quoted or not.
FIRST_SEPARATOR = re.compile(r'^(?:"(?:[^"]|"")*"|[^",;\t]*)([,;\t])')


def read_csv_table(path: Path, *, as_text: bool) -> pd.DataFrame:
    """The table of a CSV file, columns named by its header.

    The first column is text, so that 007 stays 007; the others too if `as_text`, and else numbers where all
    cells are. Nothing is taken for a missing value: an empty cell is the empty text.
    """
    try:
        _refuse_nul(path)
        separator = _separator(path)
        with open_text(path, newline="") as lines:
            header = next(csv.reader(lines, delimiter=separator, skipinitialspace=True))
            try:
                table = _parse(lines, separator, as_text)
            except pd.errors.ParserError:
                _check_row_lengths(path, separator, len(header))
                raise
        # A row that is too short ends in empty cells; one that is too long has more than the header.
        if len(header) != table.shape[1] or (table.iloc[:, -1] == "").any():
            _check_row_lengths(path, separator, len(header))
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{path} has a header but no row below it; add one row a node or edge.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except (csv.Error, pd.errors.ParserError) as error:
        raise ValueError(f"{path} is no readable CSV file ({error}); correct it or export it again.") from error
    table.columns = pd.Index([name.strip() for name in header])
    return table


def _parse(lines: TextIO, separator: str, as_text: bool) -> pd.DataFrame:
    return pd.read_csv(
        lines,
        sep=separator,
        header=None,
        dtype=str if as_text else {0: str},
        na_filter=False,
        low_memory=False,  # one type a column, however long
        skipinitialspace=True,
    )


def numeric_cells(cells: pd.DataFrame, node_ids: list[str], path: Path) -> FloatArray:
    """All cells as float64; the first that is no number is named."""
    for position, kind in enumerate(cells.dtypes):
        if kind.kind not in "biuf":
            column = cells.iloc[:, position]
            # As text: whole numbers of hundreds of digits would be integers of Python, which float64 cannot hold.
            numbers = pd.to_numeric(column.astype(str), errors="coerce").to_numpy(dtype=np.float64)
            wrong = np.flatnonzero(~np.isfinite(numbers))
            if wrong.size:
                row = int(wrong[0])
                shown = f"{_shortened(str(column.iloc[row]))!r}, which is not a number (float64)"
                raise _refused_cell(path, row, node_ids, column.name, shown)
    matrix = cells.to_numpy(dtype=np.float64)
    infinite = np.argwhere(np.isinf(matrix))
    if infinite.size:
        row, position = infinite[0].tolist()
        shown = "infinity, or a number that float64 cannot hold (the largest is 1.8e308)"
        raise _refused_cell(path, row, node_ids, cells.columns[position], shown)
    return matrix


def _refused_cell(path: Path, row: int, node_ids: list[str], column: Any, shown: str) -> ValueError:
    where = f"row {row + 1} ({_shortened(node_ids[row])!r}), column {_shortened(str(column))!r}"
    return ValueError(
        f"{path}: {where} holds {shown}; fill in a number (with a decimal point), or encode the column as numbers or "
        "drop it."
    )


def _shortened(cell: str) -> str:
    return cell if len(cell) <= LONG else f"{shortened(cell, LONG)} ({len(cell)} characters)"


def has_no_names(cells: list[str]) -> bool:
    """Whether cells look like a row of data where names belong.

    Whole numbers are names if no two are the same: tables are often written with numbered columns.
    """
    numbers = [float(cell) for cell in cells if is_number(cell)]
    return len(numbers) == len(cells) > 0 and (
        len(set(numbers)) < len(numbers) or not all(number.is_integer() for number in numbers)
    )


def _refuse_nul(path: Path) -> None:
    """Pandas would end a cell at a NUL byte, and take what is before it for the number."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if "\0" in line:
                raise ValueError(
                    f"{path}, line {number} holds a NUL byte, which no text has; the file is damaged, or UTF-16: save "
                    "it again as UTF-8."
                )


def _separator(path: Path) -> str:
    with open_text(path) as lines:
        found = FIRST_SEPARATOR.match(lines.readline())
    if found is None:
        raise ValueError(
            f"{path} has a header of one column only; expected ids and then features, or source and target, "
            "with commas, semicolons or tabs between them."
        )
    return found.group(1)


def _check_row_lengths(path: Path, separator: str, expected: int) -> None:
    with open_text(path, newline="") as lines:
        rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        for row in rows:
            if row and len(row) != expected:
                raise ValueError(
                    f"{path}, line {rows.line_num}: {len(row)} cell(s) where the header has {expected}; give "
                    f"each row one cell a column, with {separator!r} between them as in the header."
                )
