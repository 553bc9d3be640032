"""Smallest eigenvectors from steps that never increase the trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from blockselect.baselines._solvers.smallest_eigenvectors import smallest_eigenvectors


def draw(seed, m=60, largest=1.0):
    """A definite matrix with a diagonal over many orders of magnitude, and a start."""
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((m, m)) / np.sqrt(m)
    return half @ half.T + np.diag(10 ** rng.uniform(-2, largest, size=m)), rng.standard_normal((m, 6))


def find(A, start, count=4, tol=1e-9, max_steps=500):
    inverse = 1 / np.diag(A)[:, None]
    return smallest_eigenvectors(
        lambda V: A @ V, start, lambda V: inverse * V, count=count, tol=tol, max_steps=max_steps
    )


@pytest.mark.parametrize("largest", [1.0, 6.0])
@given(seed=st.integers(0, 10**6))
def test_they_equal_those_of_the_complete_decomposition(seed, largest):
    A, start = draw(seed, largest=largest)
    Z = find(A, start, tol=1e-8)
    values = np.linalg.eigh(A)[0][:4]
    assert_allclose(Z.T @ Z, np.eye(4), atol=1e-10)
    assert_allclose(np.diag(Z.T @ A @ Z), values, atol=1e-9)
    assert_allclose(A @ Z, Z * values, atol=1e-7)


@given(seed=st.integers(0, 10**6))
def test_no_step_increases_the_trace(seed):
    A, start = draw(seed, largest=8)
    traces = []
    for steps in range(12):
        Z = find(A, start[:, :4], tol=0, max_steps=steps)
        traces.append(np.trace(Z.T @ A @ Z))
    assert (np.diff(traces) <= 1e-12 * traces[0]).all()
    assert traces[-1] < traces[0]


def test_starting_at_the_solution_stays_there():
    A, start = draw(0)
    Z = find(A, start)
    again = find(A, Z, max_steps=3)
    assert_allclose(np.abs(np.diag(Z.T @ again)), 1, atol=1e-9)


def test_equal_eigenvalues_are_all_found():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    A = basis @ np.diag([0.0] * 4 + [1.0] * 46) @ basis.T + np.eye(50)
    Z = find(A, rng.standard_normal((50, 4)))
    assert_allclose(np.trace(Z.T @ A @ Z), 4, atol=1e-9)
