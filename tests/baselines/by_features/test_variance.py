"""VarianceScore: features with a large variance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import make_attributed_blocks
from blockselect.baselines.by_features.variance import VarianceScore


def draw(seed, n=30, m=6):
    rng = np.random.default_rng(seed)
    return rng.normal(loc=2, size=(n, m)) * (rng.random((n, m)) < 0.5)


@given(seed=st.integers(0, 10**6))
def test_the_criterion_is_the_variance_of_each_column(seed):
    X = draw(seed)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = VarianceScore(2).fit(features)
        assert_allclose(selector.criterion_, X.var(axis=0), rtol=1e-12)
        assert_array_equal(selector.scores_, selector.criterion_)
        assert_array_equal(selector.get_support(indices=True), np.sort(np.argsort(-X.var(axis=0))[:2]))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_large_means_lose_no_digits(kind):
    X = draw(0) + 1e6
    assert_allclose(VarianceScore(2).fit(kind(X)).criterion_, X.var(axis=0), rtol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_constant_columns_are_never_selected(kind):
    X = draw(1)
    X[:, 1], X[:, 3], X[:, 5] = 0.1, 0, -7
    X[0, 5] = -7 + 1e-14
    selector = VarianceScore(4).fit(kind(X))
    assert_array_equal(selector.get_support(indices=True), [0, 2, 4, 5])
    assert_array_equal(selector.criterion_[[1, 3]], 0)
    assert_array_equal(selector.scores_[[1, 3]], -np.inf)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_features_are_found_if_they_vary_most(seed):
    planted = make_attributed_blocks(400, 3, n_informative=15, n_redundant=0, n_noise=85, random_state=seed)
    scale = np.where(planted.is_informative, 1, 0.4)
    selector = VarianceScore(15).fit(planted.features @ sparse.diags_array(scale))
    assert planted.is_informative[selector.get_support()].mean() >= 0.7  # chance: 0.15


def test_an_affinity_is_checked_but_not_used():
    X = draw(3)
    assert_array_equal(VarianceScore(2).fit(X, affinity=np.ones((30, 30))).scores_, VarianceScore(2).fit(X).scores_)
    with pytest.raises(ValueError, match="affinity has 29 nodes but features has 30 rows"):
        VarianceScore(2).fit(X, affinity=np.ones((29, 29)))
    with pytest.raises(ValueError, match="all 6 features are constant"):
        VarianceScore(2).fit(np.ones_like(X))
