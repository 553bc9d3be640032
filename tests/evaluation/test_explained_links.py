"""Explained links: the formula, and that features of the blocks explain more than noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from blockselect import make_attributed_blocks
from blockselect.evaluation.explained_links import ExplainedLinks, links_explained


def by_the_formula(adjacency, labels):
    A, blocks = adjacency, np.unique(labels)
    E = np.array([[A[np.ix_(labels == a, labels == b)].sum() for b in blocks] for a in blocks])
    e, w = E.sum(axis=1), E.sum()
    terms = [E[a, b] / w * np.log(E[a, b] * w / (e[a] * e[b])) for a, b in np.argwhere(E > 0)]
    return sum(terms)


@pytest.mark.parametrize("seed", range(5))
def test_links_explained_are_the_mutual_information_of_link_ends(seed):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.poisson(1, (12, 12)) * rng.random((12, 12)))
    adjacency, labels = weights + weights.T, rng.integers(0, 3, 12) * 2
    for scale in (1.0, 1e-200):  # the unit of the weights does not matter
        found = links_explained(sparse.csr_array(scale * adjacency), labels)
        assert found == pytest.approx(by_the_formula(adjacency, labels), abs=1e-12)


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
