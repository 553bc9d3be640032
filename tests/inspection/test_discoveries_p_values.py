"""P-values from a few random matchings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.inspection.discoveries import null_p_values


def draws(n_rounds, m, seed=0):
    """Real and null scores from the same distribution, with very different means and spreads per feature."""
    rng = np.random.default_rng(seed)
    spread = np.geomspace(1e-3, 1e3, m)
    x = 5 * spread + spread * (rng.gamma(2.0, size=(n_rounds + 1, m)) - 2)
    return x[0], x[1:]


def test_p_values_are_those_of_the_formula():
    real, null = draws(6, 5)
    z = (real - null.mean(axis=0)) / (null.std(axis=0, ddof=1) * np.sqrt(1 + 1 / 6))
    pool = []
    for i in range(6):
        others = np.delete(null, i, axis=0)
        pool.append((null[i] - others.mean(axis=0)) / (others.std(axis=0, ddof=1) * np.sqrt(1 + 1 / 5)))
    assert_allclose(null_p_values(real, null), [(1 + np.sum(np.array(pool) >= x)) / 31 for x in z])


@pytest.mark.parametrize(("n_rounds", "least"), [(3, 0.0), (5, 0.4), (20, 0.7), (50, 0.8)])
def test_p_values_of_null_features_are_even_whatever_their_level_and_spread(n_rounds, least):
    """With few rounds, p-values are conservative."""
    p_values = np.array([null_p_values(*draws(n_rounds, 80, seed)) for seed in range(200)])
    for threshold in (0.01, 0.05, 0.2, 0.5):
        assert least * threshold <= np.mean(p_values <= threshold) <= 1.1 * threshold
    assert_allclose(np.mean(p_values[:, :40] <= 0.1), np.mean(p_values[:, 40:] <= 0.1), atol=0.02)


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(3, 8))
def test_p_values_are_never_zero_and_never_above_one(seed, m, n_rounds):
    real, null = draws(n_rounds, m, seed)
    p_values = null_p_values(np.round(real), np.round(null))  # many ties, and features that are all zero
    assert ((p_values > 0) & (p_values <= 1)).all()


def test_a_feature_far_above_its_own_null_gets_the_smallest_p_value():
    real, null = draws(20, 50)
    real[3] = null[:, 3].mean() + 100 * null[:, 3].std()
    p_values = null_p_values(real, null)
    assert p_values[3] == 1 / (1 + 20 * 50)
    assert p_values.argmin() == 3


def test_scale_and_shift_of_a_feature_do_not_matter():
    real, null = draws(20, 30)
    factor, shift = np.geomspace(0.1, 10, 30), np.linspace(-1, 1, 30) * np.geomspace(1e-3, 1e3, 30)
    assert_allclose(null_p_values(factor * real + shift, factor * null + shift), null_p_values(real, null))


def test_a_feature_that_never_varies_is_never_found_and_leaves_the_others_alone():
    real, null = draws(20, 30)
    constant = np.full((20, 40), 0.1) * (1 + 1e-15 * np.random.default_rng(0).standard_normal((20, 40)))
    p_values = null_p_values(np.append(real, np.full(40, 0.1)), np.hstack([null, constant]))
    assert_array_equal(p_values[30:], 1.0)
    assert_allclose(p_values[:30], null_p_values(real, null))


def test_features_without_spread_are_judged_by_how_often_the_null_has_such_a_jump_too():
    """Zero in all rounds but one: such a real score counts the same as such a null score."""
    real, null = np.zeros(60), np.zeros((20, 60))
    real[0] = 1.0
    null[np.arange(20), np.arange(1, 21)] = 1.0
    assert_allclose(null_p_values(real, null)[0], 21 / (1 + 20 * 21))


def test_all_scores_zero_find_nothing():
    assert_array_equal(null_p_values(np.zeros(5), np.zeros((4, 5))), 1.0)
