"""Arrays that a parameter brings: the error names the entry that does not fit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect.errors import ParameterError
from blockselect.parameters import as_numbers, check_entries, check_start


def test_numbers_of_any_kind_become_float64():
    for values in ([1, 2], (1.0, "2"), np.array([1, 2], dtype=np.int8), [True, "2.0"]):
        found = as_numbers("x", values)
        assert found.dtype == np.float64
        assert_array_equal(found, [1, 2])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "a"], r"x holds 'a' at position 1, which is no number; give numbers\."),
        ([[1, 2], [None, object]], r"x holds None at row 1, column 0, which is no number"),
        ([[1, 2], [3]], r"x (is no array of numbers|holds \[1, 2\] at position 0)"),
        ([np.ones((2, 2)), np.ones((2, 3))], r"x is no array of numbers .*give every row as many"),
        ([1, 1j], r"x holds 1j at position 1, which is no number"),
        (np.array([1, 1j]), r"x is of type complex128; give real numbers\."),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), r"x is of type datetime64\[D\]; give real numbers"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), r"x has masked values; put numbers in their place"),
        ([10**400], r"x holds 10+ at position 0, which is no number"),
    ],
)
def test_what_is_no_number_is_named(values, message):
    with pytest.raises(ParameterError, match=message):
        as_numbers("x", values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, np.nan, np.inf], r"x holds nan at position 1, which is negative or not finite"),
        ([[1, 2], [3, -4]], r"x holds -4\.0 at row 1, column 1"),
        ([0, 0], "x is zero everywhere"),
    ],
)
def test_a_start_is_finite_and_positive_somewhere(values, message):
    with pytest.raises(ParameterError, match=message):
        check_start("x", np.array(values, dtype=float))
    check_start("x", np.array([0.0, 1.0]))


def test_the_first_entry_that_does_not_fit_is_named():
    array = np.arange(4)
    check_entries("x", array, array >= 0, "is negative")
    with pytest.raises(ParameterError, match=r"^x holds 2 at position 2, which is too large\.$"):
        check_entries("x", array, array < 2, "is too large")
