"""NetworkLaplacianScore: features that hardly differ between linked nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import make_attributed_blocks
from blockselect.baselines.by_features.laplacian import LaplacianScore
from blockselect.baselines.by_network.network_laplacian import NetworkLaplacianScore
from references import laplacian as reference
from references.laplacian import draw_network


@parametrize_with_checks([NetworkLaplacianScore(n_neighbors=5)])
def test_scikit_learns_estimator_checks_hold(estimator, check):
    check(estimator)


@given(seed=st.integers(0, 10**6))
def test_the_criterion_is_the_laplacian_score_with_the_network_as_affinity(seed):
    X, A = draw_network(seed)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = NetworkLaplacianScore(3).fit(features, adjacency=A)
        assert_allclose(selector.criterion_, reference.laplacian_score(X, A), rtol=1e-10, atol=1e-12)
        assert_array_equal(selector.scores_, LaplacianScore(3).fit(features, affinity=A).scores_)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_features_are_found_by_the_network(seed):
    planted = make_attributed_blocks(
        400, 3, mean_degree=40, n_informative=15, n_redundant=0, n_noise=85, random_state=seed
    )
    selector = NetworkLaplacianScore(15).fit(planted.features, adjacency=planted.adjacency)
    assert planted.is_informative[selector.get_support()].mean() >= 0.7  # chance: 0.15


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_nodes_without_a_link_are_ignored(kind):
    X, A = draw_network(2)
    A[[3, 7]] = A[:, [3, 7]] = 0
    linked = np.setdiff1d(np.arange(25), [3, 7])
    X[:, 5] = 0.1
    X[[3, 7], 5] = 4  # varies, but not among the linked nodes
    selector = NetworkLaplacianScore(3).fit(kind(X), adjacency=A)
    others = [0, 1, 2, 3, 4, 6]
    expected = reference.laplacian_score(X[np.ix_(linked, others)], A[np.ix_(linked, linked)])
    assert_allclose(selector.criterion_[others], expected, rtol=1e-10)
    assert selector.scores_[5] == -np.inf


def test_bad_input_is_refused_with_the_way_out():
    X, _ = draw_network(4)
    with pytest.raises(ValueError, match="adjacency is missing"):
        NetworkLaplacianScore(3).fit(X)
    with pytest.raises(ValueError, match="all 7 features are constant"):
        NetworkLaplacianScore(3, n_neighbors=5).fit(np.ones_like(X))
