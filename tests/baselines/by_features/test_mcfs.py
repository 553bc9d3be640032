"""MCFS: features that explain the spectral embedding of the nodes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import block_diag, subspace_angles
from sklearn.exceptions import ConvergenceWarning

from blockselect.baselines.by_features.mcfs import MCFS, smooth_eigenvectors
from references import mcfs


def ring_of_groups(n, seed=0):
    """A connected weighted graph with groups and distinct eigenvalues."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) * 4 // n
    W = rng.random((n, n)) * (rng.random((n, n)) < np.where(groups[:, None] == groups, 0.2, 0.01))
    W += np.eye(n, k=1)
    return np.maximum(W, W.T)


def normal_features(n, m=12, seed=0):
    return np.random.default_rng(seed).standard_normal((n, m)) + np.arange(n)[:, None] * 4 // n


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("count", [1, 3, 6])
def test_the_embedding_solves_the_generalised_eigenproblem(n, count):
    W = ring_of_groups(n)
    found, expected = smooth_eigenvectors(sparse.csr_array(W), count), mcfs.embedding(W, count)
    assert_allclose(np.abs(found), np.abs(expected), atol=1e-7)
    assert_allclose(found.T @ np.diag(W.sum(axis=1)) @ found, np.eye(count), atol=1e-9)


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("d", [1, 4, 9])
def test_scores_equal_the_literal_formula(n, d):
    X, W = normal_features(n), ring_of_groups(n)
    selector = MCFS(d, n_blocks=3).fit(X, affinity=W)
    expected = mcfs.coefficients(X, W, 3, d)
    assert_allclose(np.abs(selector.coefficients_), np.abs(expected), atol=1e-6 * np.abs(expected).max())
    assert_allclose(selector.scores_, np.abs(expected).max(axis=1), atol=1e-6 * np.abs(expected).max())
    assert (np.count_nonzero(selector.coefficients_, axis=0) == d).all()


def test_a_feature_with_a_negative_coefficient_counts_as_much():
    X, W = normal_features(60), ring_of_groups(60)
    expected = MCFS(4, n_blocks=3).fit(X, affinity=W).scores_
    assert_allclose(MCFS(4, n_blocks=3).fit(-X, affinity=W).scores_, expected, atol=1e-9)


@pytest.mark.parametrize("sizes", [(20, 15, 25), (150, 100, 80)])
def test_components_of_a_graph_are_its_first_eigenvectors(sizes):
    W = block_diag(*(ring_of_groups(size, seed=size) for size in sizes))
    found = smooth_eigenvectors(sparse.csr_array(W), 2)
    degrees, parts = W.sum(axis=1), np.repeat(np.arange(3), sizes)
    assert max(subspace_angles(np.column_stack([found, np.ones(sum(sizes))]), np.eye(3)[parts])) < 1e-6
    assert_allclose(degrees @ found, 0, atol=1e-8)  # the constant vector is left out


def test_nearly_isolated_nodes_raise_a_warning():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(400, 30)).astype(float)
    X[:40] *= rng.uniform(20, 100, size=(40, 1))  # heat weights of their links are practically zero
    with pytest.warns(UserWarning, match="the affinity graph has more than 5 components"):
        selector = MCFS(5, n_blocks=4).fit(X)
    assert np.isfinite(selector.scores_).all()
    assert (selector.embedding_.std(axis=0) > 0).all()


def test_a_node_without_any_affinity_gets_zeros():
    W = ring_of_groups(60)
    W[7] = W[:, 7] = 0
    assert_array_equal(smooth_eigenvectors(sparse.csr_array(W), 3)[7], 0)


def test_features_that_no_regression_uses_are_never_selected():
    X, W = normal_features(60, m=5), ring_of_groups(60)
    X = np.column_stack([X, np.zeros(60), np.full(60, 3.0)])
    with pytest.warns(ConvergenceWarning, match="only 5 of the 7 requested features"):
        selector = MCFS(7, n_blocks=2).fit(X, affinity=W)
    assert_array_equal(selector.scores_[5:], 0)


@pytest.mark.parametrize("n_blocks", [60, 61])
def test_as_many_eigenvectors_as_nodes_are_an_error(n_blocks):
    with pytest.raises(ValueError, match=f"n_blocks is {n_blocks} but 60 nodes have only 59 non-constant eigenvectors"):
        MCFS(n_blocks=n_blocks).fit(normal_features(60))
