"""LaplacianScore: features that hardly differ between alike nodes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import make_attributed_blocks
from blockselect.baselines._solvers.laplacian_forms import laplacian_criterion
from blockselect.baselines.by_features.laplacian import LaplacianScore
from references import laplacian as reference
from references.laplacian import draw_network


@parametrize_with_checks([LaplacianScore(), LaplacianScore(weights="cosine")])
def test_scikit_learns_estimator_checks_hold(estimator, check):
    with warnings.catch_warnings():
        # Some checks bring nodes so far apart that a heat kernel of width 1 vanishes.
        warnings.filterwarnings("ignore", message=r"\d+ of \d+ nodes have next to no heat affinity")
        check(estimator)


@given(seed=st.integers(0, 10**6))
def test_the_criterion_is_that_of_the_definition(seed):
    X, W = draw_network(seed)
    expected = reference.laplacian_score(X, W)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = LaplacianScore(3).fit(features, affinity=W)
        assert_allclose(selector.criterion_, expected, rtol=1e-10, atol=1e-12)
        assert_array_equal(selector.scores_, -selector.criterion_)


@pytest.mark.parametrize(
    ("network", "affinity", "score"),
    [
        ("cora", "cora_W_heat_k5_t1", "cora_lapscore_score"),
        ("cora", "cora_W_binary_k5", "cora_lapscore_binary_score"),
        ("citeseer", "citeseer_W_heat_k5_t1", "citeseer_lapscore_score"),
    ],
)
def test_published_scores_are_met_on_the_published_affinity(golden_path, network, affinity, score):
    parts = np.load(golden_path / f"{network}.npz")
    X = sparse.csr_array((parts["Y_data"], parts["Y_indices"], parts["Y_indptr"]), shape=tuple(parts["Y_shape"]))
    W = sparse.load_npz(golden_path / f"{affinity}.npz")
    published = np.load(golden_path / f"{score}.npy")
    empty = X.sum(axis=0) == 0
    for features in (X, X.toarray()):
        selector = LaplacianScore(64).fit(features, affinity=W)
        assert_allclose(selector.criterion_[~empty], published[~empty], rtol=0, atol=1e-10)
        assert_array_equal(np.isnan(selector.criterion_), empty)


def test_without_an_affinity_the_nearest_neighbours_make_one():
    X, _ = draw_network(0)
    W = reference.neighbour_affinity(X, 4, reference.heat(0.7))
    selector = LaplacianScore(3, n_neighbors=4, width=0.7).fit(X)
    assert_allclose(selector.criterion_, reference.laplacian_score(X, W), rtol=1e-10)


@pytest.mark.parametrize("options", [{"width": "mean"}, {"weights": "cosine"}, {"weights": "binary"}])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_features_are_found_by_the_features_alone(options, seed):
    planted = make_attributed_blocks(
        400, 3, n_informative=15, n_redundant=0, n_noise=85, signal=8, frequency=(0.05, 0.1), random_state=seed
    )
    selector = LaplacianScore(15, **options).fit(planted.features)
    assert planted.is_informative[selector.get_support()].mean() >= 0.75  # chance: 0.15


@given(seed=st.integers(0, 10**6))
def test_scores_follow_the_nodes_and_features_when_these_are_reordered(seed):
    X, W = draw_network(seed)
    rng = np.random.default_rng(seed)
    nodes, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    scores = LaplacianScore(3).fit(X, affinity=W).scores_
    reordered = LaplacianScore(3).fit(X[np.ix_(nodes, columns)], affinity=W[np.ix_(nodes, nodes)]).scores_
    assert_allclose(reordered, scores[columns], rtol=1e-10)


@given(seed=st.integers(0, 10**6), shift=st.floats(-1e3, 1e3), factor=st.floats(0.01, 100))
def test_scores_do_not_change_with_the_unit_of_a_feature_or_of_the_affinity(seed, shift, factor):
    X, W = draw_network(seed)
    scores = LaplacianScore(3).fit(X, affinity=W).scores_
    assert_allclose(LaplacianScore(3).fit(X * factor + shift, affinity=W * factor).scores_, scores, rtol=1e-8)


def test_affinities_far_below_one_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(20, 5))
    W = reference.neighbour_affinity(X, 5, reference.heat(0.08))
    assert W[~np.eye(20, dtype=bool)].max() < 1e-10  # D − W with the diagonal in both would lose all digits
    centred = X - np.average(X, axis=0, weights=W.sum(axis=1))
    expected = [reference.roughness(f, W) for f in X.T] / (W.sum(axis=1) @ centred**2)
    for features in (X, sparse.csr_array(X)):
        assert_allclose(laplacian_criterion(features, sparse.csr_array(W)), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_constant_feature_scores_worst_and_is_never_selected(kind):
    X, W = draw_network(1)
    X[:, 2], X[:, 4] = 0.1, 0
    selector = LaplacianScore(5).fit(kind(X), affinity=W)
    assert_array_equal(np.flatnonzero(np.isnan(selector.criterion_)), [2, 4])
    assert_array_equal(np.flatnonzero(selector.scores_ == -np.inf), [2, 4])
    assert not selector.get_support()[[2, 4]].any()


def test_float32_features_score_as_float64_ones():
    X, W = draw_network(3)
    single = X.astype(np.float32)
    for features in (single, sparse.csr_array(single)):
        criterion = LaplacianScore(3).fit(features, affinity=W).criterion_
        assert criterion.dtype == np.float64
        assert_allclose(criterion, reference.laplacian_score(single.astype(np.float64), W), rtol=1e-10)


def test_bad_input_is_refused_with_the_way_out():
    X, W = draw_network(4)
    with pytest.raises(ValueError, match="affinity has 24 nodes but features has 25 rows"):
        LaplacianScore(3).fit(X, affinity=W[:-1, :-1])
    with pytest.raises(ValueError, match="affinity has a negative weight"):
        LaplacianScore(3).fit(X, affinity=-W)
    with pytest.raises(ValueError, match="all 7 features are constant"):
        LaplacianScore(3).fit(np.ones_like(X))
