"""Cells that are numbers, and those that only look like numbers: text, dates, masked and complex values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_PLAIN = (bool, float, np.bool_, np.integer, np.floating)  # int may be too large for float64
_NOT_REAL = (
    complex,
    np.complexfloating,
    np.datetime64,
    np.timedelta64,
)  # float() takes these, and loses what they mean


def check_cells(matrix: Any, name: str) -> None:
    """Refuse what NumPy would make a number without a word, and name the first cell that is none.

    Parameters
    ----------
    matrix : DataFrame or array
        Of any type; sparse matrices hold numbers alone.
    name : str
        What it is called in an error.
    """
    if isinstance(matrix, pd.DataFrame):
        _check_columns(matrix, name)
    elif isinstance(matrix, np.ndarray):
        refuse_mask(matrix, name)
        if matrix.dtype.kind in "OUS":
            _check_objects(matrix, name)
        check_kind(matrix.dtype, name)


def refuse_mask(array: NDArray[Any], name: str) -> None:
    """Masked values have no number that could be used in their place."""
    if np.ma.is_masked(array):
        hidden = np.argwhere(np.ma.getmaskarray(array))
        where = ", ".join(f"{axis} {at}" for axis, at in zip(("row", "column"), hidden[0].tolist(), strict=False))
        raise ValueError(
            f"{name} has {len(hidden)} masked value(s), first at {where}; put numbers in their place "
            "(array.filled(0)) or drop these rows or columns."
        )


def check_kind(dtype: Any, name: str) -> None:
    """Refuse types that hold no real numbers."""
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {dtype}; pass real numbers.")
    if dtype.kind not in "biufO":
        raise ValueError(f"{name} is of type {dtype}; encode it as numbers first.")


def is_number(entry: Any) -> bool:
    """Whether float64 can hold it, be it a real number or the text of one."""
    if isinstance(entry, _NOT_REAL):
        return False
    try:
        float(entry)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _check_columns(frame: pd.DataFrame, name: str) -> None:
    for position, kind in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(kind) and getattr(kind, "kind", "f") != "c":
            continue
        column = frame.columns[position]
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            cells = frame.iloc[:, position].to_numpy(dtype=object)
            at = _first_no_number(cells)
            if at is not None:
                _refuse_cell(cells[at], f"row {frame.index.tolist()[at[0]]!r}, column {column!r}", name)
        elif getattr(kind, "kind", "") == "c":
            raise ValueError(f"Complex data not supported: column {column!r} of {name} is {kind}; pass real numbers.")
        else:
            raise ValueError(
                f"column {column!r} of {name} is of type {kind}, which holds no numbers; encode it as numbers, or drop "
                "the column."
            )


def _check_objects(array: NDArray[Any], name: str) -> None:
    at = _first_no_number(array)
    if at is not None:
        where = ", ".join(f"{axis} {place}" for axis, place in zip(("row", "column"), at, strict=False))
        _refuse_cell(array[at], where, name)


def _first_no_number(array: NDArray[Any]) -> tuple[int, ...] | None:
    """Where the first cell stands that is no number; None stands for a missing one, which a later check names."""
    doubtful = {kind for kind in set(map(type, array.flat)) if not issubclass(kind, (*_PLAIN, type(None)))}
    if not doubtful:
        return None
    cells = np.ndenumerate(array)
    return next((at for at, cell in cells if type(cell) in doubtful and not is_number(cell)), None)


def _refuse_cell(cell: Any, where: str, name: str) -> None:
    cell = cell.item() if isinstance(cell, np.generic) else cell
    problem = f"{name} holds {cell!r} at {where}, which is not a float64 number; encode it as a number first"
    if isinstance(cell, str | bytes | int):
        raise ValueError(f"{problem}.")
    # What is neither text nor a number is a TypeError in these words: scikit-learn's contract.
    raise TypeError(f"{problem}: the argument must be a string or a real number.")
