"""LaplacianScore and NetworkLaplacianScore: features that differ little between similar or linked nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import golden_arrays
from blockselect.baselines.by_features.laplacian import LaplacianScore, NetworkLaplacianScore, laplacian_criterion
from references import laplacian as reference
from references.laplacian import draw_network


@given(seed=st.integers(0, 10**6))
def test_the_criterion_equals_its_definition(seed):
    X, W = draw_network(seed)
    expected = reference.laplacian_score(X, W)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = LaplacianScore(3).fit(features, affinity=W)
        assert_allclose(selector.criterion_, expected, rtol=1e-10, atol=1e-12)
        assert_array_equal(selector.scores_, -selector.criterion_)


@pytest.mark.parametrize(("network", "binary"), [("cora", False), ("cora", True), ("citeseer", False)])
def test_published_scores_are_reproduced_on_the_published_affinity(network, binary):
    X = golden_arrays.network(network).features
    W = golden_arrays.affinity(network, binary=binary)
    published = golden_arrays.scores(f"{network}_laplacian{'_binary' if binary else ''}")
    empty = X.sum(axis=0) == 0
    for features in (X, X.toarray()):
        selector = LaplacianScore(64).fit(features, affinity=W)
        assert_allclose(selector.criterion_[~empty], published[~empty], rtol=0, atol=1e-10)
        assert_array_equal(np.isnan(selector.criterion_), empty)


def test_the_default_affinity_is_that_of_nearest_neighbours():
    X, _ = draw_network(0)
    W = reference.neighbour_affinity(X, 4, reference.heat(0.7))
    selector = LaplacianScore(3, n_neighbors=4, width=0.7).fit(X)
    assert_allclose(selector.criterion_, reference.laplacian_score(X, W), rtol=1e-10)


def test_affinities_far_below_one_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(20, 5))
    W = reference.neighbour_affinity(X, 5, reference.heat(0.08))
    assert W[~np.eye(20, dtype=bool)].max() < 1e-10  # D − W with the diagonal in both would lose all digits
    centred = X - np.average(X, axis=0, weights=W.sum(axis=1))
    expected = [reference.roughness(f, W) for f in X.T] / (W.sum(axis=1) @ centred**2)
    for features in (X, sparse.csr_array(X)):
        assert_allclose(laplacian_criterion(features, sparse.csr_array(W)), expected, rtol=1e-9)


@given(seed=st.integers(0, 10**6))
def test_on_a_network_it_is_the_laplacian_score_with_the_network_as_affinity(seed):
    X, A = draw_network(seed)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = NetworkLaplacianScore(3).fit(features, adjacency=A)
        assert_allclose(selector.criterion_, reference.laplacian_score(X, A), rtol=1e-10, atol=1e-12)
        assert_array_equal(selector.scores_, LaplacianScore(3).fit(features, affinity=A).scores_)


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
