"""Checks of the parameters of functions: numbers, arrays of numbers and random generators."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from blockselect.arrays import FloatArray
from blockselect.errors import ParameterError

_LARGEST_SEED = 2**32 - 1  # of NumPy's older generators, which scikit-learn uses

_NOT_REAL = (
    complex,
    np.complexfloating,
    np.datetime64,
    np.timedelta64,
)  # float() takes these, and loses what they mean


def check_whole(parameter: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number within limits; True and 3.0 are none."""
    if not _is_whole(value) or value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ParameterError(parameter, f"is {value!r}; expected a whole number, {limits}.")
    return int(value)


def check_real(parameter: str, value: Any, low: float, high: float) -> float:
    """A finite number from `low` to `high`, both included."""
    number = _as_float(value)
    if not (low <= number <= high and np.isfinite(number)):
        limits = f"from {low:g} to {high:g}" if np.isfinite(high) else f"at least {low:g}"
        raise ParameterError(parameter, f"is {value!r}; expected a finite number {limits}.")
    return number


def check_share(parameter: str, value: Any) -> float:
    """A number between 0 and 1, neither of them included."""
    number = _as_float(value)
    if not 0 < number < 1:
        raise ParameterError(parameter, f"is {value!r}; expected a share between 0 and 1, such as 0.1.")
    return number


def check_seed(parameter: str, value: Any, n_runs: int = 1) -> int:
    """The first of so many seeds that follow each other."""
    return check_whole(parameter, value, 0, _LARGEST_SEED - n_runs + 1)


def check_n_jobs(value: Any) -> int | None:
    """How many processes or threads: any whole number but 0, of which those below 0 count from all cores on."""
    if value is not None and (not _is_whole(value) or value == 0):
        raise ParameterError("n_jobs", f"is {value!r}; expected a whole number other than 0 (-1: all cores), or None.")
    return None if value is None else int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _as_float(value: Any) -> float:
    return float("nan") if isinstance(value, bool | np.bool_) or not isinstance(value, Real) else float(value)


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


def is_number(entry: Any) -> bool:
    """Whether float64 can hold it, be it a real number or the text of one."""
    if isinstance(entry, _NOT_REAL):
        return False
    try:
        float(entry)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def generator_from(random_state: Any) -> np.random.Generator:
    """The generator that an int, a RandomState or None stands for; a RandomState moves on by one draw."""
    return np.random.default_rng(random_state_from(random_state).randint(np.iinfo(np.int32).max))


def random_state_from(random_state: Any) -> np.random.RandomState:
    """The RandomState that an int, a RandomState or None stands for.

    Raises
    ------
    ParameterError
        If it is none of these.
    """
    try:
        state: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise ParameterError(
            "random_state", f"is {random_state!r}; expected a whole number from 0 to 4294967295, a RandomState or None."
        ) from error
    return state


def as_generator(rng: Any) -> np.random.Generator:
    """The generator itself, or a new one from a seed; a RandomState moves on by one draw.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if isinstance(rng, np.random.RandomState):  # what NumPy makes of it cannot be split
        return generator_from(rng)
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "rng", f"is {rng!r}; expected a numpy.random.Generator, or a whole number from 0 on that seeds one."
        ) from error
