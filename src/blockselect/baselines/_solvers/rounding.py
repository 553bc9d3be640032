"""What to say where features are so large that a penalty beside them is lost to rounding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from blockselect.arrays import Features
from blockselect.errors import ParameterError


@contextmanager
def penalty_beside(features: Features, parameter: str, value: float) -> Iterator[None]:
    """Turn a matrix that is singular, though the penalty makes it definite, into an error that says why."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ParameterError(
            parameter,
            f"is {value:g}, which is lost to rounding beside features as large as {abs(features).max():.3g}; divide "
            "the features by their largest value, or raise it.",
        ) from error
