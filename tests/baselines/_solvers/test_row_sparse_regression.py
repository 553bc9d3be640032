"""Row-sparse regression: every route gives the same solution, and reweighting decreases the objective."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect.baselines._solvers.row_sparse import row_norms, row_weights
from blockselect.baselines._solvers.row_sparse_regression import RowSparseRegression, conjugate_gradients

ROUTES = ["auto", "normal", "woodbury", "cg"]


def draw(seed, n, m, c=3, heaviest=16):
    """Counts, targets, and row weights, the largest of which make rows nearly zero."""
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
def test_rows_that_are_nearly_zero_have_many_correct_digits(route):
    X, F, weights = draw(0, 40, 15, heaviest=14)
    expected = literal(X, F, weights, 1.0)
    Z = RowSparseRegression(X, 1.0, route=route).solve(F, weights)
    assert row_norms(expected).min() < 1e-10 * row_norms(expected).max()
    assert_allclose(Z, expected, rtol=1e-8)


def test_features_left_out_of_the_factor_can_return():
    X, F, light = draw(1, 60, 20, heaviest=0)
    heavy = light.copy()
    heavy[5:15] = 1e15
    regression = RowSparseRegression(sparse.csr_array(X), 1.0, route="normal")
    for weights in (heavy, light, heavy):
        expected = literal(X, F, weights, 1.0)
        assert_allclose(regression.solve(F, weights), expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("route", ROUTES)
def test_the_solution_does_not_depend_on_the_start(route):
    X, F, weights = draw(3, 30, 50)
    regression = RowSparseRegression(sparse.csr_array(X), 1.0, route=route)
    cold = regression.solve(F, weights)
    warm = regression.solve(F, weights, start=np.random.default_rng(0).random(cold.shape))
    assert_allclose(warm, cold, rtol=0, atol=1e-10 * np.abs(cold).max())


@pytest.mark.parametrize(
    ("shape", "density", "n_active", "expected"),
    [
        ((500, 40), 1.0, 40, "normal"),  # few features
        ((40, 500), 1.0, 500, "woodbury"),  # few nodes
        ((100, 500), 1.0, 20, "normal"),  # few features that are not negligible
        ((3000, 3000), 0.001, 3000, "cg"),  # many of both, but sparse
    ],
)
def test_the_cheapest_route_suits_the_shape_and_storage(shape, density, n_active, expected):
    X = sparse.random_array(shape, density=density, rng=np.random.default_rng(0), format="csr")
    assert RowSparseRegression(X.toarray() if density == 1 else X, 1.0).cheapest(n_active, 2) == expected


def objective(X, F, Z, penalty):
    return np.sum((X @ Z - F) ** 2) + penalty * sum(np.linalg.norm(row) for row in Z)


@pytest.mark.parametrize("route", ROUTES)
def test_reweighting_decreases_the_objective(route):
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


def test_conjugate_gradients_continue_from_the_start():
    X, F, weights = draw(7, 30, 50, heaviest=2)
    system, right = X.T @ X + np.diag(weights), X.T @ F
    given = {"right": right, "diagonal": system.diagonal(), "tol": 1e-10}
    Z, settled = conjugate_gradients(system.dot, start=np.zeros((50, 3)), max_steps=1000, **given)
    assert settled
    assert_allclose(Z, np.linalg.solve(system, right), atol=1e-8)
    again, settled = conjugate_gradients(system.dot, start=Z, max_steps=2, **given)
    assert settled
    assert_allclose(again, Z, atol=1e-12)
    assert not conjugate_gradients(system.dot, start=np.zeros((50, 3)), max_steps=2, **given)[1]


def test_conjugate_gradients_that_do_not_converge_are_warned_of():
    X, F, _ = draw(7, 30, 50)
    X *= np.geomspace(1, 1e6, 50)
    with pytest.warns(ConvergenceWarning, match="did not converge in 400 steps; rescale features"):
        RowSparseRegression(sparse.csr_array(X), 1e-3, route="cg").solve(F, np.ones(50))
