"""The consensus: votes of block models become one score for each feature, weighed by the evidence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel
from blockselect.graphs.attributed import check_attributed_graph
from blockselect.consensus.weights import EVIDENCE, consensus_scores
from blockselect.consensus.joint import JointProblem
from references import joint as reference
from references.joint import small_network


@pytest.fixture
def votes():
    return np.random.default_rng(0).random((3, 6)) + 0.1


def test_a_score_is_the_mean_vote_times_the_root_of_twice_the_nats(votes):
    nats = np.array([8.0, 2.0, 0.5, 18.0, 1.0, 4.5])
    units = votes / np.linalg.norm(votes, axis=1, keepdims=True)
    expected = units.mean(axis=0) * np.array([4.0, 2.0, 1.0, 6.0, 2**0.5, 3.0])
    assert_allclose(consensus_scores(votes, nats), expected / np.linalg.norm(expected))


def test_a_vote_counts_the_same_whatever_its_length(votes):
    nats = np.arange(6.0)
    assert_allclose(consensus_scores(votes * np.array([[1.0], [50.0], [0.01]]), nats), consensus_scores(votes, nats))


def test_equal_evidence_leaves_the_order_to_the_votes(votes):
    order = np.argsort((votes / np.linalg.norm(votes, axis=1, keepdims=True)).mean(axis=0))
    assert_array_equal(np.argsort(consensus_scores(votes, np.full(6, 3.0))), order)


def test_features_not_worth_their_price_come_last_in_the_order_of_the_votes(votes):
    nats = np.array([-3.0, 5.0, 0.0, 5.0, -0.1, 5.0])
    scores = consensus_scores(votes, nats)
    assert scores[nats > 0].min() > 100 * scores[nats <= 0].max() > 0
    alike = consensus_scores(votes, np.ones(6))
    assert_allclose(scores[nats <= 0] / scores[0], alike[nats <= 0] / alike[0])


def test_a_feature_that_nobody_votes_for_scores_zero(votes):
    votes[:, 2] = 0
    assert consensus_scores(votes, np.full(6, 10.0))[2] == 0


@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_what_blocks_and_links_tell_less_the_price(seed):
    A, X, labels = small_network(seed)
    graph = check_attributed_graph(X, A)
    models = [BlockModel.from_labels(graph.adjacency, one) for one in (labels, labels % 2)]
    told = [
        np.mean([reference.information(X, model.labels, feature) - (model.n_blocks - 1) for model in models])
        for feature in range(X.shape[1])
    ]
    of_links = [reference.link_information(x, A) - 1 for x in X.T]
    problem = JointProblem(graph)
    assert_allclose(EVIDENCE["blocks"](problem, graph, models), told, atol=1e-9)
    assert_allclose(EVIDENCE["blocks and links"](problem, graph, models), np.add(told, of_links), atol=1e-9)
    assert np.ptp(EVIDENCE["none"](problem, graph, models)) == 0
