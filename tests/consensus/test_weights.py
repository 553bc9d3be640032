"""Votes of block models become one score for each feature, weighted by how surely it has to do with the graph."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.weights import FeatureGains, feature_gains, mean_vote, weighted
from blockselect.graphs.attributed import check_attributed_graph
from references import joint as reference
from references.joint import small_network


def weighted_vote(votes, weights):
    """Scores of votes under gains by blocks alone that make these weights."""
    return weighted(
        mean_vote(votes), FeatureGains(np.asarray(weights) ** 2 / 2, 0.0, np.zeros(len(weights), dtype=bool))
    )


def feature_weights(likelihood, graph, models):
    return feature_gains(likelihood, graph, models).weights


@pytest.fixture
def votes():
    return np.random.default_rng(0).random((3, 6)) + 0.1


def test_a_score_is_the_mean_vote_times_the_weight_and_all_scores_have_unit_length(votes):
    weights = np.array([4.0, 2.0, 1.0, 6.0, 2**0.5, 3.0])
    units = votes / np.linalg.norm(votes, axis=1, keepdims=True)
    expected = units.mean(axis=0) * weights
    assert_allclose(weighted_vote(votes, weights), expected / np.linalg.norm(expected))


def test_a_vote_counts_the_same_whatever_its_length(votes):
    weights = np.arange(1.0, 7.0)
    longer = votes * np.array([[1.0], [50.0], [0.01]])
    assert_allclose(weighted_vote(longer, weights), weighted_vote(votes, weights))


def test_equal_weights_leave_the_order_to_the_votes(votes):
    order = np.argsort((votes / np.linalg.norm(votes, axis=1, keepdims=True)).mean(axis=0))
    assert_array_equal(np.argsort(weighted_vote(votes, np.full(6, 3.0))), order)


def test_a_feature_that_nobody_votes_for_scores_zero(votes):
    votes[:, 2] = 0
    assert weighted_vote(votes, np.full(6, 10.0))[2] == 0


def slow_gains(A, X, models):
    """Gain of each feature from blocks, the mean over models, and from links, each less its penalty."""
    from_blocks = [
        np.mean([reference.feature_gain(X, model.labels, feature) - (model.n_blocks - 1) for model in models])
        for feature in range(X.shape[1])
    ]
    return np.add(from_blocks, [reference.link_gain(x, A) - 1 for x in X.T])


@pytest.mark.parametrize("seed", range(3))
def test_the_weight_is_the_root_of_twice_the_gain_from_blocks_and_links(seed):
    A, X, labels = small_network(seed)
    graph = check_attributed_graph(X, A)
    models = [BlockModel.from_labels(graph.adjacency, one) for one in (labels, labels % 2)]
    gains = slow_gains(A, X, models)
    expected = np.where(gains > 0, np.sqrt(2 * np.maximum(gains, 0)), 1e-3)
    expected[-1] = 0  # a feature that nobody has is the same for all nodes
    assert_allclose(feature_weights(JointLikelihood(graph), graph, models), expected, atol=1e-7)


def test_features_whose_gain_does_not_exceed_the_penalty_come_last_in_the_order_of_the_votes():
    A, X, labels = small_network(0)
    X[:, 0] = 3 * (labels == 0) + 1e-3
    graph = check_attributed_graph(X, A)
    weights = feature_weights(JointLikelihood(graph), graph, [BlockModel.from_labels(graph.adjacency, labels)])
    least = weights[:-1].min()
    unsure = weights == least
    assert weights[0] > 100 * least > 0
    assert unsure.sum() >= 2
    votes = np.random.default_rng(0).random((1, X.shape[1])) + 0.1
    scores = weighted_vote(votes, weights)
    assert_allclose(scores[unsure] / scores[unsure].max(), votes[0, unsure] / votes[0, unsure].max())


def test_the_weight_by_links_is_that_of_their_gain_alone():
    gains = FeatureGains(np.array([5.0, 1, 1, 9]), np.array([2.0, 8, -1, 4]), np.array([False, False, False, True]))
    assert_allclose(gains.weights_by_links, [2, 4, 1e-3, 0])
    assert_allclose(gains.weights, [14**0.5, 18**0.5, 1e-3, 0])
