"""SignedSelector: signed features through what lies above and below zero."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from blockselect import (
    BMGUFS,
    BlockModelSelector,
    SignedSelector,
    make_attributed_blocks,
    make_selector,
    selection_stability,
)
from blockselect.signed import split_signs

QUICK = BlockModelSelector(n_blocks=2, n_candidates=1, refine=False, n_neighbors=5, random_state=0)


every_overlap = pytest.mark.parametrize("overlap", [0, 1])


@pytest.fixture(scope="module")
def planted():
    """Standardised normal values: ten features are higher or lower in one of three blocks, thirty are not."""
    frame = make_attributed_blocks(150, 3, mean_degree=20, n_informative=0, n_redundant=0, n_noise=1, random_state=0)
    rng = np.random.default_rng(1)
    shift = np.where(np.arange(40) < 10, rng.choice([-1.5, 1.5], 40), 0)
    X = rng.normal(size=(150, 40)) + shift * (frame.blocks[:, None] == np.arange(40) % 3)
    return StandardScaler().fit_transform(X), frame.adjacency


def wrapped(n_features=10, overlap=1.0, **settings):
    return SignedSelector(BlockModelSelector(n_features, random_state=0, **settings), overlap=overlap)


@every_overlap
def test_features_that_are_high_or_low_in_a_block_are_found(planted, overlap):
    X, A = planted
    selector = wrapped(overlap=overlap).fit(X, adjacency=A)
    assert selector.support_[:10].sum() >= 9
    assert_array_equal(selector.transform(X), X[:, selector.support_])


@every_overlap
def test_a_feature_counts_as_the_better_of_its_parts(planted, overlap):
    X, A = planted
    selector = wrapped(overlap=overlap).fit(X, adjacency=A)
    by_hand = np.hstack([(X + overlap * X.std(axis=0)).clip(0), (overlap * X.std(axis=0) - X).clip(0)])
    parts = BlockModelSelector(10, random_state=0).fit(by_hand, adjacency=A)
    assert_allclose(selector.part_scores_, parts.scores_.reshape(2, 40), rtol=1e-9)
    assert_array_equal(selector.scores_, selector.part_scores_.max(axis=0))
    better = np.minimum(parts.ranking_[:40], parts.ranking_[40:])
    assert_array_equal(np.argsort(selector.ranking_), np.argsort(better))
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(np.argsort(better)[:10]))
    assert_array_equal(selector.estimator_.labels_, parts.labels_)


@every_overlap
def test_the_sign_of_a_feature_does_not_matter(planted, overlap):
    X, A = planted
    signs = np.random.default_rng(0).choice([-1, 1], 40)
    selector = SignedSelector(BMGUFS(10, n_blocks=3, random_state=0), overlap=overlap)
    scores, mirrored = (clone(selector).fit(values, adjacency=A).scores_ for values in (X, X * signs))
    assert_allclose(mirrored, scores, rtol=1e-6)


def test_an_overlap_finds_weaker_features_than_a_cut_at_zero():
    found = {0: 0, 1: 0}
    for seed in range(3):
        frame = make_attributed_blocks(
            400, 4, mean_degree=20, n_informative=0, n_redundant=0, n_noise=1, random_state=seed
        )
        rng = np.random.default_rng(seed)
        X = rng.standard_t(4, size=(400, 60)) + 0.5 * (frame.blocks[:, None] == np.append(np.arange(12) % 4, [9] * 48))
        X = StandardScaler().fit_transform(X)
        for overlap in found:
            found[overlap] += wrapped(12, overlap, n_blocks=4).fit(X, adjacency=frame.adjacency).support_[:12].sum()
    assert found[1] > found[0]


@every_overlap
def test_sparse_and_dense_features_score_alike(planted, overlap):
    X, A = planted
    holes = X * (np.random.default_rng(0).random(X.shape) < 0.3)
    forms = (holes, sparse.csr_array(holes))
    dense, stored = (wrapped(overlap=overlap).fit(form, adjacency=A).scores_ for form in forms)
    assert_allclose(stored, dense, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_parts_add_up_to_the_features(planted, form):
    X = planted[0]
    parts = split_signs(form(X), 0)
    assert sparse.issparse(parts) == (form is not np.asarray)
    parts = parts.toarray() if sparse.issparse(parts) else parts
    assert (parts >= 0).all()
    assert_array_equal(parts[:, :40] - parts[:, 40:], X)


def test_it_keeps_names_and_works_behind_a_scaler(planted):
    X, A = planted
    table = pd.DataFrame(X * 3 + 5, columns=[f"gene {i}" for i in range(40)])
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), wrapped(5))
    pipeline.fit(table, signedselector__adjacency=A)
    assert all(name.startswith("gene ") for name in pipeline[-1].get_feature_names_out())
    assert pipeline.transform(table).shape == (150, 5)


def test_without_a_graph_neighbours_are_those_of_the_signed_features(planted):
    X, _ = planted
    from blockselect.inputs.neighbour_graph import nearest_neighbour_graph

    scores = wrapped(n_neighbors=6).fit(X).scores_
    assert_array_equal(wrapped(n_neighbors=6).fit(X, adjacency=nearest_neighbour_graph(X, 6)).scores_, scores)


def test_the_estimator_is_cloned_and_its_parameters_can_be_set(planted):
    X, A = planted
    selector = wrapped()
    selector.set_params(estimator__n_blocks=3).fit(X, adjacency=A)
    assert not hasattr(selector.estimator, "scores_")
    assert selector.estimator_.n_blocks == 3
    assert clone(selector).get_params()["estimator__n_blocks"] == 3


@pytest.mark.parametrize("name", ["laplacian-score-network", "morans-i"])
def test_an_estimator_with_negative_scores_selects_as_many_as_requested(planted, name):
    X, A = planted
    selector = SignedSelector(make_selector(name, 35)).fit(X, adjacency=A)
    assert selector.n_features_ == 35
    assert selector.support_[:10].sum() >= 9


def test_stability_can_be_asked_for(planted):
    X, A = planted
    selector = SignedSelector(BMGUFS(10, n_blocks=3, n_candidates=1, random_state=0)).fit(X, adjacency=A)
    stability = selection_stability(selector, X, adjacency=A, n_resamples=3, random_state=0)
    assert stability.shape == (40,)


def test_bad_input_is_refused_with_the_way_out(planted):
    X, A = planted
    with pytest.raises(ValueError, match=r"Negative values in data.*SignedSelector"):
        BlockModelSelector(10).fit(X, adjacency=A)
    with pytest.raises(ValueError, match='n_features_to_select is "auto"'):
        wrapped("auto").fit(X, adjacency=A)
    with pytest.raises(ValueError, match="n_features_to_select is 41 but there are 40 features"):
        wrapped(41).fit(X, adjacency=A)
    with pytest.raises(ValueError, match="'overlap' parameter"):
        wrapped(overlap=-1).fit(X, adjacency=A)
    with pytest.raises(ValueError, match="'estimator' parameter"):
        SignedSelector(StandardScaler()).fit(X, adjacency=A)
    X = X.copy()
    X[3, 7] = np.nan
    with pytest.raises(ValueError, match="row 3, column 7"):
        wrapped().fit(X, adjacency=A)
