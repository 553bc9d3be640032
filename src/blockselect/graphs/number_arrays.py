"""Arrays that a parameter brings: numbers, and errors that name the entry that is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import FloatArray
from blockselect.errors import ParameterError
from blockselect.graphs.cells import is_number


def as_numbers(parameter: str, values: Any) -> FloatArray:
    """The values in float64; refused where an entry is no real number or masked, or rows differ in length."""
    kind = getattr(values, "dtype", np.dtype(np.float64))
    if getattr(kind, "kind", "") in ("c", "m", "M"):  # NumPy would make numbers of these, and lose what they mean
        raise ParameterError(parameter, f"is of type {kind}; give real numbers.")
    if np.ma.is_masked(values):
        raise ParameterError(parameter, "has masked values; put numbers in their place: array.filled(0).")
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        try:
            entries = np.asarray(values, dtype=object)
        except ValueError:
            entries = np.empty(0, dtype=object)
        for place, entry in np.ndenumerate(entries):
            if not is_number(entry):
                raise ParameterError(
                    parameter, f"holds {entry!r} at {_position(place)}, which is no number; give numbers."
                ) from error
        raise ParameterError(parameter, f"is no array of numbers ({error}); give every row as many.") from error


def check_start(parameter: str, array: FloatArray) -> None:
    """Refuse a start that is not finite, negative somewhere, or zero everywhere."""
    check_entries(
        parameter, array, np.isfinite(array) & (array >= 0), "is negative or not finite; replace it, by 0 say"
    )
    if not array.any():
        raise ParameterError(parameter, "is zero everywhere, from where no step leads on; give a positive entry.")


def check_entries(parameter: str, array: NDArray[Any], fits: NDArray[np.bool_], problem: str) -> None:
    """Refuse an array of which some entry does not fit, by the first of them."""
    if not fits.all():
        place = tuple(int(at) for at in np.argwhere(~fits)[0])
        raise ParameterError(parameter, f"holds {array[place].item()!r} at {_position(place)}, which {problem}.")


def _position(place: tuple[int, ...]) -> str:
    return f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"position {', '.join(map(str, place))}"
