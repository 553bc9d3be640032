"""Leading eigenvectors: exact if Lanczos iterations converge, and otherwise close and in bounded time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from blockselect.utils import eigenvectors
from blockselect.utils.eigenvectors import extreme_eigenvectors
from made_graphs import path, planted, ring


def found(matrix, count, which="magnitude", **options):
    values, vectors = extreme_eigenvectors(matrix, count, which=which, rng=np.random.default_rng(0), **options)
    assert values.shape == (count,)
    assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-8)
    return values, vectors


@pytest.mark.parametrize("which", ["magnitude", "largest"])
@pytest.mark.parametrize("restarts", [1, 500], ids=["too few restarts", "Lanczos"])
def test_they_equal_those_of_the_dense_matrix(which, restarts):
    matrix = planted(300, 4, mean_degree=12)
    exact = np.linalg.eigvalsh(matrix.toarray())
    order = np.argsort(np.abs(exact) if which == "magnitude" else exact)[-5:]
    values, vectors = found(matrix, 5, which, restarts=restarts)
    assert_allclose(np.sort(values), np.sort(exact[order]), atol=1e-8)
    assert_allclose(matrix @ vectors, vectors * values, atol=1e-6)


def test_the_krylov_space_gives_exact_eigenvectors_if_there_are_gaps():
    matrix = planted(1500, 4, mean_degree=40)
    values, vectors = found(matrix, 4, restarts=1)
    assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)


@pytest.mark.parametrize(("shape", "count"), [(path, 6), (ring, 1), (ring, 6)])
def test_eigenvalues_without_gaps_are_close_to_the_largest(shape, count):
    """All requested eigenvalues are within 1e-3 of ±2."""
    values, vectors = found(shape(3000), count)
    assert (np.abs(values) > 2 * (1 - 0.04)).all()
    assert_allclose(np.sum(vectors * (shape(3000) @ vectors), axis=0), values, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_low_rank_matrix_gives_zeros_beyond_its_rank(dtype):
    sides = np.arange(1200) % 2
    links = sparse.csr_array(np.not_equal.outer(sides, sides).astype(dtype))
    values, _ = extreme_eigenvectors(links, 6, which="magnitude", rng=np.random.default_rng(0), restarts=1)
    assert_allclose(np.sort(values), [-600, 0, 0, 0, 0, 600], atol=1e-2 if dtype == np.float32 else 1e-8)


def test_an_operator_with_only_products_is_enough():
    matrix = ring(1200)
    operator = LinearOperator(matrix.shape, matvec=matrix.dot, matmat=matrix.dot, dtype=np.float64)
    assert_allclose(found(operator, 3)[0], found(matrix, 3)[0])


@pytest.mark.parametrize("unit", [1.0, 1e-9])
@pytest.mark.parametrize("n_each", [100, 500])
def test_results_are_reproducible_where_eigsh_cannot_be_seeded(monkeypatch, n_each, unit):
    """SciPy before 1.17 draws such numbers if the Krylov space is small: three cliques have rank 3."""
    monkeypatch.setattr(eigenvectors, "_SEEDED", False)
    cliques = unit * sparse.csr_array(np.kron(np.eye(3), np.ones((n_each, n_each))))
    values, vectors = found(cliques, 8)
    assert_allclose(np.sort(values)[-3:], 3 * [unit * n_each])
    assert_allclose(np.sort(values)[:-3], 0, atol=1e-8 * unit)
    again = found(cliques, 8)[1]
    assert_array_equal(again, vectors)


def test_results_are_the_same_with_and_without_a_seeded_eigsh(monkeypatch):
    matrix = planted(300, 4, mean_degree=12)
    seeded = found(matrix, 5)[0]
    monkeypatch.setattr(eigenvectors, "_SEEDED", False)
    assert_allclose(np.sort(found(matrix, 5)[0]), np.sort(seeded))
