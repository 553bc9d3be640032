"""Errors that interfaces can rephrase: an invalid parameter, and too little memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class ParameterError(ValueError):
    """A parameter that is invalid, or that does not fit the data or another parameter.

    Parameters
    ----------
    parameter : str
        Its name in Python.
    problem : str
        What is wrong and what to do, as a continuation of the name: "is 9 but the graph has 4 nodes; choose 1 to 4.".
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str]]:
        return type(self), (self.parameter, self.problem)  # worker processes send errors back pickled


class OutOfMemoryError(MemoryError):
    """There is not enough memory for a task; the original error is the cause."""

    @classmethod
    def during(cls, task: str, error: MemoryError) -> OutOfMemoryError:
        """The error for a task, with advice."""
        return cls(
            f"not enough memory to {task} ({str(error) or 'no size given'}); drop features first (for example by "
            "variance), pass sparse features, or compute in float32 if there is a parameter dtype."
        )


@contextmanager
def memory_for(task: str) -> Iterator[None]:
    """If memory runs out, name the task in the error; of nested tasks, the inner one is named."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError.during(task, error) from error
