"""Moves of nodes: what links and features gain by each, against likelihoods written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.consensus.feature_likelihood import FeatureLikelihood
from blockselect.consensus.link_likelihood import LinkLikelihood
from blockselect.consensus.moves import sweep
from references import joint as reference
from references.joint import small_network


@pytest.mark.parametrize("seed", range(4))
def test_gain_of_each_move_is_the_difference_of_the_likelihoods(seed):
    A, X, labels = small_network(seed)
    in_use = np.array([True, False, True, True, False, True, True])
    links = LinkLikelihood(sparse.csr_array(A), labels)
    features = FeatureLikelihood(sparse.csr_array(X[:, in_use]), X.sum(axis=1), labels)
    rng = np.random.default_rng(seed)
    for node in [0, 16, 17, *rng.integers(len(A), size=4)]:
        node, old = int(node), labels[node]
        if (labels == old).sum() == 1:
            continue
        here = slice(node, node + 1)
        for new in {0, 1, 2} - {old}:
            moved = labels.copy()
            moved[node] = new
            by_links = reference.link_log_likelihood(A, moved) - reference.link_log_likelihood(A, labels)
            by_features = sum(
                reference.feature_log_likelihood(x, X.sum(axis=1), moved)
                - reference.feature_log_likelihood(x, X.sum(axis=1), labels)
                for x in X[:, in_use].T
            )
            assert_allclose(links.gains(here, labels[here])[0, new], by_links, atol=1e-9)
            assert_allclose(features.gains(here, labels[here])[0, new], by_features, atol=1e-9)
        links.move(node, old, new)
        features.move(node, old, new)
        labels = moved


@pytest.mark.parametrize("seed", range(4))
def test_gains_of_many_nodes_are_those_of_one_at_a_time(seed):
    A, X, labels = small_network(seed)
    for part in (
        LinkLikelihood(sparse.csr_array(A), labels),
        FeatureLikelihood(sparse.csr_array(X), X.sum(axis=1), labels),
    ):
        together = part.gains(slice(3, 15), labels[3:15])
        for row, node in zip(together, range(3, 15), strict=True):
            alone = part.gains(slice(node, node + 1), labels[node : node + 1])[0]
            elsewhere = np.arange(3) != labels[node]
            assert_allclose(row[elsewhere], alone[elsewhere], atol=1e-10)


def test_result_follows_the_nodes_when_nodes_and_visits_are_reordered():
    A, X, labels = small_network(5, n=30)
    order = np.random.default_rng(1).permutation(30)
    visits = np.random.default_rng(2).permutation(30)

    def moved(rows, visiting):
        block = labels[rows].copy()
        adjacency, features = sparse.csr_array(A[np.ix_(rows, rows)]), sparse.csr_array(X[rows])
        parts = [
            (1.0, LinkLikelihood(adjacency, block)),
            (1.0, FeatureLikelihood(features, X[rows].sum(axis=1), block)),
        ]
        assert sweep(block, parts, visiting, least_gain=1e-9, width=7) > 0
        return block

    assert_array_equal(moved(order, np.argsort(order)[visits]), moved(np.arange(30), visits)[order])
