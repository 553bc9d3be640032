"""Checks of the parameters of functions: numbers, arrays of numbers, names and random generators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from blockselect.utils.arrays import FloatArray, ObjectArray
from blockselect.utils.errors import ParameterError

Thing = TypeVar("Thing")
_LISTED = 30  # maximum number of names in a message
_LARGEST_SEED = 2**32 - 1  # limit of RandomState, which scikit-learn uses
_NOT_REAL = (complex, np.complexfloating, np.datetime64, np.timedelta64)  # float() converts these silently


def check_whole(parameter: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number within limits; True and 3.0 are rejected."""
    if not _is_whole(value) or value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ParameterError(parameter, f"is {value!r}; expected a whole number, {limits}.")
    return int(value)


def check_real(parameter: str, value: Any, low: float, high: float) -> float:
    """Return a finite number from `low` to `high`, both included."""
    number = _as_float(value)
    if not (low <= number <= high and np.isfinite(number)):
        limits = f"from {low:g} to {high:g}" if np.isfinite(high) else f"at least {low:g}"
        raise ParameterError(parameter, f"is {value!r}; expected a finite number {limits}.")
    return number


def check_share(parameter: str, value: Any) -> float:
    """Return a number between 0 and 1, both excluded."""
    number = _as_float(value)
    if not 0 < number < 1:
        raise ParameterError(parameter, f"is {value!r}; expected a share between 0 and 1, such as 0.1.")
    return number


def check_seed(parameter: str, value: Any, n_runs: int = 1) -> int:
    """Return the first of `n_runs` consecutive seeds."""
    return check_whole(parameter, value, 0, _LARGEST_SEED - n_runs + 1)


def check_n_jobs(value: Any) -> int | None:
    """Return the number of processes or threads: None or any whole number except 0; −1 means all cores."""
    if value is not None and (not _is_whole(value) or value == 0):
        raise ParameterError("n_jobs", f"is {value!r}; expected a whole number other than 0 (-1: all cores), or None.")
    return None if value is None else int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _as_float(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return float("nan")
    return float(value)


def check_within(parameter: str, value: int, most: int, why: str, least: int = 1) -> None:
    """Check that an integer is from `least` to `most`; `why` is the reason for the limit: "the graph has 4 nodes"."""
    if not least <= value <= most:
        raise ParameterError(parameter, f"is {value} but {why}; choose {least} to {most}.")


def as_numbers(
    parameter: str, values: Any, shape: Sequence[int | None] | None = None, expected: str = ""
) -> FloatArray:
    """Convert to float64; masked values and values other than real numbers are rejected.

    None in `shape` stands for any length above 0; `expected` describes the required shape in the error message.
    """
    kind = getattr(values, "dtype", np.dtype(np.float64))
    if getattr(kind, "kind", "") in ("c", "m", "M"):  # NumPy would convert these silently
        raise ParameterError(parameter, f"is of type {kind}; pass real numbers.")
    if np.ma.is_masked(values):
        raise ParameterError(parameter, "has masked values; put numbers in their place: array.filled(0).")
    try:
        array: FloatArray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(parameter, f"is not an array of numbers ({error}); pass numbers.") from error
    if shape is not None and (
        array.ndim != len(shape)
        or not all(n > 0 if wanted is None else n == wanted for n, wanted in zip(array.shape, shape, strict=True))
    ):
        raise ParameterError(parameter, f"has shape {array.shape}; expected {expected}.")
    return array


def check_start(parameter: str, array: FloatArray) -> None:
    """Check that a starting point is finite and non-negative, with at least one positive entry."""
    check_entries(
        parameter, array, np.isfinite(array) & (array >= 0), "is negative or not finite; replace it, for example with 0"
    )
    if not array.any():
        raise ParameterError(parameter, "is zero everywhere, and the search cannot start there; pass a positive entry.")


def check_entries(parameter: str, array: NDArray[Any], fits: NDArray[np.bool_], problem: str) -> None:
    """Raise an error that names the first invalid entry."""
    if not fits.all():
        place = tuple(int(at) for at in np.argwhere(~fits)[0])
        raise ParameterError(parameter, f"contains {array[place].item()!r} at {_position(place)}, which {problem}.")


def _position(place: tuple[int, ...]) -> str:
    return f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"position {', '.join(map(str, place))}"


def is_number(entry: Any) -> bool:
    """Whether the entry is a real number, or text that represents one, in the range of float64."""
    if isinstance(entry, _NOT_REAL):
        return False
    try:
        float(entry)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def check_page_path(path: str | Path, parameter: str = "path") -> Path:
    """Return the path of the HTML page to be written."""
    place = Path(path)
    if place.suffix.lower() != ".html":
        raise ParameterError(
            parameter,
            f"is {str(path)!r}, but a report is an HTML page; choose a name that ends in .html (a browser can print "
            "the page as PDF).",
        )
    return place


def look_up(name: str, known: Mapping[str, Thing], *, what: str) -> Thing:
    """Return the item with this name; `what` is its kind, as in "no method is called 'x'".

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known names and suggests the closest one.
    """
    check_known([name], known, what=what)
    return known[name]


def check_known(names: Iterable[str], known: Iterable[str], *, what: str) -> None:
    """Raise an error for the first unknown name."""
    all_known = list(known)
    for name in names:
        if name not in all_known:
            more = f", and {len(all_known) - _LISTED:,} more" if len(all_known) > _LISTED else ""
            listed = ", ".join(map(str, all_known[:_LISTED])) + more
            close = get_close_matches(str(name).lower(), all_known, n=1)
            guess = f" Did you mean {close[0]}?" if close else ""
            raise ValueError(f"no {what} is called {name!r}; choose one of: {listed}.{guess}")


def generator_from(random_state: Any) -> np.random.Generator:
    """Convert an int, a RandomState or None to a generator; a RandomState advances by one draw."""
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def as_generator(rng: Any) -> np.random.Generator:
    """Return a generator as it is, or make one from a seed or a RandomState, which advances by one draw."""
    if isinstance(rng, np.random.RandomState):  # the generator that NumPy would make from it cannot be split
        return generator_from(rng)
    return np.random.default_rng(rng)


def check_names(names: Iterable[Any] | None, expected: int, what: str, axis: str) -> ObjectArray | None:
    """Check node ids or feature names: one per row or column, none missing, no duplicates."""
    if names is None:
        return None
    refuse_unordered(names, f"{what.replace(' ', '_')}s")
    # Scalars of NumPy and pandas would appear as np.str_('a') in messages.
    listed = names.tolist() if isinstance(names, np.ndarray | pd.Index | pd.Series) else list(names)
    if len(listed) != expected:
        raise ValueError(
            f"there are {len(listed)} {what}s but features has {expected} {axis}s; give one for each {axis}."
        )
    array = np.empty(expected, dtype=object)
    array[:] = listed
    index = pd.Index(array, dtype=object, tupleize_cols=False)
    if index.hasnans:
        at = int(np.flatnonzero(index.isna())[0])
        raise ValueError(f"{axis} {at} has no {what} (it is {array[at]!r}); give each {axis} a {what}.")
    if not index.is_unique:
        twice = index[index.duplicated()].unique().tolist()
        raise ValueError(f"{len(twice)} duplicate {what}(s), for example {twice[:3]}; make each {what} unique.")
    return array


def refuse_unordered(values: Any, what: str) -> None:
    """Raise an error for values without an order, such as a set, which cannot be matched with rows or columns."""
    if isinstance(values, AbstractSet) or not hasattr(values, "__iter__"):
        raise ParameterError(what, f"is of type {type(values).__name__}; expected a list in the order of the data.")


def check_n_blocks(n_blocks: int, n_nodes: int) -> None:
    """Check that there are at most as many blocks as nodes."""
    check_within("n_blocks", n_blocks, n_nodes, f"the graph has {n_nodes} nodes")
