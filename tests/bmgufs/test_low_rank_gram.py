"""The squared Gram matrix of low rank."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs import gram as module
from blockselect.bmgufs.gram import low_rank_error, low_rank_gram_squared


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
    Y = np.kron(np.eye(16), np.ones((5, 12)))  # so many equal groups that each rank is worth its time
    sizes = [module.low_rank_bytes(Y, rank, np.dtype(float)) for rank in module.RANKS]
    ranks = [low_rank_gram_squared(Y, memory_limit=size).values.shape[1] for size in sizes]
    assert ranks == [4, 8, 16]
    assert low_rank_gram_squared(Y, memory_limit=1).values.shape[1] == 4  # where none fits, the smallest


@pytest.mark.parametrize(
    ("shape", "rank", "width"), [((100, 50), 4, 14), ((3, 50), 4, 13), ((100, 5), 4, 5)], ids=["rank", "nodes", "all"]
)
def test_a_factor_takes_five_arrays_of_its_size_and_a_product(shape, rank, width):
    size = 5 * shape[1] * width * 8 + shape[0] * width * 8
    assert module.low_rank_bytes(np.ones(shape), rank, np.dtype(float)) == size
    single = np.ones(shape, dtype="f4")
    assert module.low_rank_bytes(single, rank, np.dtype(float)) == size + single.size * 8


@pytest.fixture
def ranks_tried(monkeypatch):
    """Errors are as given, by rank; what was tried is noted."""

    def tried(errors, features, **options):
        made = []

        def noted(features, rank, dtype, lengths):
            made.append(rank)
            return module.LowRankGramSquared(np.zeros((features.shape[1], rank)), lengths)

        monkeypatch.setattr(module, "_of_rank", noted)
        monkeypatch.setattr(module, "low_rank_error", lambda features, gram: errors[gram.values.shape[1]])
        return low_rank_gram_squared(features, **options).values.shape[1], made

    return tried


WIDE = np.broadcast_to(np.zeros(1), (600, 700))


@pytest.mark.parametrize(
    ("errors", "kept", "tried"),
    [
        ({64: 0.02}, 64, [64]),
        ({64: 0.1, 128: 0.02}, 128, [64, 128]),
        ({64: 0.1, 128: 0.08, 256: 0.05, 512: 0.01}, 512, [64, 128, 256, 512]),
        ({64: 0.1, 128: 0.081}, 64, [64, 128]),
        ({64: 0.5, 128: 0.3, 256: 0.29}, 128, [64, 128, 256]),
    ],
    ids=["small", "small with more", "worth it twice", "not worth it", "not worth it again"],
)
def test_larger_ranks_are_tried_until_the_error_is_small_or_hardly_falls(ranks_tried, errors, kept, tried):
    assert ranks_tried(errors, WIDE) == (kept, tried)


def test_no_rank_exceeds_the_features_and_the_whole_is_the_last(ranks_tried):
    assert ranks_tried({64: 0.5, 90: 0.3}, WIDE[:90]) == (90, [64, 90])
    assert ranks_tried({}, WIDE[:64]) == (64, [64])
    assert ranks_tried({}, WIDE[:50]) == (50, [50])
    assert ranks_tried({}, WIDE, rank=7) == (7, [7])
    assert ranks_tried({}, WIDE[:90], rank=99) == (90, [90])


def test_the_error_is_that_of_64_evenly_spread_features():
    Y = np.eye(127)
    every_second = np.arange(127) % 2 == 0
    assert low_rank_error(Y, module.LowRankGramSquared(np.zeros((127, 1)), every_second.astype(float))) == 0
    assert low_rank_error(Y, module.LowRankGramSquared(np.zeros((127, 1)), 1.0 - every_second)) == pytest.approx(1)
    assert low_rank_error(0 * Y, module.LowRankGramSquared(np.zeros((127, 1)), np.zeros(127))) == 0


@pytest.mark.parametrize(
    ("n_groups", "ranks", "taken"), [(3, (2, 4, 16), 3), (14, (4, 8, 16), 14), (100, (2, 4, 6), 2)]
)
def test_the_rank_grows_where_that_lowers_the_error(monkeypatch, n_groups, ranks, taken):
    """Of features in so many equal groups; where there are far more than ranks, a few more gain next to nothing."""
    monkeypatch.setattr(module, "RANKS", ranks)
    Y = np.kron(np.eye(n_groups), np.ones((2, 200 // n_groups)))
    assert low_rank_gram_squared(Y).values.shape[1] == taken


def test_no_larger_rank_is_tried_where_the_first_is_good_enough(monkeypatch):
    monkeypatch.setattr(module, "RANKS", (2, 4, 16))
    rng = np.random.default_rng(0)
    nearly = rng.random((60, 3)) @ rng.random((3, 40)) + 1e-3 * rng.random((60, 40))
    assert low_rank_gram_squared(nearly).values.shape[1] == 2
