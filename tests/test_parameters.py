"""Single numbers: whole or real, within limits, and never a truth value."""

from __future__ import annotations

import numpy as np
import pytest

from blockselect.errors import ParameterError
from blockselect.parameters import check_n_jobs, check_real, check_seed, check_share, check_whole


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_of_any_kind_are_ints(value):
    assert type(check_whole("n", value, 1, 3)) is int
    assert check_n_jobs(value) == 3
    assert check_seed("seed", value) == 3


@pytest.mark.parametrize("value", [0, 4, -1, 3.0, True, np.bool_(True), "3", None, np.nan, [3], 3 + 0j])
def test_what_is_no_whole_number_in_the_limits_is_refused(value):
    with pytest.raises(ParameterError, match=r"^n is .*; expected a whole number, from 1 to 3\.$"):
        check_whole("n", value, 1, 3)


def test_no_upper_limit_is_said_so():
    assert check_whole("n", 10**30, 1) == 10**30
    with pytest.raises(ParameterError, match=r"n is 0; expected a whole number, at least 1\."):
        check_whole("n", 0, 1)


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.5), np.int8(1)])
def test_real_numbers_include_their_limits(value):
    assert check_real("x", value, 0, 1) == float(value)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf, True, "0.5", None, 0.5j])
def test_what_is_no_real_number_in_the_limits_is_refused(value):
    with pytest.raises(ParameterError, match=r"x is .*; expected a finite number from 0 to 1\."):
        check_real("x", value, 0, 1)
    with pytest.raises(ParameterError, match=r"share is .*; expected a share between 0 and 1"):
        check_share("share", value)


@pytest.mark.parametrize("value", [0, 1])
def test_a_share_lies_within_its_limits(value):
    assert check_share("share", 0.1) == 0.1
    with pytest.raises(ParameterError, match="between 0 and 1"):
        check_share("share", value)


def test_the_last_seed_is_one_that_numpy_takes():
    assert check_seed("seed", 2**32 - 5, n_runs=5) == 2**32 - 5
    with pytest.raises(ParameterError, match="seed is 4294967292"):
        check_seed("seed", 2**32 - 4, n_runs=5)


@pytest.mark.parametrize("value", [0, 1.5, True, "all"])
def test_processes_are_counted_by_whole_numbers_but_zero(value):
    assert check_n_jobs(None) is None
    assert check_n_jobs(-1) == -1
    with pytest.raises(ParameterError, match=r"n_jobs is .*other than 0"):
        check_n_jobs(value)
