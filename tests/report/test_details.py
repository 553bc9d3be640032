"""Details of a page: rows of features, known labels, correlations, and the code to repeat the run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import blockselect
from blockselect import BMGUFS, BlockModelSelector, Descent
from blockselect.report import details
from blockselect.report.details import (
    package_versions,
    python_to_repeat,
    settings_table,
)
from blockselect.result import correlate, redundancy

SELECTORS = [
    BlockModelSelector(64, random_state=0),
    BlockModelSelector(),
    BMGUFS(n_features_to_select=0.1, n_blocks=7, solver=Descent(max_iter=60)),
]
RNG = np.random.default_rng(0)
FEATURES = RNG.poisson(1.0, (50, 5)).astype(float)
FEATURES[:, 4] = FEATURES[:, 1] * 2


def test_means_by_block_are_digits_relative_to_the_highest():
    assert details.block_strips(np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]])) == ["950", "000"]


def test_known_labels_are_counted_by_block_the_most_frequent_first():
    found = details.known_labels(["b", "a", "b", "c", "b", "b"], None, np.array([0, 0, 0, 1, 1, 2]))
    assert found["names"] == ["b", "a", "c"]
    assert found["counts"] == [[2, 1, 0], [1, 0, 1], [1, 0, 0]]
    assert (found["n_labels"], found["n_uniform"]) == (3, 3)
    assert details.known_labels([3, 3, 5, 5], None, np.array([0, 0, 1, 1]))["nmi"] == 1


def test_rare_labels_share_a_column_and_labels_are_matched_by_id():
    found = details.known_labels(np.arange(30), None, np.arange(30) % 2)
    assert len(found["names"]) == 20
    assert [row[-1] for row in found["counts"]] == [5, 5]
    ids = np.array(["x", "y", "z"], dtype=object)
    by_id = details.known_labels({"z": "late", "x": "early", "y": "early"}, ids, np.array([0, 0, 1]))
    assert by_id["counts"] == [[2, 0], [0, 1]]
    with pytest.raises(ValueError, match=r"labels has 2 entries for 3 nodes; pass one per node\."):
        details.known_labels(["a", "b"], None, np.array([0, 0, 1]))


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_the_code_makes_a_selector_of_the_same_settings(selector):
    code = python_to_repeat(selector).split("selector.fit")[0]
    made = {}
    exec(code, made)
    assert repr(made["selector"]) == repr(selector)


def test_labels_of_ones_own_go_by_a_name():
    code = python_to_repeat(BMGUFS(3, block_model=np.arange(500) % 3))
    assert "block_model = ...  # your ndarray" in code
    assert "BMGUFS(3, block_model=block_model)" in code


def test_settings_say_which_are_changed():
    rows = {row["name"]: row for row in settings_table(BMGUFS(3, block_model=np.arange(500) % 3))}
    assert rows["block_model"] == {"name": "block_model", "value": "ndarray of length 500", "changed": True}
    assert rows["n_jobs"]["changed"] is False
    one_hot = settings_table(BMGUFS(3, block_model=sparse.csr_array(np.eye(3))))
    assert {row["name"]: row["value"] for row in one_hot}["block_model"] == "csr_array"


def test_versions_begin_with_our_own():
    versions = package_versions()
    assert next(iter(versions.items())) == ("blockselect", blockselect.__version__)
    assert versions["numpy"] == np.__version__


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_correlations_are_those_of_numpy(form):
    assert_allclose(correlate(form(FEATURES)), np.corrcoef(FEATURES.T), atol=1e-12)


def test_a_constant_column_correlates_with_nothing():
    constant = np.column_stack([FEATURES[:, 0], np.full(50, 0.1)])
    assert_allclose(correlate(constant), np.eye(2), atol=1e-12)


def test_the_pair_that_is_alike_comes_first_by_its_columns():
    found = redundancy(FEATURES[:, np.array([4, 0, 1])], np.array([4, 0, 1]))
    assert found["pairs"][0] == {"first": 4, "second": 1, "correlation": pytest.approx(1)}
    assert (found["n_alike"], found["n_compared"]) == (2, 3)


@pytest.mark.parametrize("chosen", [[], [2]])
def test_fewer_than_two_features_cannot_be_alike(chosen):
    assert redundancy(FEATURES[:, np.array(chosen, dtype=int)], np.array(chosen, dtype=int)) is None
