"""Single numbers that a parameter of a function brings: whole or real, within limits. Estimators have constraints."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from blockselect.errors import ParameterError

_LARGEST_SEED = 2**32 - 1  # of NumPy's older generators, which scikit-learn uses


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
