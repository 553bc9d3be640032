"""The test whether selected features are associated with the graph: valid for any selection, and powerful."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from blockselect import RowChunks
from blockselect.datasets import make_attributed_blocks
from blockselect.inspection.evidence import N_PERMUTATIONS, AlongLinks, ByBlocks, links_to_use, network_evidence


def random_network(rng, n=120, m=40):
    features = (rng.random((n, m)) < rng.uniform(0.02, 0.4, m)).astype(float)
    links = sparse.triu(sparse.random_array((n, n), density=0.05, rng=rng), k=1)
    ring = sparse.eye_array(n, k=1)  # so that every node has a link
    return sparse.csr_array(features), sparse.csr_array(links + links.T + ring + ring.T)


def most_autocorrelated(features, adjacency, d):
    """The selection that is hardest for the test: the columns with the largest exponents."""
    return np.argsort(-along_all_links(features, adjacency).values(np.arange(features.shape[0])))[:d]


def along_all_links(features, adjacency):
    return AlongLinks(features, links_to_use(features, adjacency, 1e9))


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
    weights = pairs.data / pairs.data.max()
    slow = sum(w * centred[i] * centred[j] for i, j, w in zip(pairs.row, pairs.col, weights, strict=True))
    for features in (X, X.toarray()):
        np.testing.assert_allclose(along_all_links(features, A).covariances(np.arange(40)), slow)


def test_more_links_are_tested_if_a_small_sample_shows_no_evidence():
    planted = make_attributed_blocks(300, 3, random_state=0)
    selected = np.flatnonzero(planted.is_informative)
    for products, is_clear in (((1000, 1000), False), ((1000, 1e9), True)):
        found = network_evidence(planted.features, planted.adjacency, selected, products=products)
        assert found.is_clear is is_clear


def test_on_random_matchings_even_the_features_that_follow_the_blocks_best_are_rarely_evidence():
    rng = np.random.default_rng(0)
    clear = 0
    for _ in range(200):
        X, A = random_network(rng)
        blocks = rng.integers(4, size=120)
        best = np.argsort(-ByBlocks(X, blocks, 1e9).values(np.arange(120)))[:5]
        clear += network_evidence(X, A, best, blocks).is_clear
    assert clear <= 12


def test_gains_by_blocks_equal_the_log_likelihood_ratio():
    X, _ = random_network(np.random.default_rng(5), n=60, m=5)
    blocks = np.arange(60) % 3
    rows = np.random.default_rng(6).permutation(60)
    dense = X.toarray()[rows]
    totals = np.array([dense[blocks == block].sum() for block in range(3)])
    for column, gain in enumerate(ByBlocks(X, blocks, 1e9).values(rows)):
        values = dense[:, column]
        in_block = np.array([values[blocks == block].sum() for block in range(3)])
        terms = [s * np.log(s / t) for s, t in zip(in_block, totals, strict=True) if s > 0]
        nats = sum(terms) - values.sum() * np.log(values.sum() / totals.sum())
        assert gain == pytest.approx(nats * values.mean() / values.var())


def test_features_too_rare_to_meet_along_links_are_evidence_by_blocks():
    rng = np.random.default_rng(0)
    planted = make_attributed_blocks(
        3000, 5, n_informative=20, n_redundant=0, frequency=(0.002, 0.004), random_state=rng
    )
    selected = np.flatnonzero(planted.is_informative)
    assert not network_evidence(planted.features, planted.adjacency, selected).is_clear
    assert network_evidence(planted.features, planted.adjacency, selected, planted.blocks).is_clear


@pytest.mark.parametrize(("of_features", "of_weights"), [(1e70, 1e20), (1e-70, 1e-20), (1e70, 1e140), (1e-70, 1e-140)])
@pytest.mark.parametrize("permuted", [False, True])
def test_neither_the_scale_of_the_features_nor_of_the_weights_matters(of_features, of_weights, permuted):
    made = make_attributed_blocks(200, 4, random_state=0)
    rows = np.random.default_rng(1).permutation(200) if permuted else np.arange(200)
    selected = np.flatnonzero(made.is_informative)
    for blocks in (None, made.blocks):
        here, scaled = (
            network_evidence(made.features[rows] * x, made.adjacency * a, selected, blocks)
            for x, a in ((1, 1), (of_features, of_weights))
        )
        assert here.is_clear is not permuted
        assert scaled.p_value == here.p_value
        assert scaled.autocorrelation == pytest.approx(here.autocorrelation)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_values_that_overflow_are_no_evidence():
    X, A = random_network(np.random.default_rng(0))
    assert not network_evidence(X * 1e154, A, np.arange(5)).is_clear


def heavy_tailed(rng, n=250, m=60, n_informative=15):
    """Pareto values without a mean; those of the first features are 2.5 times as large in one of three blocks."""
    planted = make_attributed_blocks(n, 3, mean_degree=8, n_informative=0, n_redundant=0, n_noise=1, random_state=rng)
    at_home = (planted.blocks[:, None] == np.arange(m) % 3) & (np.arange(m) < n_informative)
    return (rng.pareto(1, (n, m)) + 1) * np.where(at_home, 2.5, 1.0), planted.adjacency


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_a_few_huge_values_do_not_hide_that_features_follow_the_graph(storage):
    rng = np.random.default_rng(0)
    selected = np.arange(15)
    for _ in range(10):
        X, A = heavy_tailed(rng)
        assert network_evidence(storage(X), A, selected).is_clear
        assert not network_evidence(storage(X[rng.permutation(len(X))]), A, selected).is_clear


def test_sparse_features_have_the_ranks_of_dense_ones():
    rng = np.random.default_rng(0)
    _, A = random_network(rng)
    X = np.round(rng.standard_t(1, (120, 6)), 1) * (rng.random((120, 6)) < [0, 0.05, 0.3, 0.6, 0.9, 1])
    X[:, 3] = np.abs(X[:, 3])
    rows = rng.permutation(120)
    dense, by_storage = (along_all_links(one, A).of_ranks().values(rows) for one in (X, sparse.csr_array(X)))
    assert (dense[2:] > 1e-3).all()
    np.testing.assert_allclose(by_storage, dense, atol=1e-12)


def test_constant_features_are_no_evidence():
    _, A = random_network(np.random.default_rng(0))
    found = network_evidence(np.ones((120, 3)), A, np.array([0, 1]))
    assert (found.p_value, found.autocorrelation) == (1.0, 0.0)


@pytest.mark.parametrize("products", [(1000.0, 1000.0), (1e9, 1e9)])
@pytest.mark.parametrize("by_blocks", [False, True])
def test_row_chunks_give_the_evidence_of_the_same_rows_in_memory(products, by_blocks):
    planted = make_attributed_blocks(200, 4, random_state=0)
    X = sparse.csr_array(planted.features)
    chunks = RowChunks.from_blocks([X[:90], X[90:]])
    selected, blocks = np.flatnonzero(planted.is_informative), planted.blocks if by_blocks else None
    here, there = (network_evidence(one, planted.adjacency, selected, blocks, products=products) for one in (X, chunks))
    assert there.p_value == here.p_value
    assert there.autocorrelation == pytest.approx(here.autocorrelation)


@pytest.mark.parametrize("permuted", [False, True])  # permuted rows stop early, after a few permutations
def test_the_number_of_threads_changes_nothing(permuted):
    made = make_attributed_blocks(200, 4, random_state=0)
    rows = np.random.default_rng(1).permutation(200) if permuted else np.arange(200)
    selected = np.flatnonzero(made.is_informative)
    one, two = (
        network_evidence(made.features[rows], made.adjacency, selected, made.blocks, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert one == two
    assert one.is_clear is not permuted
