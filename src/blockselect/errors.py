"""ParameterError: bad input that belongs to one parameter, so that any interface can name it in its own words."""

from __future__ import annotations


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
