"""Constraints of a parameter, as scikit-learn writes them, for a command line: what to write, and what it means."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

from blockselect._sklearn import Interval, StrOptions
from blockselect.cli.failure import Failure
from blockselect.wording import shortened

WORDS = {"yes": True, "no": False}  # for parameters that are true, false or something else
SEED = Interval(Integral, 0, 2**32 - 1, closed="both")  # what "random_state" allows of numbers


def is_switch(constraints: Sequence[Any]) -> bool:
    """Whether a parameter is true or false and nothing else."""
    return list(constraints) == ["boolean"]


def can_be_written(constraints: Sequence[Any]) -> bool:
    """Whether any value of a parameter can be written on a command line."""
    return is_switch(constraints) or any(True for _ in _forms(constraints))


def metavar(constraints: Sequence[Any]) -> str:
    """The kinds of values there are, as help shows them: INTEGER|auto."""
    return "|".join(dict.fromkeys(shown for shown, _ in _forms(constraints)))


def parse(option: str, text: str, constraints: Sequence[Any]) -> Any:
    """The first value that the text can mean within the constraints."""
    for constraint in _writable(constraints):
        value = _read(text, constraint)
        if value is not None:
            return value
    expected = " or ".join(expected for _, expected in _forms(constraints))
    raise Failure(f"{option} is {shortened(text)!r}; expected {expected}.")


def _writable(constraints: Sequence[Any]) -> Iterator[Any]:
    """Constraints that text can satisfy; arrays, None and objects are for Python alone."""
    for constraint in constraints:
        if constraint == "random_state":
            yield SEED
        elif constraint is Integral:
            yield Interval(Integral, None, None, closed="neither")
        elif constraint in (str, "boolean") or isinstance(constraint, Interval | StrOptions):
            yield constraint


def _read(text: str, constraint: Any) -> Any:
    """What the text means under a constraint; None where it does not satisfy it."""
    if constraint is str:
        return text
    if constraint == "boolean":
        return WORDS.get(text)
    if isinstance(constraint, StrOptions):
        return text if text in constraint.options else None
    kind, largest = (int, sys.maxsize) if constraint.type is Integral else (float, sys.float_info.max)
    try:
        number = kind(text)
    except ValueError:
        return None
    return number if abs(number) <= largest and constraint.is_satisfied_by(number) else None


def _forms(constraints: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """How each constraint is shown in help, and what a complaint says was expected."""
    for constraint in _writable(constraints):
        if constraint is str:
            yield "TEXT", "text"
        elif constraint == "boolean":
            yield "|".join(WORDS), " or ".join(WORDS)
        elif isinstance(constraint, StrOptions):
            names = sorted(constraint.options)
            yield "|".join(names), ", ".join(names)
        else:
            yield ("INTEGER" if constraint.type is Integral else "NUMBER"), _in_words(constraint)


def _in_words(interval: Interval) -> str:
    kind = "a whole number" if interval.type is Integral else "a number"
    if interval.left is None:
        return kind
    if interval.right is None:
        return f"{kind} {'from' if interval.closed in ('left', 'both') else 'above'} {interval.left}"
    if interval.closed == "both":
        return f"{kind} from {interval.left} to {interval.right}"
    return f"{kind} between {interval.left} and {interval.right}"
