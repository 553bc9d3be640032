"""Reweighting finds the minimum of the row-sparse problem; an error names a penalty that is lost to rounding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from blockselect import make_attributed_blocks
from blockselect.baselines._solvers.row_sparse import explain_singular, reweight, row_norms, row_weights
from blockselect.registry import make_selector
from blockselect.utils.errors import ParameterError


@pytest.fixture
def regression():
    """‖XZ − F‖² with few relevant rows of Z, and its minimiser for given row weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    F = X @ np.vstack([rng.normal(size=(2, 3)), np.zeros((4, 3))]) + 0.1 * rng.normal(size=(30, 3))

    def misfit(Z):
        return float(np.sum((X @ Z - F) ** 2))

    def solve(weights, last):
        Z = np.linalg.solve(X.T @ X + 5.0 * np.diag(weights), X.T @ F)
        return Z, misfit(Z)

    return misfit, solve


def test_the_objective_decreases_to_the_minimum_found_by_a_general_solver(regression):
    misfit, solve = regression
    result = reweight(solve, np.zeros((6, 3)), penalty=5.0, max_iter=500, tol=1e-12)

    def objective(flat):
        Z = flat.reshape(6, 3)
        return misfit(Z) + 5.0 * np.sqrt(np.sum(Z**2, axis=1) + 1e-14).sum()

    assert result.settled
    assert (np.diff(result.history) <= 1e-12 * result.history[0]).all()
    assert_allclose(result.history[-1], objective(result.coefficients.ravel()), rtol=1e-5)
    assert_allclose(result.history[-1], minimize(objective, np.ones(18), tol=1e-10).fun, rtol=1e-5)
    assert np.count_nonzero(row_norms(result.coefficients) > 1e-3) == 2


def test_the_tolerance_is_absolute_or_relative_to_the_objective():
    values = iter([1000.0, 999.0, 998.5, 998.4])
    given = {"penalty": 0.0, "max_iter": 4, "tol": 0.9}
    absolute = reweight(lambda w, Z: (Z, next(values)), np.ones((2, 1)), relative=False, **given)
    assert absolute.settled
    assert_array_equal(absolute.history, [1000.0, 999.0, 998.5])
    values = iter([1000.0, 999.0, 998.5, 998.4])
    relative = reweight(lambda w, Z: (Z, next(values)), np.ones((2, 1)), **given)
    assert_array_equal(relative.history, [1000.0, 999.0])


def test_a_tolerance_of_zero_uses_all_iterations(regression):
    _, solve = regression
    result = reweight(solve, np.zeros((6, 3)), penalty=5.0, max_iter=7, tol=0)
    assert len(result.history) == 7
    assert not result.settled


def test_each_solve_receives_the_weights_of_the_last_solution():
    met = []

    def solve(weights, last):
        met.append((weights, last))
        return last + 1, 0.0

    reweight(solve, np.zeros((2, 1)), penalty=1.0, max_iter=3, tol=0)
    for (weights, last), expected in zip(met, ([1.0, 1.0], [0.5, 0.5], [0.25, 0.25]), strict=True):
        assert_array_equal(weights, expected)
        assert last.shape == (2, 1)


def test_weights_are_half_the_inverse_norm_and_always_finite():
    Z = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 1e-9]])
    assert_array_equal(row_norms(Z), [5.0, 0.0, 1e-9])
    assert_allclose(row_weights(Z, shortest=1e-6), [0.1, 5e5, 5e5])
    assert np.isfinite(row_weights(Z)).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_singular_matrix_becomes_an_error_that_names_the_parameter(kind):
    features = kind(np.diag([1.0, -2e30]))
    with (
        pytest.raises(
            ParameterError, match=r"^ridge is 0\.1, which is lost .* as large as 2e\+30; divide .*increase ridge"
        ),
        explain_singular(features, "ridge", 0.1),
    ):
        raise np.linalg.LinAlgError


def test_other_errors_are_not_changed():
    with explain_singular(np.eye(2), "ridge", 0.1):
        pass
    with pytest.raises(KeyError), explain_singular(np.eye(2), "ridge", 0.1):
        raise KeyError


@pytest.mark.parametrize(
    ("name", "shift", "scale", "parameter"),
    [("udfs", 0, 1e30, "ridge"), ("ndfs", 1e8, 1, "sparsity"), ("netfs", 1e8, 1, "sparsity")],
)
def test_methods_reject_features_too_large_for_their_penalty(name, shift, scale, parameter):
    network = make_attributed_blocks(80, 3, n_informative=6, n_redundant=0, n_noise=9, random_state=3)
    features = scale * network.features.toarray() + shift
    graph = {"adjacency": network.adjacency} if name == "netfs" else {}
    with pytest.raises(ParameterError, match=f"^{parameter} is .* lost to rounding"):
        make_selector(name, 4, n_blocks=3, random_state=0).fit(features, **graph)
