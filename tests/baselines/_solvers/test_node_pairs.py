"""Links, non-links drawn evenly, and the likelihood of both against a loop over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.baselines._solvers import node_pairs as module
from blockselect.baselines._solvers.logistic_links import AllPairs, SampledPairs, alternate, link_likelihood
from blockselect.baselines._solvers.node_pairs import NodePairs, NonLinks, PairProducts, linked_pairs, row_products
from references import gfs

seeds = st.integers(0, 500)


def random_graph(seed, n=12, share=0.4):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share)
    upper[0, 1], upper[0, 2] = True, False
    return (upper | upper.T).astype(float)


def central_difference(function, point, step=1e-6):
    return np.array([(function(point + e) - function(point - e)) / (2 * step) for e in np.eye(len(point)) * step])


@given(seed=seeds)
def test_each_link_is_listed_once_without_self_loops(seed):
    A = random_graph(seed)
    links = linked_pairs(sparse.csr_array(A))
    expected = [(i, j) for i in range(len(A)) for j in range(i + 1, len(A)) if A[i, j]]
    assert sorted(zip(links.first, links.second, strict=True)) == expected


def test_a_stored_zero_is_no_link():
    A = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=float))
    A.data[[1, 3]] = 0
    assert len(linked_pairs(A)) == 1
    assert_array_equal(NonLinks.of(A).per_node, [1, 1, 2])


def test_a_graph_of_self_loops_alone_has_no_link():
    with pytest.raises(ValueError, match="links no two different nodes"):
        linked_pairs(sparse.csr_array(np.eye(3)))


def test_a_complete_graph_has_no_non_link():
    with pytest.raises(ValueError, match="each of the 4 nodes is linked with all others"):
        NonLinks.of(sparse.csr_array(np.ones((4, 4)) - np.eye(4)))


@given(seed=seeds)
def test_the_ranks_of_a_node_run_through_exactly_its_non_links(seed):
    A = random_graph(seed)
    non_links = NonLinks.of(sparse.csr_array(A))
    for node, count in enumerate(non_links.per_node):
        found = non_links.partner_at(np.full(count, node), np.arange(count))
        assert_array_equal(found, [k for k in range(len(A)) if k != node and not A[node, k]])


def test_partners_are_drawn_evenly_among_the_non_links_of_each_node():
    A = random_graph(3)
    non_links = NonLinks.of(sparse.csr_array(A))
    nodes = np.repeat(np.flatnonzero(non_links.per_node), 5000)
    partners = non_links.partners(nodes, np.random.default_rng(0))
    counts = np.zeros(A.shape)
    np.add.at(counts, (nodes, partners), 1)
    allowed = (A == 0) & ~np.eye(len(A), dtype=bool)
    assert counts[~allowed].sum() == 0
    expected = (5000 / allowed.sum(axis=1, keepdims=True).clip(1) * allowed)[allowed]
    assert_allclose(counts[allowed], expected, atol=5 * np.sqrt(expected.max()))


def test_pairs_are_drawn_evenly_among_all_non_links():
    A = random_graph(4)
    non_links = NonLinks.of(sparse.csr_array(A))
    drawn = non_links.draw(100_000, np.random.default_rng(0))
    counts = np.zeros(A.shape)
    np.add.at(counts, (np.minimum(drawn.first, drawn.second), np.maximum(drawn.first, drawn.second)), 1)
    allowed = np.triu(A == 0, 1)
    assert counts[~allowed].sum() == 0
    assert non_links.n_pairs == allowed.sum()
    expected = 100_000 / allowed.sum()
    assert_allclose(counts[allowed], expected, atol=5 * np.sqrt(expected))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_products_of_pairs_are_those_of_a_loop_whatever_the_pieces(problem, kind, monkeypatch):
    monkeypatch.setattr(module, "_PIECE_BYTES", 8 * 9 * 4)
    monkeypatch.setattr(module, "_PIECE_PAIRS", 3)
    pairs = linked_pairs(sparse.csr_array(problem.A))
    products = PairProducts.of(kind(problem.Y), pairs)
    slow = np.array([problem.Y[i] * problem.Y[j] for i, j in zip(pairs.first, pairs.second, strict=True)])
    weights = np.random.default_rng(0).normal(size=len(pairs))
    assert_allclose(products.affinity(problem.r), slow @ problem.r)
    assert_allclose(products.total(weights), slow.T @ weights)


def test_products_of_sparse_rows_stay_sparse(problem):
    assert sparse.issparse(row_products(sparse.csr_array(problem.Y), NodePairs(np.array([0, 1]), np.array([2, 3]))))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_loss_over_all_pairs_is_that_of_a_loop_whatever_the_pieces(problem, kind, monkeypatch):
    A = problem.A + np.diag(np.arange(len(problem.A)) % 2)  # self-loops are no links
    s, b = problem.r, -0.7
    slow = gfs.link_loss(problem.Y, A, s, b)
    for piece_bytes in (2**20, 8 * 20 * 3):
        monkeypatch.setattr(module, "_PIECE_BYTES", piece_bytes)
        assert_allclose(AllPairs.of(kind(problem.Y), sparse.csr_array(A)).loss(s, b).value, slow)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("non_links_per_link", [None, 1])
def test_the_gradients_of_the_loss_meet_finite_differences(problem, kind, non_links_per_link):
    rng = np.random.default_rng(0)
    likelihood = link_likelihood(
        kind(problem.Y), sparse.csr_array(problem.A), non_links_per_link=non_links_per_link, rng=rng
    )
    s, b = 0.2 * problem.r, -0.7
    loss = likelihood.loss(s, b)
    assert_allclose(loss.gradient, central_difference(lambda s: likelihood.loss(s, b).value, s), rtol=1e-5, atol=1e-8)
    by_intercept = central_difference(lambda b: likelihood.loss(s, float(b[0])).value, np.array([b]))
    assert_allclose(loss.by_intercept, by_intercept[0], rtol=1e-5, atol=1e-8)


def test_a_draw_of_non_links_is_right_on_average(problem):
    A, X = sparse.csr_array(problem.A), sparse.csr_array(problem.Y)
    links, non_links, rng = linked_pairs(A), NonLinks.of(A), np.random.default_rng(0)
    s, b = 0.2 * problem.r, -0.7
    draws = [SampledPairs.of(X, links, non_links, 30, rng).loss(s, b) for _ in range(400)]
    exact = AllPairs.of(X, A).loss(s, b)
    values = np.array([draw.value for draw in draws])
    assert_allclose(values.mean(), exact.value, atol=4 * values.std() / 20)
    gradients = np.array([draw.gradient for draw in draws])
    assert (np.abs(gradients.mean(axis=0) - exact.gradient) < 4 * gradients.std(axis=0) / 20).all()


def test_all_pairs_are_taken_where_a_draw_would_not_be_smaller(problem):
    A, rng = sparse.csr_array(problem.A), np.random.default_rng(0)
    assert isinstance(link_likelihood(problem.Y, A, non_links_per_link=1, rng=rng), SampledPairs)
    for many in (None, 20):
        assert isinstance(link_likelihood(problem.Y, A, non_links_per_link=many, rng=rng), AllPairs)


def test_the_descent_ends_where_the_bounds_alone_hold_it(problem):
    X, A = problem.Y * np.geomspace(0.05, 20, problem.Y.shape[1]), problem.A  # columns of very different scale
    cost = 0.02
    result = alternate(
        AllPairs.of(X, sparse.csr_array(A)),
        lambda _: lambda s: (cost * s.sum(), np.full(len(s), cost)),
        X,
        sparse.csr_array(A),
        max_iter=50,
        tol=0,
    )
    s, b = result.scores, result.intercept
    assert_allclose(result.history[-1], gfs.link_loss(X, A, s, b) + cost * s.sum())
    gradient = central_difference(lambda s: gfs.link_loss(X, A, s, b), s, step=1e-7) + cost
    assert_allclose(gradient, result.gradient, atol=1e-5)
    inside = (s > 0) & (s < 1)
    assert inside.any()
    assert (s == 0).any()
    assert_allclose(gradient[inside], 0, atol=2e-5)
    assert (gradient[s == 0] > -2e-5).all()
    assert (gradient[s == 1] < 2e-5).all()
