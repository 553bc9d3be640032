"""ADAPT-style selection: each term equals its formula, and the iterations converge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from blockselect.baselines._solvers.node_pairs import both_ways, linked_pairs
from blockselect.baselines.by_network.adapt import ADAPT, Ties, onto_simplex
from references import adapt
from references.differences import central_difference
from references.problems import make_problem


def fit(X, A, n=1, **options):
    return ADAPT(n, **{"random_state": 0, **options}).fit(X, adjacency=A)


@given(seed=st.integers(0, 500), scale=st.sampled_from([0.01, 0.3, 1.0, 1e6]), offset=st.sampled_from([0.0, -1e5]))
def test_each_group_is_projected_onto_its_simplex(seed, scale, offset):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(6) * 2, rng.integers(1, 6, size=6))
    values = scale * rng.normal(size=len(groups)).round(1) + offset  # rounding creates ties
    projected = onto_simplex(values, groups)
    for group in np.unique(groups):
        here = groups == group
        assert_allclose(projected[here], adapt.project_onto_simplex(values[here]), atol=1e-9)


def test_the_projection_solves_a_quadratic_program():
    values = np.array([0.4, 0.1, -0.3, 0.35])
    best = minimize(
        lambda p: np.sum((p - values) ** 2),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        tol=1e-12,
    ).x
    assert_allclose(onto_simplex(values, np.zeros(4, dtype=int)), best, atol=1e-6)


def as_matrix(ties, strengths, A):
    turned = both_ways(linked_pairs(sparse.csr_array(A)))
    P = np.zeros(A.shape)
    P[tuple(turned[ties.order].T)] = strengths
    return P


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_strengths_and_their_gradient_equal_loops(kind):
    problem = make_problem(0)
    X, A, s = problem.Y, problem.A.copy(), problem.r
    A[5], A[:, 5] = 0, 0  # a node without links
    A[7, 7] = 1
    ties = Ties(kind(X), sparse.csr_array(A))
    for mu in (0.01, 0.3, 10):
        strengths = ties.strengths(s, mu)
        P = adapt.best_strengths(X, A, s, mu)
        assert_allclose(as_matrix(ties, strengths, A), P, atol=1e-10)
        slope = central_difference(lambda s, P=P, mu=mu: adapt.ties(X, A, s, P, 1.0, mu), s, step=1e-4)
        assert_allclose(ties.slope(strengths), slope, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_with_all_pairs_the_iterations_converge_to_a_stationary_point(seed):
    problem = make_problem(seed)
    X, A, mu = problem.Y / problem.Y[problem.Y > 0].mean(), problem.A, 0.05
    selector = fit(X, A, exact=True, neighborhood=0.05, evenness=mu, sparsity=0.2, max_iter=300, tol=0)
    s, b = selector.criterion_, selector.intercept_
    P = adapt.best_strengths(X, A, s, mu)

    def objective(s, b):
        return adapt.objective(X, A, s, b, P, alpha=0.05, mu=mu, sparsity=0.2)

    assert_allclose(selector.history_[-1], objective(s, b), rtol=1e-8)
    gradient = central_difference(lambda s: objective(np.maximum(s, 0), b), np.maximum(s, 2e-6))
    assert_allclose(central_difference(lambda b: objective(s, b[0]), np.array([b])), 0, atol=1e-4)
    assert (s > 0).any()
    assert_allclose(gradient[(s > 0) & (s < 1)], 0, atol=1e-4)
    assert (gradient[s == 0] > -1e-4).all()
    assert (gradient[s == 1] < 1e-4).all()


def test_the_objective_never_increases(network):
    for options in ({"exact": True}, {"non_links_per_link": 2}, {"evenness": 1e-4, "neighborhood": 1.0}):
        history = fit(network.features, network.adjacency, tol=0, max_iter=30, **options).history_
        assert len(history) > 2
        assert (np.diff(history) <= 1e-12 * history[:-1]).all()


def test_linked_nodes_differ_less_with_a_larger_weight_of_the_neighbourhood(network):
    first, second = sparse.triu(network.adjacency).nonzero()
    X = network.features.toarray()
    differs = ((X[first] - X[second]) ** 2).mean(axis=0)
    totals = [fit(X, network.adjacency, neighborhood=a).criterion_ @ differs for a in (0.0, 0.1, 0.5, 1.0)]
    assert (np.diff(totals) < -0.1).all()


def test_with_all_pairs_the_seed_does_not_matter(network):
    first, other = (fit(network.features, network.adjacency, exact=True, random_state=s).scores_ for s in (0, 1))
    assert_array_equal(first, other)


def test_scores_are_finite_if_all_linked_nodes_are_identical():
    X = np.repeat(np.eye(3), 4, axis=0)
    A = np.kron(np.eye(3), np.ones((4, 4)))
    selector = fit(X, A)
    assert np.isfinite(selector.scores_).all()
    assert (selector.scores_ > 0).all()
