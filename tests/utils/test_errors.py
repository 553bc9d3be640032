"""Errors name their parameter or task, and warnings point to the line of the caller."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from blockselect import BMGUFS, BlockModelSelector, Descent
from blockselect.utils._sklearn import check_parameters
from blockselect.utils.errors import OutOfMemoryError, ParameterError, collected_warnings, memory_for, warn_caller

FEATURES = np.array([[1.0, 0, 2], [2, 0, 1], [0, 1, 1], [0, 2, 1]])
LINKS = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])


def test_the_message_begins_with_the_parameter():
    error = ParameterError("n_blocks", "is 9 but the graph has 4 nodes; choose 1 to 4.")
    assert str(error) == "n_blocks is 9 but the graph has 4 nodes; choose 1 to 4."
    assert isinstance(error, ValueError)


def test_a_parameter_error_can_be_pickled():
    again = pickle.loads(pickle.dumps(ParameterError("level", "is 2.")))
    assert (again.parameter, again.problem, str(again)) == ("level", "is 2.", "level is 2.")


def test_a_memory_error_names_the_innermost_task_and_keeps_its_cause():
    expected = r"not enough memory to add \(no size given\); drop features"
    with pytest.raises(OutOfMemoryError, match=expected) as raised, memory_for("count"), memory_for("add"):
        raise MemoryError
    assert isinstance(raised.value, MemoryError)
    assert isinstance(raised.value.__cause__, MemoryError)


def test_parameters_of_an_estimator_are_checked_one_by_one():
    with pytest.raises(ParameterError, match=r"^profile_ratio must be a float in the range") as raised:
        check_parameters(BMGUFS(profile_ratio=2))
    assert raised.value.parameter == "profile_ratio"


def test_a_warning_outside_the_library_points_to_its_own_line():
    with pytest.warns(RuntimeWarning, match="^so it is$") as record:
        warn_caller("so it is", RuntimeWarning)
    assert record[0].filename == __file__


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (BMGUFS(1, block_model=[0, 0, 1, 1], solver=Descent(tol=1e-12, max_iter=3)), "not converged"),
        (BMGUFS(1, block_model=[0, 0, 1, 1], solver=Descent(smoothing=1.0, tol=0, max_iter=3)), "close to the"),
        (BMGUFS(3, block_model=[0, 0, 1, 1], sparsity=50.0), "can be selected"),
        (BlockModelSelector(3, block_model=[0, 0, 1, 1], binarize=True), "can be selected"),
    ],
)
def test_a_warning_of_a_fit_points_to_the_line_of_the_user(selector, reason):
    with pytest.warns(UserWarning, match=reason) as record:
        selector.fit(FEATURES, adjacency=LINKS)
    assert {warning.filename for warning in record} == {__file__}


def test_a_warning_in_a_pipeline_points_to_the_line_of_the_user():
    with pytest.warns(UserWarning, match="given no adjacency") as record:
        make_pipeline(BlockModelSelector(1, n_blocks=2, n_candidates=1, random_state=0)).fit(FEATURES)
    assert {warning.filename for warning in record} == {__file__}


def test_collected_warnings_are_unique_single_lines_without_deprecations():
    with collected_warnings() as messages:
        for _ in range(2):
            warnings.warn("two\n  lines", ConvergenceWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert messages == ["two lines"]
