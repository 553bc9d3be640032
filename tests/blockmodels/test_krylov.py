"""Eigenvectors by Lanczos iterations on a device, against those of a dense decomposition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.blockmodels import krylov
from blockselect.blockmodels.embedding import leading_eigenvectors
from blockselect.tensors import to_torch

pytest.importorskip("torch")

PLACE = "cpu:0"  # torch, where "cpu" is NumPy


def leading(matrix, count, *, tol=0.0):
    there = to_torch(sparse.csr_array(matrix), PLACE)
    start = np.random.default_rng(0).standard_normal(len(matrix)).astype(matrix.dtype)
    return krylov.leading_on_device(lambda columns: there @ columns, start, count, tol=tol, device=PLACE)


def symmetric(eigenvalues, seed=0):
    vectors = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(eigenvalues),) * 2))[0]
    return (vectors * eigenvalues) @ vectors.T


def assert_eigenpairs(matrix, values, vectors, expected, atol=1e-9):
    assert_allclose(values, expected, atol=atol)
    assert_allclose(matrix @ vectors, vectors * values, atol=atol)
    assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=atol)


@pytest.mark.parametrize("count", [1, 5])
def test_the_largest_by_magnitude_come_first(count):
    eigenvalues = np.concatenate([[3, -2.5, 2, -1.8, 1.5], np.linspace(-1, 1, 255)])
    matrix = symmetric(eigenvalues)
    assert_eigenpairs(matrix, *leading(matrix, count), eigenvalues[:count])


def test_a_full_basis_begins_anew_with_the_best_of_it(monkeypatch):
    monkeypatch.setattr(krylov, "_SIZE", 8)
    restarts = []
    restart = krylov._Basis.restart
    monkeypatch.setattr(krylov._Basis, "restart", lambda *args: restarts.append(1) or restart(*args))
    eigenvalues = np.concatenate([[1.3, -1.25, 1.2, 1.15], np.linspace(-1, 1, 296)])
    matrix = symmetric(eigenvalues)
    assert_eigenpairs(matrix, *leading(matrix, 4), eigenvalues[:4])
    assert restarts


def test_a_matrix_of_low_rank_closes_the_basis_early():
    matrix = np.zeros((300, 300))
    matrix[:100, 100:200] = 1
    matrix += matrix.T
    values, vectors = leading(matrix, 5)
    order = np.argsort(values)  # two are equal by magnitude
    assert_eigenpairs(matrix, values[order], vectors[:, order], [-100, 0, 0, 0, 100])


@pytest.mark.parametrize("rank", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_rounding_behind_a_closed_basis_is_left_out(rank, seed):
    eigenvalues = np.concatenate([np.arange(rank, 0, -1.0), np.zeros(300 - rank)])
    matrix = symmetric(eigenvalues, seed)
    assert_eigenpairs(matrix, *leading(matrix, 6), eigenvalues[:6])


def test_single_precision_stays_single():
    matrix = symmetric(np.concatenate([[3, 2], np.linspace(-1, 1, 200)])).astype(np.float32)
    values, vectors = leading(matrix, 2, tol=1e-3)
    assert values.dtype == vectors.dtype == np.float32
    assert_allclose(values, [3, 2], rtol=1e-4)


def test_eigenvectors_of_a_product_are_the_same_on_cpu_and_device():
    rng = np.random.default_rng(0)
    half = sparse.random_array((300, 80), density=0.05, rng=rng, format="csr")
    ours, theirs = (leading_eigenvectors(half, sparse.csr_array(half.T), count=6, device=d) for d in ("cpu", PLACE))
    assert_allclose(theirs[0], ours[0])
    assert_allclose(np.abs(np.sum(theirs[1] * ours[1], axis=0)), 1)


def test_after_a_bounded_number_of_steps_the_best_so_far_is_given(monkeypatch):
    monkeypatch.setattr(krylov, "_MAX_STEPS", krylov._STRIDE)
    eigenvalues = np.linspace(-1, 1, 300)  # no gaps, so that no few steps settle them
    matrix = symmetric(eigenvalues)
    values, vectors = leading(matrix, 3)
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-9)
    assert_allclose(np.einsum("ij,ij->j", vectors, matrix @ vectors), values, atol=1e-9)  # Rayleigh quotients
    assert np.abs(values).min() > 0.9
