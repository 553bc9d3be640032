"""Checks of parameters: numbers within limits, but no booleans, and arrays of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import (
    as_numbers,
    check_entries,
    check_known,
    check_n_jobs,
    check_real,
    check_seed,
    check_share,
    check_start,
    check_whole,
    look_up,
)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_integers_of_any_type_are_accepted(value):
    assert type(check_whole("n", value, 1, 3)) is int
    assert check_n_jobs(value) == 3
    assert check_seed("seed", value) == 3


@pytest.mark.parametrize("value", [0, 4, -1, 3.0, True, np.bool_(True), "3", None, np.nan, [3], 3 + 0j])
def test_anything_but_an_integer_within_the_limits_is_rejected(value):
    with pytest.raises(ParameterError, match=r"^n is .*; expected a whole number, from 1 to 3\.$"):
        check_whole("n", value, 1, 3)


def test_without_an_upper_limit_the_error_names_only_the_lower_one():
    assert check_whole("n", 10**30, 1) == 10**30
    with pytest.raises(ParameterError, match=r"n is 0; expected a whole number, at least 1\."):
        check_whole("n", 0, 1)


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.5), np.int8(1)])
def test_real_numbers_include_their_limits(value):
    assert check_real("x", value, 0, 1) == float(value)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf, True, "0.5", None, 0.5j])
def test_anything_but_a_real_number_within_the_limits_is_rejected(value):
    with pytest.raises(ParameterError, match=r"x is .*; expected a finite number from 0 to 1\."):
        check_real("x", value, 0, 1)
    with pytest.raises(ParameterError, match=r"share is .*; expected a share between 0 and 1"):
        check_share("share", value)


@pytest.mark.parametrize("value", [0, 1])
def test_a_share_excludes_its_limits(value):
    assert check_share("share", 0.1) == 0.1
    with pytest.raises(ParameterError, match="between 0 and 1"):
        check_share("share", value)


def test_the_last_of_consecutive_seeds_is_valid_in_numpy():
    assert check_seed("seed", 2**32 - 5, n_runs=5) == 2**32 - 5
    with pytest.raises(ParameterError, match="seed is 4294967292"):
        check_seed("seed", 2**32 - 4, n_runs=5)


@pytest.mark.parametrize("value", [0, 1.5, True, "all"])
def test_n_jobs_is_any_integer_except_zero(value):
    assert check_n_jobs(None) is None
    assert check_n_jobs(-1) == -1
    with pytest.raises(ParameterError, match=r"n_jobs is .*other than 0"):
        check_n_jobs(value)


def test_numbers_of_any_type_become_float64():
    for values in ([1, 2], (1.0, "2"), np.array([1, 2], dtype=np.int8), [True, "2.0"]):
        found = as_numbers("x", values)
        assert found.dtype == np.float64
        assert_array_equal(found, [1, 2])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "a"], r"x is not an array of numbers \(.*'a'\); pass numbers\."),
        ([[1, 2], [None, object]], r"x is not an array of numbers"),
        ([[1, 2], [3]], r"x is not an array of numbers \(.*inhomogeneous shape"),
        ([1, 1j], r"x is not an array of numbers \(.*complex"),
        (np.array([1, 1j]), r"x is of type complex128; pass real numbers\."),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), r"x is of type datetime64\[D\]; pass real numbers"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), r"x has masked values; put numbers in their place"),
        ([10**400], r"x is not an array of numbers \(int too large"),
    ],
)
def test_the_error_describes_invalid_numbers(values, message):
    with pytest.raises(ParameterError, match=message):
        as_numbers("x", values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, np.nan, np.inf], r"x contains nan at position 1, which is negative or not finite"),
        ([[1, 2], [3, -4]], r"x contains -4\.0 at row 1, column 1"),
        ([0, 0], "x is zero everywhere"),
    ],
)
def test_a_start_is_finite_with_a_positive_entry(values, message):
    with pytest.raises(ParameterError, match=message):
        check_start("x", np.array(values, dtype=float))
    check_start("x", np.array([0.0, 1.0]))


def test_the_error_names_the_first_invalid_entry():
    array = np.arange(4)
    check_entries("x", array, array >= 0, "is negative")
    with pytest.raises(ParameterError, match=r"^x contains 2 at position 2, which is too large\.$"):
        check_entries("x", array, array < 2, "is too large")


def test_the_error_for_an_unknown_name_lists_the_known_ones_and_the_closest():
    known = {"spectral": 1, "smoothed": 2}
    assert look_up("smoothed", known, what="family") == 2
    with pytest.raises(
        ValueError, match=r"no family is called 'Spectrl'; choose one of: .*\. Did you mean spectral\?$"
    ):
        look_up("Spectrl", known, what="family")
    with pytest.raises(ValueError, match=r"smoothed\.$"):
        check_known(["smoothed", "xyz"], known, what="family")
