"""BlockModelSelector.predict: the block of new nodes from the selected features only."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import normalize

from blockselect import BlockModelSelector, NodeGraph, RowChunks, load_cora, make_attributed_blocks
from blockselect.consensus.prediction import regress_blocks

HELD_OUT = np.arange(2708) % 4 == 0


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(240, 3, values="counts", random_state=0)


def penalty(unit):
    """λ of the objective: the median squared length of the centred columns with rows of unit length."""
    squares = np.square(unit - unit.mean(axis=0)).sum(axis=0)
    return np.median(squares[squares > 1e-12])


def by_scikit_learn(selector, train, test):
    """The predictions of a ridge classifier for dense features."""
    if selector.binarized_:
        train, test = (train != 0).astype(float), (test != 0).astype(float)
    ridge = RidgeClassifier(alpha=penalty(normalize(train)))
    ridge.fit(normalize(train[:, selector.support_]), selector.labels_)
    return ridge.predict(normalize(test[:, selector.support_]))


@pytest.mark.parametrize("n_features", [20, 200])
@pytest.mark.parametrize("n_blocks", [2, 7])
def test_held_out_nodes_of_cora_are_predicted_as_by_a_ridge_classifier(n_features, n_blocks):
    cora = load_cora()
    linked = cora.features.sum(axis=1) > 0
    train, test = linked & ~HELD_OUT, linked & HELD_OUT
    selector = BlockModelSelector(n_features, n_blocks=n_blocks, n_candidates=2, random_state=0)
    selector.fit(cora.features[train], adjacency=cora.adjacency[train][:, train])
    expected = by_scikit_learn(selector, cora.features[train].toarray(), cora.features[test].toarray())
    assert_array_equal(selector.predict(cora.features[test]), expected)
    assert selector.coef_.shape == (n_blocks, n_features)


def test_blocks_of_new_nodes_are_found():
    train = np.arange(240) < 180
    planted = make_attributed_blocks(240, 3, n_informative=60, frequency=(0.1, 0.25), random_state=0)
    selector = BlockModelSelector(40, block_model=planted.blocks[train])
    selector.fit(planted.features[train], adjacency=planted.adjacency[train][:, train])
    assert selector.score(planted.features[~train], planted.blocks[~train]) > 0.8
    hits = selector.predict(planted.features[~train]) == planted.blocks[~train]
    assert selector.score(planted.features[~train], planted.blocks[~train]) == hits.mean()


@pytest.mark.parametrize("binarize", [True, False])
def test_every_form_of_the_features_gives_the_same_blocks(planted, binarize):
    selector = BlockModelSelector(20, n_blocks=3, n_candidates=2, binarize=binarize, random_state=0)
    dense = planted.features.toarray()
    frame = pd.DataFrame(dense, columns=[f"word {i}" for i in range(dense.shape[1])])
    of_frame = selector.fit(frame, adjacency=planted.adjacency).predict(frame)
    assert_array_equal(of_frame, by_scikit_learn(selector, dense, dense))
    selector.fit(dense, adjacency=planted.adjacency)
    assert_array_equal(selector.predict(dense), of_frame)
    assert_array_equal(selector.predict(planted.features), of_frame)
    assert_array_equal(np.concatenate([selector.predict(dense[:7]), selector.predict(dense[7:])]), of_frame)


def test_row_chunks_fit_the_same_regression(planted):
    selector = BlockModelSelector(20, block_model=planted.blocks)
    whole = selector.fit(planted.features, adjacency=planted.adjacency)
    coefficients, intercepts = whole.coef_, whole.intercept_
    chunks = RowChunks.from_blocks([planted.features[:100], planted.features[100:]])
    selector.fit(chunks, adjacency=planted.adjacency)
    assert_allclose(selector.coef_, coefficients, atol=1e-10)
    assert_allclose(selector.intercept_, intercepts, atol=1e-10)
    with pytest.raises(ValueError, match=r"RowChunks; transform or predict each chunk separately"):
        selector.predict(chunks)


def test_other_features_than_the_selected_ones_do_not_matter(planted):
    selector = BlockModelSelector(10, n_blocks=3, n_candidates=2, random_state=0)
    selector.fit(planted.features, adjacency=planted.adjacency)
    only = planted.features.toarray() * selector.support_
    assert_array_equal(selector.predict(only), selector.predict(planted.features))
    assert_array_equal(selector.predict(np.zeros_like(only)), np.full(240, np.argmax(selector.intercept_)))


def test_features_after_the_first_thousand_have_no_coefficients():
    made = make_attributed_blocks(90, 3, n_noise=1100, random_state=0)
    selector = BlockModelSelector(1100, block_model=made.blocks).fit(made.features, adjacency=made.adjacency)
    used = np.flatnonzero(selector.coef_.any(axis=0))
    assert len(used) <= 1000
    assert selector.ranking_[selector.support_][used].max() <= 1000
    assert selector.score(made.features, made.blocks) > 0.9


def test_without_any_selected_feature_all_nodes_are_in_the_largest_block():
    made = make_attributed_blocks(120, 3, n_informative=1, n_redundant=0, n_noise=40, signal=1.0, random_state=1)
    selector = BlockModelSelector("auto", n_blocks=3, n_candidates=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="no feature matches the graph"):
        selector.fit(made.features, adjacency=made.adjacency)
    assert selector.n_features_ == 0
    largest = np.argmax(np.bincount(selector.labels_))
    assert_array_equal(selector.predict(made.features), np.full(120, largest))


def test_cross_validation_scores_by_the_predicted_blocks(planted):
    selector = BlockModelSelector(20, n_blocks=3, n_candidates=2, random_state=0)
    with pytest.raises(NotFittedError):
        selector.predict(planted.features)
    with config_context(enable_metadata_routing=True):
        selector.set_fit_request(adjacency=True)
        graph = NodeGraph(planted.adjacency)
        scores = cross_val_score(selector, planted.features, planted.blocks, cv=3, params={"adjacency": graph})
    assert ((scores >= 0) & (scores <= 1)).all()


def test_equal_features_without_a_penalty_share_their_coefficient():
    """As if rounding errors exceed λ: there is no unique solution, and the shortest one is used."""
    features, labels = np.repeat([[1.0, 1.0], [0.0, 0.0]], 5, axis=0), np.repeat([0, 1], 5)
    columns = np.arange(2)
    coefficients, intercepts = regress_blocks(features, columns, columns, labels, ridge=0.0)
    assert_allclose(coefficients[:, 0], coefficients[:, 1])
    assert_allclose(normalize(features) @ coefficients.T + intercepts, np.eye(2)[labels], atol=1e-12)
