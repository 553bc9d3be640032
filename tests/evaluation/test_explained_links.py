"""Explained links: the definition, informative features versus noise, and nodes without features."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from blockselect import check_attributed_graph, make_attributed_blocks
from blockselect.evaluation.explained_links import ExplainedLinks, links_explained


def by_the_definition(adjacency, labels, covered):
    """Enumerate all draws of a node and one of its links, with their probabilities."""
    linked = np.flatnonzero(adjacency.sum(axis=1))
    chance = Counter()
    for i in linked:
        for j in np.flatnonzero(covered & covered[i]):
            chance[labels[i], labels[j]] += adjacency[i, j] / adjacency[i].sum() / len(linked)
    share = sum(chance.values())
    first, second = Counter(), Counter()
    for (a, b), p in chance.items():
        first[a] += p
        second[b] += p
    return sum(p * np.log(p * share / (first[a] * second[b])) for (a, b), p in chance.items() if p)


@pytest.mark.parametrize("seed", range(5))
def test_links_explained_are_the_mutual_information_of_a_node_and_a_neighbour(seed):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.poisson(1, (12, 12)) * rng.random((12, 12)))
    weights[:, 5] = weights[5] = 0  # an isolated node
    adjacency, labels = weights + weights.T, rng.integers(0, 3, 12) * 2
    for covered in (np.ones(12, dtype=bool), rng.random(12) < 0.7, np.arange(12) == 5):
        for scale in (1.0, 1e-200):  # the unit of the weights does not matter
            found = links_explained(sparse.csr_array(scale * adjacency), labels, covered)
            assert found == pytest.approx(by_the_definition(adjacency, labels, covered), abs=1e-12)


def test_leaving_nodes_out_is_not_rewarded():
    """Two features mark the two densest of six blocks perfectly; six others mark all blocks with some errors."""
    rng = np.random.default_rng(0)
    blocks = np.repeat(np.arange(6), 50)
    within = np.where(blocks < 2, 0.6, 0.2)[:, None] * (blocks[:, None] == blocks)
    links = np.triu(rng.random((300, 300)) < np.maximum(within, 0.01), 1)
    marks = blocks[:, None] == np.arange(6)
    noisy = np.where(rng.random((300, 6)) < 0.1, rng.random((300, 6)) < 0.2, marks)
    graph = check_attributed_graph(np.hstack([marks[:, :2], noisy]).astype(float), (links | links.T).astype(float))
    judge = ExplainedLinks(graph, n_runs=3, seed=0)
    few, every = judge.evaluate(np.arange(2)), judge.evaluate(np.arange(2, 8))
    assert few.n_zero_rows == 200
    assert every.n_zero_rows < 30
    assert every.explained.min() > 1.5 * few.explained.max()


def test_features_of_the_blocks_explain_more_than_noise():
    network = make_attributed_blocks(
        200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0
    )
    judge = ExplainedLinks(network.graph, n_runs=3, seed=0)
    good, bad = np.flatnonzero(network.is_informative), np.flatnonzero(~network.is_informative)
    best, worst = judge.evaluate(good), judge.evaluate(bad)
    assert best.explained.min() > 3 * worst.explained.max()
    assert (best.n_features, best.measures["explained_links"].shape) == (12, (3,))
    assert f"into {judge.n_clusters} clusters" in judge.describe()
