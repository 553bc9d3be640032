"""Constraints that the parameters of several methods share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from blockselect._sklearn import Interval

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")  # a whole number
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")

# Of methods that learn a row-sparse map from the features to clusters or combinations.
ROW_SPARSE: dict[str, list[Any]] = {
    "n_blocks": [AT_LEAST_ONE],
    "sparsity": [POSITIVE],
    "max_iter": [AT_LEAST_ONE],
    "tol": [NON_NEGATIVE],
}
