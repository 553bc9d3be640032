"""Errors that name a parameter or a task, and warnings that point to the line of the caller."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_FOR_PROGRAMMERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
_INNER = {"blockselect", "sklearn"}  # packages whose frames lie between the warning and the user's code


class ParameterError(ValueError):
    """A parameter that is invalid, or that does not fit the data or another parameter.

    Parameters
    ----------
    parameter : str
        Name of the parameter in Python.
    problem : str
        What is wrong and what to do, to be read after the name: "is 9 but the graph has 4 nodes; choose 1 to 4.".
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.parameter, self.problem)  # worker processes send errors back pickled


class OutOfMemoryError(MemoryError):
    """There is not enough memory for a task; the original error is the cause."""


@contextmanager
def memory_for(task: str) -> Iterator[None]:
    """Name the task in the error if memory runs out; if tasks are nested, the innermost task is named."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError(
            f"not enough memory to {task} ({str(error) or 'no size given'}); drop features first (for example by "
            "variance), pass sparse features, or compute in float32 if there is a dtype parameter."
        ) from error


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing to the line outside this library that led to the warning."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings; after the `with` block, the list contains each message for users once, without line breaks."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for noise in _FOR_PROGRAMMERS:
            warnings.simplefilter("ignore", noise)
        try:
            yield messages
        finally:
            messages.extend(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
