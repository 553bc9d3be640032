"""Smooth combinations of features: three routes give the same eigenvectors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import eigh

from blockselect.baselines._solvers import smooth_combinations as module
from blockselect.baselines._solvers.row_sparse import reweight, row_norms
from blockselect.baselines._solvers.smooth_combinations import Roughness, SmoothCombinations
from blockselect.utils.errors import ParameterError

ROUTES = ["dense", "cholesky", "woodbury"]


@pytest.fixture(params=[(60, 40), (30, 70)], ids=["more nodes", "more features"])
def problem(request):
    return make_problem(*request.param)


def make_problem(n, m, seed=0):
    rng = np.random.default_rng(seed)
    links = sparse.random_array((n, n), density=0.2, rng=rng)
    A = sparse.csr_array(links + links.T)
    F = np.eye(3)[rng.integers(3, size=n)]
    F *= (0.1 / F.sum(axis=0)) ** 0.5
    S = sparse.csr_array(sparse.diags_array(A.sum(axis=1) + 0.1) - A)
    X = sparse.random_array((n, m), density=0.3, rng=rng, format="csr")
    return X, Roughness(S, sparse.csr_array(F)), np.exp(rng.normal(scale=2, size=m))


def combinations(X, roughness, route="auto", **options):
    options = {"penalty": 0.5, "ridge": 1e-3, **options}
    return SmoothCombinations(X, roughness, rng=np.random.default_rng(0), route=route, **options)


def literal(X, roughness, weights, count, *, penalty=0.5, ridge=1e-3):
    """Eigenvalues, and row norms of the eigenvectors, which do not depend on signs."""
    S = roughness.sparse_part.toarray() - roughness.low_rank.toarray() @ roughness.low_rank.toarray().T
    X = X.toarray()
    values, Z = eigh(X.T @ S @ X + penalty * np.diag(weights), X.T @ X + ridge * np.eye(X.shape[1]))
    return values[:count], row_norms(Z[:, :count])


@pytest.mark.parametrize("as_dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("route", [*ROUTES, "auto"])
def test_each_route_gives_the_smallest_generalised_eigenvectors(problem, route, as_dense):
    X, roughness, weights = problem
    values, norms = literal(X, roughness, weights, 4)
    Z = combinations(X.toarray() if as_dense else X, roughness, route).solve(weights, 4)
    S = roughness.of(X @ Z)
    assert_allclose(np.sum((X @ Z) * S, axis=0) + 0.5 * weights @ Z**2, values, rtol=1e-8)
    assert_allclose(row_norms(Z), norms, atol=1e-7 * norms.max())


@pytest.mark.parametrize("route", ROUTES)
def test_the_constraint_holds_to_rounding(problem, route):
    X, roughness, weights = problem
    Z = combinations(X, roughness, route).solve(weights, 5)
    assert_allclose(Z.T @ (X.T @ (X @ Z)) + 1e-3 * Z.T @ Z, np.eye(5), atol=1e-10)


@pytest.mark.parametrize("route", ROUTES)
def test_extreme_weights_remove_features_without_affecting_the_others(problem, route):
    X, roughness, weights = problem
    off = np.arange(len(weights)) % 3 == 0
    Z = combinations(X, roughness, route).solve(np.where(off, 5e15, weights), 4)
    _, norms = literal(X[:, ~off], roughness, weights[~off], 4)
    assert_allclose(row_norms(Z)[~off], norms, atol=1e-6 * norms.max())
    assert row_norms(Z)[off].max() < 1e-12


@pytest.mark.parametrize("route", ROUTES)
def test_reweighting_decreases_the_objective(problem, route):
    X, roughness, _ = problem
    smooth = combinations(X, roughness, route)

    def solve(weights, last):
        Z = smooth.solve(weights, 3)
        return Z, smooth.total_roughness(Z)

    values = reweight(solve, np.zeros((X.shape[1], 3)), penalty=smooth.penalty, max_iter=30, tol=0).history
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < 0.99 * values[0]


def test_the_gram_matrix_is_that_of_the_roughness(problem):
    X, roughness, _ = problem
    assert_allclose(roughness.gram(X), X.T @ roughness.of(X.toarray()), atol=1e-12)
    assert_allclose(roughness.gram(X.toarray()), roughness.gram(X), atol=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_a_ridge_that_allows_combinations_that_are_zero_on_all_nodes_is_rejected(route):
    """With 200 features on 60 nodes, at least 140 independent combinations are."""
    X, roughness, _ = make_problem(60, 200)
    with pytest.raises(ValueError, match=r"zero on all nodes.*the ridge, 0\.1, is too large"):
        combinations(X, roughness, route, penalty=0.1, ridge=0.1).solve(np.ones(200), 8)
    assert combinations(X, roughness, route, penalty=0.1, ridge=1e-4).solve(np.ones(200), 8).shape == (200, 8)


def test_too_few_eigenvectors_raise_a_clear_error(problem, monkeypatch):
    """LAPACK returns fewer than requested if matrices overflow."""
    X, roughness, weights = problem
    some = combinations(X, roughness, "dense")
    monkeypatch.setattr(module, "eigh", lambda *matrices, **options: (np.ones(2), np.ones((X.shape[1], 2))))
    with pytest.raises(ParameterError, match=r"sparsity is 0\.5, which is lost to rounding next to features as large"):
        some.solve(weights, 3)
