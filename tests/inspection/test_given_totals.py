"""Features given the totals of their nodes: residuals of a plain regression, and strata with similar totals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.inspection.null_model import MIN_REFERENCE, given_totals


def some_features(n=150, m=12, seed=0):
    """Binary features whose frequency depends on the activity of each node."""
    rng = np.random.default_rng(seed)
    propensity = rng.gamma(2, 0.5, size=n)
    return (rng.random((n, m)) < np.minimum(0.3 * propensity[:, None], 0.9)).astype(float)


def every(features):
    return np.ones(features.shape[1], dtype=bool)


def residuals(features, totals):
    """Plain least squares on 1, √t and t, weighted by the residuals of an unweighted regression."""
    basis = np.column_stack([np.ones(len(totals)), np.sqrt(totals), totals])
    plain = features - basis @ np.linalg.lstsq(basis, features, rcond=None)[0]
    squares = (plain**2).sum(axis=1)
    spread = np.sqrt(np.maximum(squares, 0.01 * squares.mean()))[:, None]
    return features / spread - basis / spread @ np.linalg.lstsq(basis / spread, features / spread, rcond=None)[0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_block_means_are_those_of_the_residuals(form):
    features = some_features()
    labels = np.arange(150) % 4
    found = given_totals(form(features), every(features)).block_means(labels, 4)
    left = residuals(features, features.sum(axis=1))
    assert_allclose(found, [left[labels == a].mean(axis=0) for a in range(4)], atol=1e-10)


def test_totals_are_those_of_the_reference_alone():
    features = some_features()
    reference = np.arange(12) < 6
    found = given_totals(features, reference).block_means(np.arange(150), 150)
    assert_allclose(found, residuals(features, features[:, :6].sum(axis=1)), atol=1e-10)


def test_residuals_do_not_follow_the_total():
    features = some_features(n=3000)
    totals = features.sum(axis=1)
    left = given_totals(features, every(features)).block_means(np.arange(3000), 3000)
    for low, high in ((0, 2), (2, 5), (5, 13)):
        some = (totals >= low) & (totals < high)
        assert np.abs(left[some].mean(axis=0)).max() < 5 * left.std() / np.sqrt(some.sum())


def test_few_reference_features_make_no_totals():
    features = some_features()
    reference = np.arange(12) < MIN_REFERENCE - 1
    given = given_totals(features, reference)
    assert given.explaining.shape == (150, 1)
    assert_allclose(given.block_means(np.zeros(150, dtype=int), 1) * np.ones(12), 0, atol=0.2)


def test_what_totals_explain_wholly_does_not_vary():
    features = np.column_stack([some_features(), np.ones(150), np.zeros(150)])
    given = given_totals(features, every(features))
    assert_array_equal(given.varies, [True] * 12 + [False] * 2)
    assert_array_equal(given.block_means(np.arange(150) % 3, 3)[:, 12:], 0.0)


def test_only_nodes_of_like_totals_exchange_places():
    features = some_features()
    totals, given = features.sum(axis=1), given_totals(features, every(features))
    order = given.permutation(np.random.default_rng(0))
    assert_array_equal(np.sort(order), np.arange(150))
    assert (order != np.arange(150)).mean() > 0.8
    spread = np.abs(totals[order] - totals).mean()
    assert spread < 0.4 * np.abs(totals - np.random.default_rng(0).permutation(totals)).mean()
    assert [len(nodes) for nodes in given.strata] == [30] * 5


def test_few_nodes_are_one_stratum():
    features = some_features(n=59)
    assert len(given_totals(features, every(features)).strata) == 1


def test_equal_totals_are_no_obstacle():
    features = np.eye(40)[:, :20] + np.eye(40)[:, 20:]
    left = given_totals(features, every(features)).block_means(np.arange(40), 40)
    assert_allclose(left.mean(axis=0), 0, atol=1e-12)
