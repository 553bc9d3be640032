"""Feature tables (text, Excel, Parquet, Feather): their ids, their header, and their cells as numbers."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blockselect.inputs.arrow_files import read_arrow
from blockselect.inputs.kinds import FeatureTable
from blockselect.inputs.text_files import BadFileError, check_columns, check_unpacked, format_of, note, read_csv_table
from blockselect.rows.matrices import _is_called_id, _is_numeric, counts_rows, may_be_ids
from blockselect.utils.arrays import FloatArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import needed
from blockselect.utils.parameters import is_number
from blockselect.utils.wording import count, shortened

CSV = (".csv", ".tsv", ".txt")
EXCEL = ".xlsx"
ARROW = (".parquet", ".feather")
_MOST_VALUES = 1000  # maximum number of different texts in a column that is replaced by indicators
_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None")  # cells that count as missing among numbers
_EXCEL_DIGITS = 15  # digits that Excel keeps of a whole number


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read the columns of a table, or the attributes of nodes; see :func:`blockselect.inputs.read_features`."""

    id_column: str | None = None  # if None, the first column, or the index that pandas stored
    drop: Sequence[str] = ()  # columns that are left out
    one_hot: bool = False  # whether each value of a text column becomes an indicator
    fill: float | None = None  # the number for empty cells; if None, they are an error
    decimal: str = "."
    header: bool = True

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ParameterError("decimal", f"is {self.decimal!r}; choose '.' or ','.")
        if self.fill is not None and not np.isfinite(self.fill):
            raise ParameterError("fill", f"is {self.fill}; choose a finite number such as 0.")


def read_feature_table(file: Path, options: TableOptions) -> FeatureTable:
    """Read the features of a table as numbers."""
    table = read_columns(file, options)
    cells = table.matrix
    twice = cells.columns[cells.columns.duplicated()]
    if len(twice):
        places = [str(at + 1) for at, name in enumerate(cells.columns) if name == twice[0]]
        raise BadFileError(
            f"{len(places)} columns are called {twice[0]!r} (features {', '.join(places[:4])}); rename all but one of "
            f"them, or drop them all with drop=[{twice[0]!r}]."
        )
    if options.one_hot:
        cells = _one_hot(cells)
    names = cells.columns.to_numpy(dtype=object)
    return replace(table, matrix=_numbers(cells, table.node_ids, options.fill), feature_names=names)


def read_columns(file: Path, options: TableOptions) -> FeatureTable:
    """Read the ids and the columns that are not dropped; cells keep their values from the file."""
    if format_of(file) in ARROW:
        table, id_column = _with_column_of_ids(read_arrow(file), options)
    else:
        if format_of(file) == EXCEL:
            table = read_excel_table(file, header=options.header)
        else:
            table = read_csv_table(file, text=options.id_column, header=options.header, decimal=options.decimal)
        if options.header:
            _check_header(table.columns.tolist())
            if options.id_column is not None and table.columns[0] == "":
                table = table.iloc[:, 1:]  # without the row numbers of pandas
            id_column = options.id_column or table.columns[0]
        else:
            if options.id_column != "0" and all(map(is_number, table["0"])):
                table = table.assign(**{"0": pd.to_numeric(table["0"])})
            table, id_column = _with_column_of_ids(table, options)
            ids = "no ids" if id_column is None else f"ids in column {id_column}"
            note("read %s without a header: %s; features are named by their column number, from 0", file.name, ids)
    return _split(table, id_column, options.drop)


def read_excel_table(file: Path, *, header: bool = True) -> pd.DataFrame:
    """Read the first sheet of an Excel file; columns are named by its first row, or numbered ("0", "1", …)."""
    needed("openpyxl", "an .xlsx file")
    with zipfile.ZipFile(file) as archive:
        check_unpacked(sum(member.file_size for member in archive.infolist()), file)
    with pd.ExcelFile(file, engine="openpyxl") as book:
        sheets = book.sheet_names
        cells = pd.read_excel(book, header=None, dtype=object, keep_default_na=False, na_values=[""])
    if len(sheets) > 1:
        note("read the first of %d sheets of %s, %r", len(sheets), file.name, sheets[0])
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if len(cells) <= header or cells.shape[1] < 2:
        raise BadFileError(f"its first sheet {sheets[0]!r} has no table with a header, rows and at least two columns.")
    large = cells.map(lambda cell: isinstance(cell, int) and abs(cell) >= 10**_EXCEL_DIGITS).to_numpy()
    if large[:, :2].any():  # the column of ids, or source and target
        raise BadFileError(
            f"ids such as {cells.to_numpy()[large][0]} have more than {_EXCEL_DIGITS} digits, and Excel replaces the "
            "last ones with zeros; format the id column as text."
        )
    if not header:
        return cells.set_axis([str(at) for at in range(cells.shape[1])], axis=1).infer_objects()
    names = ["" if pd.isna(name) else str(name).strip() for name in cells.iloc[0]]
    return cells.iloc[1:].set_axis(names, axis=1).infer_objects().reset_index(drop=True)


def _check_header(names: list[str]) -> None:
    """Raise an error for a header that seems to be data, or in which a feature has no name."""
    numbers = [float(name) for name in names[1:] if is_number(name)]
    may_number_columns = len(set(numbers)) == len(numbers) and all(number.is_integer() for number in numbers)
    if len(numbers) == len(names) - 1 and (is_number(names[0]) or not may_number_columns):
        raise BadFileError(
            f"the first line {names[:4]} looks like data; expected a header that names the id column and then each "
            "feature. Add it (or put a letter before such names), or give header=False."
        )
    if "" in names[1:]:
        raise BadFileError(f"column {names.index('', 1) + 1} has no name; name it in the header.")


def _with_column_of_ids(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, str | None]:
    """Find the ids: in the column that the options name, the index that pandas stored, or a first column of ids."""
    id_column = options.id_column
    if frame.index.name is not None or not counts_rows(frame.index):
        if id_column in (None, frame.index.name):
            id_column = str(frame.index.name)
            frame.insert(0, id_column, frame.index, allow_duplicates=True)
    elif id_column is None and frame.shape[1] > 1 and may_be_ids(frame.iloc[:, 0]):
        first = str(frame.columns[0])
        if _is_called_id(first) or not _is_numeric(frame.iloc[:, 0]):
            id_column = first
        elif first not in options.drop:
            raise BadFileError(
                f"the first column {first!r} contains a different whole number in each row; if these are the ids of "
                f"the nodes, give id_column={first!r}; if it is a feature, put another column first, or store the row "
                "numbers as ids: frame.rename_axis('id')."
            )
    return frame.reset_index(drop=True), id_column


def _split(table: pd.DataFrame, id_column: str | None, drop: Sequence[str]) -> FeatureTable:
    """Split a table into ids and features, and drop the columns in `drop`."""
    names = [str(name) for name in table.columns]
    check_columns([*drop, *([] if id_column is None else [id_column])], names)
    at_ids, ids = None, None
    if id_column is not None:
        if id_column in drop and names.count(id_column) == 1:  # a feature may have the name of the index
            raise BadFileError(f"column {id_column!r} contains the ids of the nodes and cannot be dropped.")
        at_ids = names.index(id_column)
        column = table.iloc[:, at_ids]
        ids = column.astype(str).mask(column.isna(), "").to_numpy(dtype=object)
        if "" in ids:
            raise BadFileError(f"row {ids.tolist().index('') + 1} has no id in the column {id_column!r}; give it one.")
    kept = [at for at, name in enumerate(names) if at != at_ids and name not in drop]
    if not kept:
        raise BadFileError("no column is left for features; drop fewer columns.")
    cells = table.iloc[:, kept]
    return FeatureTable(cells, ids, cells.columns.to_numpy(dtype=object))


def _one_hot(cells: pd.DataFrame) -> pd.DataFrame:
    """Replace each text column by one indicator per value, named ``column=value``; all are 0 for an empty cell."""
    parts = []
    for at, name in enumerate(cells.columns):
        column = cells.iloc[:, at]
        if not _is_text(column):
            parts.append(cells.iloc[:, [at]])
            continue
        texts = column.astype("string").str.strip()
        texts = texts.mask(texts == "")
        n_values = texts.nunique()
        if n_values == len(texts) or n_values > _MOST_VALUES:
            raise BadFileError(
                f"column {str(name)!r} has {n_values:,} different texts in {len(texts):,} rows, too many to be "
                f"categories; leave it out with drop=[{str(name)!r}], or, if it contains the ids of the nodes, give "
                f"id_column={str(name)!r}."
            )
        parts.append(pd.get_dummies(texts, prefix=str(name), prefix_sep="=", dtype=float))
    return pd.concat(parts, axis=1)


def _is_text(column: pd.Series) -> bool:
    """Whether most cells of a column are text; a few words among numbers are mistakes, not categories."""
    if column.dtype.kind in "biuf":
        return False
    cells = [str(cell) for cell in column.dropna().tolist() if str(cell).strip()]
    return 2 * sum(map(is_number, cells)) < len(cells)


def _numbers(cells: pd.DataFrame, node_ids: Any, fill: float | None) -> FloatArray:
    """Convert cells to numbers, and empty ones to `fill`; an error names the first cell that is not a finite number."""
    numbers = {}
    for at, kind in enumerate(cells.dtypes):
        if kind.kind not in "biuf":  # via text, because float64 cannot hold whole numbers with hundreds of digits
            texts = cells.iloc[:, at].astype(str).replace({"True": "1", "False": "0"})
            numbers[at] = pd.to_numeric(texts, errors="coerce")
    if numbers:
        columns = [numbers.get(at, cells.iloc[:, at]) for at in range(cells.shape[1])]
        matrix = np.column_stack(columns).astype(np.float64)
    else:
        kind = np.float32 if (cells.dtypes == np.float32).all() else np.float64
        matrix = cells.to_numpy(dtype=kind, na_value=np.nan)
    wrong = ~np.isfinite(matrix)
    if not wrong.any():
        return matrix
    missing = wrong & (cells.isna() | cells.isin(_MISSING)).to_numpy()
    n_missing = count(int(missing.sum()), "empty cell")
    only_missing = (wrong == missing).all()
    if only_missing and fill is not None:
        note("filled %s with %g", n_missing, fill)
        return np.where(missing, matrix.dtype.type(fill), matrix)
    row, column = np.argwhere(missing if only_missing else wrong & ~missing)[0].tolist()
    cell, name = str(cells.iloc[row, column]), str(cells.columns[column])
    node = "" if node_ids is None else f" ({shortened(node_ids[row])!r})"
    place = f"row {row + 1}{node}, column {shortened(name)!r}"
    if only_missing:
        raise BadFileError(
            f"{place} is empty ({n_missing} in total); give fill=0 to read empty cells as 0, or leave the column out "
            f"with drop=[{name!r}]."
        )
    if "," in cell and is_number(cell.replace(",", ".", 1)):
        cure = "give decimal=',' if commas are decimal points"
    elif cell.lstrip("-").isdigit():
        cure = "divide the column by its largest number, because float64 ends at 1.8e308"
    else:
        cure = "fill in a number"
    raise BadFileError(
        f"{place} contains {shortened(cell)!r}, which is not a finite number; {cure}, leave the column out with "
        f"drop=[{name!r}], turn all text columns into indicators with one_hot=True, or, if this column contains the "
        f"ids of the nodes, give id_column={name!r}."
    )
