"""Features in tables (CSV, Parquet, Feather): which column holds the ids, columns to drop, text as indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray
from blockselect.graphs.features import FeatureTable
from blockselect.graphs.text_files import BadFileError, check_columns, read_csv_table
from blockselect.parameters import is_number
from blockselect.wording import shortened

_MOST_VALUES = 1000  # of a text column that becomes indicators


@dataclass(frozen=True, slots=True)
class TableColumns:
    """How the columns of a table are used."""

    id_column: str | None = None  # None: the first column, or the index that pandas stored
    drop: Sequence[str] = ()  # columns that are left out
    one_hot: bool = False  # whether each value of a text column becomes an indicator


def read_feature_csv(file: Path, use: TableColumns) -> FeatureTable:
    """The features of a CSV file, whose first column holds the ids unless `use` says otherwise."""
    table = read_csv_table(file, as_text=False, text_column=use.id_column)
    header = table.columns.tolist()
    if _looks_like_data(header[1:]) or all(map(is_number, header)):
        raise BadFileError(
            f"the first line {header[:4]} looks like data; expected a header that names the id column and then each "
            "feature. Add it (or put a letter before such names)."
        )
    if "" in header[1:]:
        raise BadFileError(f"column {header.index('', 1) + 1} has no name; name it in the header.")
    if use.id_column is not None and header[0] == "":
        table = table.iloc[:, 1:]  # the row numbers of pandas
    found = _ids_and_features(table, header[0], use)
    return replace(found, matrix=_numbers(found.matrix, found.node_ids))


def features_of_frame(frame: pd.DataFrame, use: TableColumns) -> FeatureTable:
    """Features of a stored frame; its ids are a column, the index that pandas stored, or a first column of ids."""
    name = None
    if frame.index.name is not None or not counts_rows(frame.index):
        if use.id_column in (None, frame.index.name):
            name = str(frame.index.name)
            frame.insert(0, name, frame.index, allow_duplicates=True)
    elif use.id_column is None and frame.shape[1] > 1 and may_be_ids(frame.iloc[:, 0]):
        first = str(frame.columns[0])
        if _is_called_id(first) or not _is_numeric(frame.iloc[:, 0]):
            name = first
        elif first not in use.drop:
            raise BadFileError(
                f"the first column {first!r} holds a different whole number in each row; if these are the ids of the "
                f"nodes, give id_column={first!r} (--id-column {first}); if it is a feature, put another column first, "
                "or store the row numbers as ids: frame.rename_axis('id')."
            )
    return _ids_and_features(frame.reset_index(drop=True), name, use)


def counts_rows(index: pd.Index[Any]) -> bool:
    """Whether an index only counts 0, 1, …, as it does by default."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def may_be_ids(column: pd.Series[Any]) -> bool:
    """Whether the first column of a table holds ids or looks so: text, the name id, or distinct whole numbers."""
    if _is_called_id(column.name) or not _is_numeric(column):
        return True
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.dtype.kind != "b" and column.is_unique and bool((numbers % 1 == 0).all())


def _is_called_id(name: Any) -> bool:
    return str(name).strip().lower() == "id"


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, possibly as categories."""
    dtype = column.dtype
    return pd.api.types.is_numeric_dtype(dtype.categories if isinstance(dtype, pd.CategoricalDtype) else dtype)


def _ids_and_features(table: pd.DataFrame, id_column: str | None, use: TableColumns) -> FeatureTable:
    """Take a table apart; `id_column` holds the ids unless `use` names another column."""
    names = [str(name) for name in table.columns]
    id_column = use.id_column or id_column
    check_columns([*use.drop, *([] if id_column is None else [id_column])], names)
    if id_column is not None and id_column in use.drop and names.count(id_column) == 1:  # an index may share its name
        raise BadFileError(f"column {id_column!r} holds the ids of the nodes and cannot be dropped.")
    at_ids = None if id_column is None else names.index(id_column)
    ids = None
    if at_ids is not None:
        column = table.iloc[:, at_ids]
        ids = column.astype(str).mask(column.isna(), "").to_numpy(dtype=object)
    if ids is not None and "" in ids:
        raise BadFileError(f"row {ids.tolist().index('') + 1} has no id in the column {id_column!r}; give it one.")
    kept = [at for at, name in enumerate(names) if at != at_ids and name not in use.drop]
    if not kept:
        raise BadFileError("no column is left that could hold features; drop fewer columns.")
    cells = _one_hot(table.iloc[:, kept]) if use.one_hot else table.iloc[:, kept]
    return FeatureTable(cells, ids, cells.columns.to_numpy(dtype=object))


def _one_hot(cells: pd.DataFrame) -> pd.DataFrame:
    """Replace each column of text by one indicator per value, called ``column=value``; empty cells have none."""
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
                f"categories; leave it out with --drop {name}, or, if it holds the ids of the nodes, give --id-column "
                f"{name}."
            )
        parts.append(pd.get_dummies(texts, prefix=str(name), prefix_sep="=", dtype=float))
    return pd.concat(parts, axis=1)


def _is_text(column: pd.Series) -> bool:
    """Whether most cells of a column are text. Single words among numbers are mistakes, not categories."""
    if column.dtype.kind in "biuf":
        return False
    cells = [str(cell) for cell in column.dropna().tolist() if str(cell).strip()]
    return 2 * sum(map(is_number, cells)) < len(cells)


def _looks_like_data(names: list[str]) -> bool:
    """Whether names are numbers that are not whole or not distinct: tables are often written with numbered columns."""
    numbers = [float(name) for name in names if is_number(name)]
    return len(numbers) == len(names) and not (
        len(set(numbers)) == len(numbers) and all(number.is_integer() for number in numbers)
    )


def _numbers(cells: pd.DataFrame, node_ids: Any) -> FloatArray:
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
            "which is not a finite number (float64 holds up to 1.8e308); fill in a number (with a decimal point), "
            f"leave the column out with --drop {name}, make indicators of all text columns with --one-hot, or, if "
            f"this column holds the ids of the nodes, give --id-column {name}."
        )
    return matrix
