"""Links, uniformly sampled non-links, and products of the features at both ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.baselines._solvers import node_pairs as module
from blockselect.baselines._solvers.node_pairs import NonLinks, PairProducts, linked_pairs, row_products

seeds = st.integers(0, 500)


def random_graph(seed, n=12, share=0.4):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share)
    upper[0, 1], upper[0, 2] = True, False
    return (upper | upper.T).astype(float)


@given(seed=seeds)
def test_each_link_is_listed_once_without_self_loops(seed):
    A = random_graph(seed)
    links = linked_pairs(sparse.csr_array(A))
    expected = [(i, j) for i in range(len(A)) for j in range(i + 1, len(A)) if A[i, j]]
    assert sorted(map(tuple, links.tolist())) == expected


def test_a_stored_zero_is_not_a_link():
    A = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=float))
    A.data[[1, 3]] = 0
    assert len(linked_pairs(A)) == 1
    assert_array_equal(NonLinks(A).per_node, [1, 1, 2])


def test_a_graph_with_only_self_loops_has_no_links():
    with pytest.raises(ValueError, match="no links between different nodes"):
        linked_pairs(sparse.csr_array(np.eye(3)))


def test_a_complete_graph_has_no_non_links():
    with pytest.raises(ValueError, match="each of the 4 nodes is linked to all others"):
        NonLinks(sparse.csr_array(np.ones((4, 4)) - np.eye(4)))


@given(seed=seeds)
def test_all_positions_of_a_node_give_exactly_its_non_links(seed):
    A = random_graph(seed)
    non_links = NonLinks(sparse.csr_array(A))
    for node, count in enumerate(non_links.per_node):
        found = non_links.partner_at(np.full(count, node), np.arange(count))
        assert_array_equal(found, [k for k in range(len(A)) if k != node and not A[node, k]])


def test_partners_are_drawn_uniformly_from_the_non_links_of_each_node():
    A = random_graph(3)
    non_links = NonLinks(sparse.csr_array(A))
    nodes = np.repeat(np.flatnonzero(non_links.per_node), 5000)
    partners = non_links.partners(nodes, np.random.default_rng(0))
    counts = np.zeros(A.shape)
    np.add.at(counts, (nodes, partners), 1)
    allowed = (A == 0) & ~np.eye(len(A), dtype=bool)
    assert counts[~allowed].sum() == 0
    expected = (5000 / allowed.sum(axis=1, keepdims=True).clip(1) * allowed)[allowed]
    assert_allclose(counts[allowed], expected, atol=5 * np.sqrt(expected.max()))


def test_pairs_are_drawn_uniformly_from_all_non_links():
    A = random_graph(4)
    non_links = NonLinks(sparse.csr_array(A))
    drawn = non_links.draw(100_000, np.random.default_rng(0))
    counts = np.zeros(A.shape)
    np.add.at(counts, (drawn.min(axis=1), drawn.max(axis=1)), 1)
    allowed = np.triu(A == 0, 1)
    assert counts[~allowed].sum() == 0
    assert non_links.n_pairs == allowed.sum()
    expected = 100_000 / allowed.sum()
    assert_allclose(counts[allowed], expected, atol=5 * np.sqrt(expected))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_products_of_pairs_equal_a_loop_for_any_batch_size(problem, kind, monkeypatch):
    monkeypatch.setattr(module, "_PIECE_BYTES", 8 * 9 * 4)
    monkeypatch.setattr(module, "_PIECE_PAIRS", 3)
    pairs = linked_pairs(sparse.csr_array(problem.A))
    products = PairProducts(kind(problem.Y), pairs)
    slow = np.array([problem.Y[i] * problem.Y[j] for i, j in pairs])
    weights = np.random.default_rng(0).normal(size=len(pairs))
    assert_allclose(products.affinity(problem.r), slow @ problem.r)
    assert_allclose(products.total(weights), slow.T @ weights)


def test_products_of_sparse_rows_stay_sparse(problem):
    assert sparse.issparse(row_products(sparse.csr_array(problem.Y), np.array([[0, 2], [1, 3]])))
