"""MoransI: features whose values go together along links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import load_cora, make_attributed_blocks
from blockselect.baselines.by_network.moran import MoransI
from references import moran as reference


@parametrize_with_checks([MoransI(n_neighbors=5)])
def test_scikit_learns_estimator_checks_hold(estimator, check):
    check(estimator)


def draw(seed, n=25, m=7):
    """Features with some zeros, and a weighted graph with self-loops and nodes without a link."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=1, size=(n, m)) * (rng.random((n, m)) < 0.6)
    A = rng.random((n, n)) * (rng.random((n, n)) < 0.1)
    A[0, 1] = 1
    A[[3, 7]] = A[:, [3, 7]] = 0
    return X, np.maximum(A, A.T)


@given(seed=st.integers(0, 10**6))
def test_the_criterion_is_that_of_the_definition(seed):
    X, A = draw(seed)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = MoransI(3).fit(features, adjacency=A)
        assert_allclose(selector.criterion_, reference.morans_i(X, A), rtol=1e-9, atol=1e-12)
        assert_array_equal(selector.scores_, selector.criterion_)


def test_values_are_those_of_scanpy():
    scanpy_metrics = pytest.importorskip("scanpy.metrics")
    cora = load_cora()
    used = cora.features[:, cora.features.sum(axis=0) > 0]
    ours = MoransI(64).fit(used, adjacency=cora.adjacency).criterion_
    theirs = scanpy_metrics.morans_i(sparse.csr_matrix(cora.adjacency), sparse.csr_matrix(used.T))
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_feature_that_differs_along_every_link_has_minus_one():
    A = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    X = np.array([[1.0, 1, 0], [1, 0, 2], [0, 1, 1], [0, 0, 5]])
    assert_allclose(MoransI(1).fit(X, adjacency=A).criterion_[:2], [-1, 0], atol=1e-15)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_features_are_found(seed):
    planted = make_attributed_blocks(
        400, 3, mean_degree=40, n_informative=15, n_redundant=0, n_noise=85, random_state=seed
    )
    selector = MoransI(15).fit(planted.features, adjacency=planted.adjacency)
    assert planted.is_informative[selector.get_support()].mean() >= 0.7  # chance: 0.15


@given(seed=st.integers(0, 10**6))
def test_scores_follow_the_nodes_and_features_when_these_are_reordered(seed):
    X, A = draw(seed)
    rng = np.random.default_rng(seed)
    nodes, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    scores = MoransI(3).fit(X, adjacency=A).scores_
    reordered = MoransI(3).fit(X[np.ix_(nodes, columns)], adjacency=A[np.ix_(nodes, nodes)]).scores_
    assert_allclose(reordered, scores[columns], rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 10**6), shift=st.floats(-1e3, 1e3), factor=st.floats(0.01, 100))
def test_scores_do_not_change_with_the_unit_of_a_feature_or_of_the_links(seed, shift, factor):
    X, A = draw(seed)
    scores = MoransI(3).fit(X, adjacency=A).scores_
    assert_allclose(MoransI(3).fit(X * factor + shift, adjacency=A * factor).scores_, scores, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_constant_feature_scores_worst_and_is_never_selected(kind):
    X, A = draw(1)
    X[:, 2], X[:, 4] = 0.1, 0
    selector = MoransI(5).fit(kind(X), adjacency=A)
    assert_array_equal(np.flatnonzero(np.isnan(selector.criterion_)), [2, 4])
    assert_array_equal(np.flatnonzero(selector.scores_ == -np.inf), [2, 4])
    assert not selector.get_support()[[2, 4]].any()


def test_float32_features_score_as_float64_ones():
    X, A = draw(3)
    single = X.astype(np.float32)
    for features in (single, sparse.csr_array(single)):
        criterion = MoransI(3).fit(features, adjacency=A).criterion_
        assert criterion.dtype == np.float64
        assert_allclose(criterion, reference.morans_i(single.astype(np.float64), A), rtol=1e-9, atol=1e-12)


def test_bad_input_is_refused_with_the_way_out():
    X, A = draw(4)
    with pytest.raises(ValueError, match="adjacency is missing"):
        MoransI(3).fit(X)
    with pytest.raises(ValueError, match="adjacency has 24 nodes but features has 25 rows"):
        MoransI(3).fit(X, adjacency=A[:-1, :-1])
    with pytest.raises(ValueError, match="adjacency has a negative weight"):
        MoransI(3).fit(X, adjacency=-A)
    with pytest.raises(ValueError, match="all 7 features are constant"):
        MoransI(3).fit(np.ones_like(X), adjacency=A)
