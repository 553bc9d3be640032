"""The test whether selected features follow the graph: valid for any selection, and not blind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from blockselect.datasets import make_attributed_blocks
from blockselect.graphs import evidence
from blockselect.graphs.evidence import N_PERMUTATIONS, network_evidence


def random_network(rng, n=120, m=40):
    features = (rng.random((n, m)) < rng.uniform(0.02, 0.4, m)).astype(float)
    links = sparse.triu(sparse.random_array((n, n), density=0.05, rng=rng), k=1)
    return sparse.csr_array(features), sparse.csr_array(links + links.T)


def most_autocorrelated(features, adjacency, d):
    """The selection that the test should find hardest to see through: the columns of the largest exponents."""
    links = evidence._links_to_use(features, adjacency, 1e9, np.random.default_rng(0))
    test = evidence._Autocorrelation(features, links.weights)
    return np.argsort(-test.exponents(test.covariances(links)))[:d]


def test_on_random_matchings_even_the_most_autocorrelated_features_are_rarely_evidence():
    rng = np.random.default_rng(0)
    clear = 0
    for _ in range(200):
        X, A = random_network(rng)
        clear += network_evidence(X, A, most_autocorrelated(X, A, 5)).is_clear
    assert clear <= 12  # 5 expected; more than 12 with a probability of 0.2 %


def test_planted_features_are_evidence_and_those_of_permuted_rows_are_not():
    planted = make_attributed_blocks(300, 3, random_state=0)
    X, A = planted.features, planted.adjacency
    selected = np.flatnonzero(planted.is_informative)
    assert network_evidence(X, A, selected).p_value == 1 / (1 + N_PERMUTATIONS)
    rows = np.random.default_rng(1).permutation(300)
    assert not network_evidence(X[rows], A, selected).is_clear


def test_features_that_avoid_each_other_along_links_are_evidence_too():
    half = 60
    side = np.repeat([0.0, 1.0], half)
    rng = np.random.default_rng(0)
    across = sparse.random_array((half, half), density=0.1, rng=rng)
    A = sparse.csr_array(sparse.block_array([[None, across], [across.T, None]]))
    X = np.column_stack([side, rng.random((2 * half, 10))])
    found = network_evidence(X, A, np.array([0]))
    assert found.is_clear
    assert found.autocorrelation == pytest.approx(-1.0)


def test_covariances_equal_the_sum_over_links_for_sparse_and_dense_features():
    X, A = random_network(np.random.default_rng(3), n=40, m=6)
    pairs = sparse.triu(A, k=1).tocoo()
    centred = X.toarray() - X.mean(axis=0)
    slow = sum(w * centred[i] * centred[j] for i, j, w in zip(pairs.row, pairs.col, pairs.data, strict=True))
    for features in (X, X.toarray()):
        links = evidence._links_to_use(features, A, 1e9, np.random.default_rng(0))
        np.testing.assert_allclose(evidence._Autocorrelation(features, links.weights).covariances(links), slow)


def test_of_many_links_a_sample_is_used(monkeypatch):
    planted = make_attributed_blocks(300, 3, random_state=0)
    monkeypatch.setattr(evidence, "_PRODUCTS", (12_000,))
    found = network_evidence(planted.features, planted.adjacency, np.flatnonzero(planted.is_informative))
    assert found.n_links < planted.adjacency.nnz // 2
    assert found.is_clear


def test_more_links_are_tested_if_a_small_sample_shows_no_evidence(monkeypatch):
    planted = make_attributed_blocks(300, 3, random_state=0)
    monkeypatch.setattr(evidence, "_PRODUCTS", (1000, 1e9))
    found = network_evidence(planted.features, planted.adjacency, np.flatnonzero(planted.is_informative))
    assert found.n_links == (planted.adjacency.nnz - planted.adjacency.diagonal().astype(bool).sum()) // 2
    assert found.is_clear


def test_constant_features_are_no_evidence():
    _, A = random_network(np.random.default_rng(0))
    found = network_evidence(np.ones((120, 3)), A, np.array([0, 1]))
    assert (found.p_value, found.autocorrelation) == (1.0, 0.0)
