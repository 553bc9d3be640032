"""Row-sparse regression: every route gives the same solution, and reweighting lowers the objective."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect.baselines._solvers import row_sparse_regression as module
from blockselect.baselines._solvers.row_sparse import row_norms, row_weights
from blockselect.baselines._solvers.row_sparse_regression import RowSparseRegression

ROUTES = ["auto", "normal", "woodbury", "cg"]


def draw(seed, n, m, c=3, heaviest=16):
    """Counts, targets, and row weights from light to so heavy that the row is all but zero."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, size=(n, m)).astype(float)
    return X, rng.random((n, c)), 10 ** rng.uniform(-1, heaviest, size=m)


def literal(X, F, weights, penalty):
    return np.linalg.solve(X.T @ X + penalty * np.diag(weights), X.T @ F)


@pytest.mark.parametrize("route", ROUTES)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(40, 15), (15, 40), (20, 20), (2, 1)]))
def test_every_route_solves_the_normal_equations(route, seed, shape):
    X, F, weights = draw(seed, *shape)
    expected = literal(X, F, weights, 2.0)
    for features in (X, sparse.csr_array(X)):
        Z = RowSparseRegression(features, 2.0, route=route).solve(F, weights)
        assert_allclose(Z, expected, rtol=0, atol=1e-10 * max(np.abs(expected).max(), 1e-300))


@pytest.mark.parametrize("route", ["auto", "normal", "woodbury"])
def test_rows_that_are_all_but_zero_are_right_to_many_digits(route):
    X, F, weights = draw(0, 40, 15, heaviest=14)
    expected = literal(X, F, weights, 1.0)
    Z = RowSparseRegression(X, 1.0, route=route).solve(F, weights)
    assert row_norms(expected).min() < 1e-10 * row_norms(expected).max()
    assert_allclose(Z, expected, rtol=1e-8)


def test_features_that_left_the_factor_may_come_back():
    X, F, light = draw(1, 60, 20, heaviest=0)
    heavy = light.copy()
    heavy[5:15] = 1e15
    regression = RowSparseRegression(sparse.csr_array(X), 1.0, route="normal")
    for weights in (heavy, light, heavy):
        expected = literal(X, F, weights, 1.0)
        assert_allclose(regression.solve(F, weights), expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("route", ROUTES)
def test_a_start_changes_nothing_but_the_way(route):
    X, F, weights = draw(3, 30, 50)
    regression = RowSparseRegression(sparse.csr_array(X), 1.0, route=route)
    cold = regression.solve(F, weights)
    warm = regression.solve(F, weights, start=np.random.default_rng(0).random(cold.shape))
    assert_allclose(warm, cold, rtol=0, atol=1e-10 * np.abs(cold).max())


@pytest.mark.parametrize(
    ("shape", "density", "heavy", "expected"),
    [
        ((500, 40), 1.0, 0, "normal"),  # few features
        ((40, 500), 1.0, 0, "woodbury"),  # few nodes
        ((100, 500), 1.0, 480, "normal"),  # few features that matter
        ((3000, 3000), 0.001, 0, "cg"),  # many of both, but sparse
    ],
)
def test_the_cheapest_route_is_taken(monkeypatch, shape, density, heavy, expected):
    rng = np.random.default_rng(0)
    X = sparse.random_array(shape, density=density, rng=rng, format="csr")
    features = X.toarray() if density == 1 else X
    taken = []
    for route, method in {
        "normal": "_by_normal_equations",
        "woodbury": "_by_woodbury",
        "cg": "_by_conjugate_gradients",
    }.items():
        monkeypatch.setattr(RowSparseRegression, method, lambda self, *rest, route=route: taken.append(route))
    weights = np.ones(shape[1])
    weights[:heavy] = 1e16
    RowSparseRegression(features, 1.0).solve(rng.random((shape[0], 2)), weights)
    assert taken == [expected]


def objective(X, F, Z, penalty):
    return np.sum((X @ Z - F) ** 2) + penalty * sum(np.linalg.norm(row) for row in Z)


@pytest.mark.parametrize("route", ROUTES)
def test_reweighting_lowers_the_objective(route):
    X, F, _ = draw(4, 40, 25)
    regression = RowSparseRegression(sparse.csr_array(X), 1.5, route=route)
    Z = regression.solve(F, np.ones(25))
    values = [objective(X, F, Z, 1.5)]
    for _ in range(60):
        Z = regression.solve(F, row_weights(Z), Z)
        values.append(objective(X, F, Z, 1.5))
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[-1] < 0.95 * values[0]
    assert np.count_nonzero(row_norms(Z) > 1e-8) < 25


def test_single_precision_features_are_computed_in_double():
    X, F, weights = draw(6, 30, 10, heaviest=2)
    Z = RowSparseRegression(X.astype(np.float32), 1.0).solve(F, weights)
    assert Z.dtype == np.float64
    assert_allclose(Z, literal(X, F, weights, 1.0), atol=1e-12)


def test_conjugate_gradients_go_on_from_the_start(monkeypatch):
    X, F, weights = draw(7, 30, 50, heaviest=2)
    regression = RowSparseRegression(sparse.csr_array(X), 1.0, route="cg")
    Z = regression.solve(F, weights)
    monkeypatch.setattr(module, "_CG_MOST", 2)
    assert_allclose(regression.solve(F, weights, start=Z), Z, atol=1e-12)
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 steps"):
        regression.solve(F, weights)
