"""Likelihood of the links and its gradients against a loop over all pairs, and where the descent ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.baselines._solvers import node_pairs as module
from blockselect.baselines._solvers.logistic_links import AllPairs, SampledPairs, alternate, link_likelihood
from blockselect.baselines._solvers.node_pairs import NonLinks, linked_pairs
from references import gfs


def central_difference(function, point, step=1e-6):
    return np.array([(function(point + e) - function(point - e)) / (2 * step) for e in np.eye(len(point)) * step])


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
