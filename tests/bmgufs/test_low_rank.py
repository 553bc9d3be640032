"""The squared Gram matrix of low rank."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.low_rank import (
    LowRankGramSquared,
    low_rank_bytes,
    low_rank_error,
    low_rank_gram_squared,
    principal_factor,
)
from blockselect.rows.chunks import RowChunks


def random_features(seed, n=30, m=17, share=0.2):
    rng = np.random.default_rng(seed)
    return (rng.poisson(2, size=(n, m)) * (rng.random((n, m)) < share)).astype(float)


def equal_groups(n_groups, size):
    """Features in groups that occur in different nodes, so that the spectrum is flat up to this rank."""
    return np.kron(np.eye(n_groups), np.ones((2, size)))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_full_rank_is_exact_and_the_error_of_a_lower_one_is_what_is_stated(kind):
    Y = random_features(1, n=60, m=40)
    scores = np.random.default_rng(0).random((3, 40))
    exact = scores @ (Y.T @ Y) ** 2
    whole = low_rank_gram_squared(kind(Y), rank=40)
    assert_allclose(whole.apply(scores), exact, rtol=1e-9)
    low = low_rank_gram_squared(kind(Y), rank=10)
    uniform = np.ones((1, 40))
    off = low.apply(uniform) - uniform @ (Y.T @ Y) ** 2
    assert_allclose(low_rank_error(kind(Y), low), np.linalg.norm(off) / np.linalg.norm((Y.T @ Y) ** 2 @ uniform[0]))
    assert low_rank_error(kind(Y), low) > low_rank_error(kind(Y), whole)


@pytest.mark.parametrize("shape", [(30, 100), (100, 30), (40, 40)])
def test_few_nodes_or_features_give_the_full_rank(shape):
    Y = random_features(5, *shape, share=0.5)
    for features in (Y, sparse.csr_array(Y), RowChunks.from_blocks(np.array_split(Y, 4))):
        gram = low_rank_gram_squared(features)
        assert_allclose(gram.values @ gram.values.T, Y.T @ Y, atol=1e-9 * np.abs(Y.T @ Y).max())
        assert low_rank_error(features, gram) < 1e-8


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_diagonal_is_exact_at_any_rank(kind, dtype):
    Y = random_features(6, n=90, m=70).astype(dtype)
    matrix = low_rank_gram_squared(kind(Y), rank=5, dtype=dtype).apply(np.eye(70, dtype=dtype))
    assert matrix.dtype == dtype
    assert_allclose(np.diag(matrix), (Y**2).sum(axis=0) ** 2, rtol=1e-4 if dtype == "float32" else 1e-10)
    assert_allclose(matrix, matrix.T, rtol=1e-3, atol=1e-3 * matrix.max())


def test_low_rank_is_the_same_every_time():
    Y = sparse.csr_array(random_features(2, n=80, m=60))
    first, second = (low_rank_gram_squared(Y, rank=8).values for _ in range(2))
    assert_allclose(first, second, rtol=0)


def test_the_factor_of_low_rank_is_as_good_as_the_best():
    rng = np.random.default_rng(3)
    Y = np.abs(rng.normal(size=(200, 6)) @ rng.normal(size=(6, 80))) + 0.01 * rng.random((200, 80))
    rank = 12
    Z = principal_factor(Y, rank, np.dtype(float))
    values = np.linalg.svd(Y, compute_uv=False)
    assert Z.shape == (80, rank)
    best = np.sum(values[rank:] ** 4) ** 0.5  # ‖YᵀY − its best approximation of that rank‖
    assert np.linalg.norm(Y.T @ Y - Z @ Z.T) <= 1.2 * best


def test_features_that_repeat_leave_a_factor_of_their_rank():
    Y = np.repeat(random_features(6, 50, 5, share=0.5), 8, axis=1)
    Z = principal_factor(Y, 20, np.dtype(float))
    assert Z.shape[1] == 5
    assert_allclose(Z @ Z.T, Y.T @ Y, atol=1e-8)


def test_the_memory_limit_bounds_the_rank():
    Y = equal_groups(16, 12)  # each rank lowers the error
    ranks = (4, 8, 16)
    sizes = [low_rank_bytes(Y, rank, np.dtype(float)) for rank in ranks]
    found = [low_rank_gram_squared(Y, ranks=ranks, memory_limit=size).values.shape[1] for size in sizes]
    assert found == [4, 8, 16]
    assert low_rank_gram_squared(Y, ranks=ranks, memory_limit=1).values.shape[1] == 4  # where none fits, the smallest
    wide = equal_groups(140, 3)
    limit = low_rank_bytes(wide, 100, np.dtype(float))
    assert gram_squared(wide, form="low rank", memory_limit=limit).values.shape[1] == 64


@pytest.mark.parametrize(
    ("n_groups", "ranks", "taken"), [(3, (2, 4, 16), 3), (14, (4, 8, 16), 14), (100, (2, 4, 6), 2)]
)
def test_the_rank_grows_where_that_lowers_the_error(n_groups, ranks, taken):
    """Of features in so many equal groups; where there are far more than ranks, a few more gain next to nothing."""
    assert low_rank_gram_squared(equal_groups(n_groups, 200 // n_groups), ranks=ranks).values.shape[1] == taken


def test_no_larger_rank_is_tried_where_the_first_is_good_enough():
    rng = np.random.default_rng(0)
    nearly = rng.random((60, 3)) @ rng.random((3, 40)) + 1e-3 * rng.random((60, 40))
    assert low_rank_gram_squared(nearly, ranks=(2, 4, 16)).values.shape[1] == 2


def test_no_rank_exceeds_the_features_or_nodes():
    assert low_rank_gram_squared(equal_groups(30, 3), rank=99).values.shape[1] == 30
    assert low_rank_gram_squared(equal_groups(30, 3), ranks=(8, 99)).values.shape[1] == 30


def test_the_error_is_that_of_64_evenly_spread_features():
    Y = np.eye(127)
    every_second = np.arange(127) % 2 == 0
    assert low_rank_error(Y, LowRankGramSquared(np.zeros((127, 1)), every_second.astype(float))) == 0
    assert low_rank_error(Y, LowRankGramSquared(np.zeros((127, 1)), 1.0 - every_second)) == pytest.approx(1)
    assert low_rank_error(0 * Y, LowRankGramSquared(np.zeros((127, 1)), np.zeros(127))) == 0
