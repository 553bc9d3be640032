"""Least angle regression: active features are equally correlated with the residual, the others less."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Lars

from blockselect.baselines._solvers.least_angle import LeastAngleRegression
from references import mcfs


def draw(seed, n=30, m=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.7)
    return X, rng.standard_normal(n)


def correlations(X, y, coefficients):
    centred = X - X.mean(axis=0)
    return np.abs(centred.T @ (y - y.mean() - centred @ coefficients))


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 12), is_sparse=st.booleans())
def test_coefficients_equal_their_definition(seed, steps, is_sparse):
    X, y = draw(seed)
    coefficients = LeastAngleRegression(sparse.csr_array(X) if is_sparse else X).fit(y, steps)
    assert_allclose(coefficients, mcfs.least_angle(X, y, steps), atol=1e-9)


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 11))
def test_active_features_are_equally_correlated_and_the_others_less(seed, steps):
    X, y = draw(seed)
    X = np.round(X)  # creates ties
    coefficients = LeastAngleRegression(X).fit(y, steps)
    left, used = correlations(X, y, coefficients), coefficients != 0
    assert used.sum() <= steps
    assert_allclose(left[used], left.max(), atol=1e-9)


def test_the_first_steps_equal_those_of_scikit_learn():
    X, y = draw(0, n=60, m=20)
    for steps in (1, 4, 8):
        expected = Lars(n_nonzero_coefs=steps).fit(X, y).coef_
        assert_allclose(LeastAngleRegression(X).fit(y, steps), expected, atol=1e-10)


def test_all_steps_give_least_squares():
    X, y = draw(1)
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    assert_allclose(LeastAngleRegression(X).fit(y, 12), expected, atol=1e-10)


def test_with_more_features_than_nodes_nothing_remains_to_explain():
    X, y = draw(2, n=8, m=20)
    coefficients = LeastAngleRegression(X).fit(y, 20)
    assert np.count_nonzero(coefficients) == 7
    assert_allclose(correlations(X, y, coefficients), 0, atol=1e-9)


def test_copies_of_features_are_skipped():
    X, y = draw(3)
    twice = np.column_stack([X, X, X[:, 4] + 3])
    alone, together = LeastAngleRegression(X).fit(y, 6), LeastAngleRegression(twice).fit(y, 6)
    summed = together[:12] + together[12:24]
    summed[4] += together[24]
    assert alone[4] != 0
    assert np.count_nonzero(together) == np.count_nonzero(alone) == 6
    assert_allclose(summed, alone, atol=1e-9)


@pytest.mark.parametrize(("mean", "is_sparse"), [(1e4, False), (1e7, False), (1e4, True)])
def test_a_mean_far_above_the_standard_deviation_does_not_matter(mean, is_sparse):
    X, y = draw(6)
    far = np.column_stack([X, X]) + mean  # each twice: a copy is still recognised
    regression = LeastAngleRegression(sparse.csr_array(far) if is_sparse else far)
    found, expected = regression.fit(y, 6), LeastAngleRegression(X).fit(y, 6)
    assert np.count_nonzero(found) == 6
    assert_allclose(found[:12] + found[12:], expected, atol=1e-13 * mean)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_coefficients_are_proportional_to_the_target(scale):
    X, y = draw(4)
    regression = LeastAngleRegression(X)
    assert_allclose(regression.fit(scale * y, 5), scale * regression.fit(y, 5), rtol=1e-9)


def test_constant_features_and_targets_get_zeros():
    X, y = draw(5)
    X[:, 3] = 7.0
    X[:, 4] = 0.0
    assert_array_equal(LeastAngleRegression(X).fit(y, 12)[[3, 4]], 0)
    assert_array_equal(LeastAngleRegression(X).fit(np.full(30, 2.5), 5), 0)
