"""The squared Gram matrix of low rank."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs import low_rank_gram as module
from blockselect.bmgufs.low_rank_gram import low_rank_error, low_rank_gram_squared


def random_features(seed, n=30, m=17, share=0.2):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, size=(n, m)) * (rng.random((n, m)) < share)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_full_rank_is_exact_and_the_error_of_a_lower_one_is_what_is_stated(kind):
    Y = random_features(1, n=60, m=40).astype(float)
    scores = np.random.default_rng(0).random((3, 40))
    exact = scores @ (Y.T @ Y) ** 2
    whole = low_rank_gram_squared(kind(Y), rank=40)
    assert_allclose(whole.apply(scores), exact, rtol=1e-9)
    low = low_rank_gram_squared(kind(Y), rank=10)
    uniform = np.ones((1, 40))
    off = low.apply(uniform) - uniform @ (Y.T @ Y) ** 2
    assert_allclose(low_rank_error(kind(Y), low), np.linalg.norm(off) / np.linalg.norm((Y.T @ Y) ** 2 @ uniform[0]))
    assert low_rank_error(kind(Y), low) > low_rank_error(kind(Y), whole)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_diagonal_is_exact_at_any_rank(kind, dtype):
    Y = random_features(6, n=90, m=70).astype(dtype)
    matrix = low_rank_gram_squared(kind(Y), rank=5, dtype=dtype).apply(np.eye(70, dtype=dtype))
    assert matrix.dtype == dtype
    assert_allclose(np.diag(matrix), (Y**2).sum(axis=0) ** 2, rtol=1e-4 if dtype == "float32" else 1e-10)
    assert_allclose(matrix, matrix.T, rtol=1e-3, atol=1e-3 * matrix.max())


def test_low_rank_is_the_same_every_time():
    Y = sparse.csr_array(random_features(2, n=80, m=60).astype(float))
    first, second = (low_rank_gram_squared(Y, rank=8).values for _ in range(2))
    assert_allclose(first, second, rtol=0)


def test_the_memory_limit_bounds_the_rank(monkeypatch):
    monkeypatch.setattr(module, "RANKS", (4, 8, 16))
    Y = random_features(3, n=300, m=200, share=0.5).astype(float)
    sizes = [module.low_rank_bytes(Y, rank, np.dtype(float)) for rank in module.RANKS]
    ranks = [low_rank_gram_squared(Y, memory_limit=size).values.shape[1] for size in sizes]
    assert ranks[0] == 4
    assert ranks[1] == 8
    assert ranks[2] in (8, 16)
    assert low_rank_gram_squared(Y, memory_limit=1).values.shape[1] == 4  # where none fits, the smallest
