"""Errors that any interface can put in its own words: bad input that is one parameter's, and too little memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class ParameterError(ValueError):
    """A parameter that is wrong by itself, or beside the data or another parameter.

    Parameters
    ----------
    parameter : str
        Its name in Python.
    problem : str
        What is wrong and what to do, as it reads after the name: "is 9 but the graph has 4 nodes; choose 1 to 4.".
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.parameter, self.problem)  # worker processes send errors back pickled


class OutOfMemoryError(MemoryError):
    """There is not enough memory for a task; what asked for it, and how much, is the cause."""

    @classmethod
    def during(cls, task: str, error: MemoryError) -> OutOfMemoryError:
        """Says for what memory ran out, and what to do."""
        return cls(
            f"not enough memory to {task} ({str(error) or 'no size given'}); drop features first (by variance, say), "
            "pass sparse features, or compute in float32 where there is dtype."
        )


@contextmanager
def memory_for(task: str) -> Iterator[None]:
    """Where memory runs out, say for what. Of a task within another the inner one is named."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError.during(task, error) from error
