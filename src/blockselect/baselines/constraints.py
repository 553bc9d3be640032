"""Constraints that the parameters of several methods share."""

from __future__ import annotations

from numbers import Integral, Real

from blockselect._sklearn import Interval

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")  # a whole number
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
