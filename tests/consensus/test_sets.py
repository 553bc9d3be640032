"""Features enter one by one, each the one that adds most to what the others explain of the blocks."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.consensus.sets import order_by_block, order_by_node


@pytest.fixture(params=range(4))
def made(request):
    """Scores, shares and labels of two block models, and features."""
    rng = np.random.default_rng(request.param)
    n, m = 40, 25
    shares = [rng.dirichlet(np.full(k, 0.3), size=m) for k in (3, 5)]
    labels = [rng.integers(k, size=n) for k in (3, 5)]
    features = rng.poisson(0.4, (n, m)).astype(float)
    return rng.random(m), shares, labels, features


TAU = 0.1  # of the largest score


def plain_greedy(pieces, weights, n_wanted):
    """Without any short cut: the whole objective anew for each feature. `pieces` (m, places)."""
    chosen, rest = [], list(range(len(pieces)))
    for _ in range(n_wanted):
        values = [weights @ np.log1p(pieces[[*chosen, one]].sum(axis=0) / TAU) for one in rest]
        chosen.append(rest.pop(int(np.argmax(np.round(values, 10)))))
    return np.array(chosen)


def test_by_block_is_the_plain_greedy_order(made):
    scores, shares, labels, _ = made
    pieces = np.hstack([(scores / scores.max())[:, None] * each for each in shares])
    sizes = np.concatenate([np.bincount(of_node, minlength=k) for of_node, k in zip(labels, (3, 5), strict=True)])
    assert_array_equal(order_by_block(scores, shares, labels, 12), plain_greedy(pieces, sizes, 12))


def test_by_node_is_the_plain_greedy_order(made):
    scores, shares, labels, features = made
    units = features / np.where(features > 0, features, np.nan).mean(axis=0, where=features > 0)
    scaled = scores / scores.max()
    pieces = np.hstack(
        [units.T * scaled[:, None] * each[:, of_node] for each, of_node in zip(shares, labels, strict=True)]
    )
    expected = plain_greedy(pieces, np.ones(pieces.shape[1]), 12)
    assert_array_equal(order_by_node(scores, shares, labels, 12, features), expected)


def test_sparse_and_dense_features_enter_alike(made):
    scores, shares, labels, features = made
    dense = order_by_node(scores, shares, labels, 10, features)
    assert_array_equal(order_by_node(scores, shares, labels, 10, sparse.csr_array(features)), dense)


@pytest.mark.parametrize("order", [order_by_block, order_by_node])
def test_a_shorter_order_is_the_beginning_of_a_longer_one(made, order):
    scores, shares, labels, features = made
    extra = (features,) if order is order_by_node else ()
    longer = order(scores, shares, labels, 12, *extra)
    assert_array_equal(order(scores, shares, labels, 5, *extra), longer[:5])


def test_the_second_feature_marks_another_block_though_its_score_is_lower():
    scores = np.array([1.0, 0.9, 0.5])
    shares = [np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])]
    labels = [np.repeat([0, 1], 10)]
    assert_array_equal(order_by_block(scores, shares, labels, 3), [0, 2, 1])


def test_features_that_score_nothing_or_mark_nothing_do_not_enter():
    scores = np.array([0.0, 1.0, 0.5])
    shares = [np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.5]])]
    assert_array_equal(order_by_block(scores, shares, [np.array([0, 1])], 3), [2])


def test_the_order_of_the_features_does_not_matter(made):
    scores, shares, labels, features = made
    turned = np.random.default_rng(9).permutation(len(scores))
    there = order_by_node(scores[turned], [each[turned] for each in shares], labels, 10, features[:, turned])
    assert_array_equal(turned[there], order_by_node(scores, shares, labels, 10, features))


def test_ten_times_as_many_of_the_best_scores_as_are_wanted_are_considered():
    """The eleventh score marks the large block: it enters first, where it is considered."""
    scores = np.concatenate([np.linspace(1, 0.9, 10), [0.5]])
    shares = [np.eye(2)[[0] * 10 + [1]]]
    labels = [np.repeat([0, 1], [1, 100])]
    assert_array_equal(order_by_block(scores, shares, labels, 1), [0])
    assert_array_equal(order_by_block(scores, shares, labels, 2), [10, 0])


def test_of_equal_features_the_first_enters_first():
    scores, shares = np.array([0.3, 0.7, 0.7, 0.1 + 0.2]), [np.ones((4, 1))]
    assert_array_equal(order_by_block(scores, shares, [np.zeros(3, dtype=int)], 4), [1, 2, 0, 3])


def test_where_no_feature_scores_none_enters():
    assert len(order_by_block(np.zeros(3), [np.ones((3, 1))], [np.zeros(2, dtype=int)], 2)) == 0
