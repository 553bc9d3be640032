"""Correlations are those of NumPy, and pairs that are alike are found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.report.redundancy import correlate, redundancy

RNG = np.random.default_rng(0)
FEATURES = RNG.poisson(1.0, (50, 5)).astype(float)
FEATURES[:, 4] = FEATURES[:, 1] * 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_correlations_are_those_of_numpy(form):
    assert_allclose(correlate(form(FEATURES)), np.corrcoef(FEATURES.T), atol=1e-12)


def test_a_constant_column_correlates_with_nothing():
    constant = np.column_stack([FEATURES[:, 0], np.full(50, 0.1)])
    assert_allclose(correlate(constant), np.eye(2), atol=1e-12)


def test_the_pair_that_is_alike_comes_first_by_its_columns():
    found = redundancy(FEATURES, np.array([4, 0, 1]))
    assert found["pairs"][0] == {"first": 4, "second": 1, "correlation": pytest.approx(1)}
    assert (found["n_alike"], found["n_compared"]) == (2, 3)


@pytest.mark.parametrize("chosen", [[], [2]])
def test_fewer_than_two_features_cannot_be_alike(chosen):
    assert redundancy(FEATURES, np.array(chosen, dtype=int)) is None
