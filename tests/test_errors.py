"""Errors that belong to a parameter or to a task, and those that name what there is."""

import pickle

import pytest

from blockselect import BMGUFS
from blockselect._sklearn import check_parameters
from blockselect.errors import OutOfMemoryError, ParameterError, memory_for
from blockselect.names import check_known, look_up


def test_the_message_begins_with_the_parameter():
    error = ParameterError("n_blocks", "is 9 but the graph has 4 nodes; choose 1 to 4.")
    assert str(error) == "n_blocks is 9 but the graph has 4 nodes; choose 1 to 4."
    assert isinstance(error, ValueError)


def test_it_comes_back_whole_from_another_process():
    again = pickle.loads(pickle.dumps(ParameterError("level", "is 2.")))
    assert (again.parameter, again.problem, str(again)) == ("level", "is 2.", "level is 2.")


def test_too_little_memory_names_the_innermost_task_and_keeps_what_was_asked_for():
    expected = r"not enough memory to add \(no size given\); drop features"
    with pytest.raises(OutOfMemoryError, match=expected) as raised, memory_for("count"), memory_for("add"):
        raise MemoryError
    assert isinstance(raised.value, MemoryError)
    assert isinstance(raised.value.__cause__, MemoryError)


def test_parameters_of_an_estimator_are_checked_one_by_one():
    with pytest.raises(ParameterError, match=r"^profile_ratio must be a float in the range") as raised:
        check_parameters(BMGUFS(profile_ratio=2))
    assert raised.value.parameter == "profile_ratio"
    check_parameters(BMGUFS(profile_ratio=2), {"sparsity": 1.0})


def test_a_name_that_is_not_known_is_an_error_with_those_that_are_and_the_closest():
    known = {"spectral": 1, "smoothed": 2}
    assert look_up("smoothed", known, what="family") == 2
    with pytest.raises(ValueError, match=r"no family is called 'Spectrl'; known are: .*\. Did you mean spectral\?$"):
        look_up("Spectrl", known, what="family")
    with pytest.raises(ValueError, match=r"smoothed\.$"):
        check_known(["smoothed", "xyz"], known, what="family")
