"""The squared Gram matrix: dense, sparse and of low rank."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs import gram as module
from blockselect.bmgufs import gram_sums
from blockselect.bmgufs.gram import (
    DenseGramSquared,
    SparseGramSquared,
    choose_form,
    dense_bytes,
    gram_squared,
    sparse_bytes,
)
from blockselect.rows.chunks import RowChunks
from blockselect.utils.errors import OutOfMemoryError, ParameterError


def random_features(seed, n=30, m=17, share=0.2):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, size=(n, m)) * (rng.random((n, m)) < share)


@given(
    seed=st.integers(0, 1000),
    share=st.floats(0, 1),
    form=st.sampled_from(["dense", "sparse"]),
    rows=st.integers(1, 4),
)
def test_every_form_multiplies_as_the_squared_gram_matrix_does(seed, share, form, rows):
    Y = random_features(seed, share=share).astype(float)
    scores = np.random.default_rng(seed).random((rows, Y.shape[1]))
    expected = scores @ (Y.T @ Y) ** 2
    for features in (Y, sparse.csr_array(Y)):
        assert_allclose(gram_squared(features, form=form).apply(scores), expected, rtol=1e-12)


def test_the_sparse_form_is_taken_where_few_features_meet():
    disjoint = sparse.csr_array(sparse.eye_array(400))
    assert choose_form(disjoint).form == "sparse"
    assert isinstance(gram_squared(disjoint), SparseGramSquared)
    assert choose_form(np.ones((5, 400))).form == "dense"
    assert isinstance(gram_squared(np.ones((5, 400))), DenseGramSquared)


def test_a_memory_limit_turns_to_the_smaller_form_then_to_a_low_rank_and_says_why(monkeypatch):
    disjoint_groups = sparse.kron(sparse.eye_array(8), np.ones((1, 60)), format="csr")
    monkeypatch.setattr(module, "RANKS", (4, 8))
    assert choose_form(disjoint_groups).form == "dense"
    smaller = choose_form(disjoint_groups, memory_limit=600e3)
    assert smaller.form == "sparse"
    assert smaller.reason == "the dense form takes 1.9 MB, over memory_limit (600 kB)"
    low = choose_form(disjoint_groups, memory_limit=390e3)
    assert low.form == "low rank"
    assert low.reason == "the sparse form takes 410 kB, over memory_limit (390 kB)"
    with pytest.raises(ParameterError, match=r"memory_limit is 100 kB but .* 480 features .* at least \d+ kB.*float32"):
        choose_form(disjoint_groups, memory_limit=100e3)


def test_features_that_no_sample_shows_do_not_bypass_the_limit():
    """Every fourth column is empty, and all others meet: evenly spaced columns would be the empty ones."""
    held = np.ones((2, 1024))
    held[:, ::4] = 0
    choice = choose_form(sparse.csr_array(held), memory_limit=1e6)
    assert choice.form == "low rank"
    assert 768**2 * 12 < 1e6 * 10 < 768**2 * 20  # what the sparse form takes, and why it must not be taken


def test_a_sample_that_misleads_is_found_out_before_the_matrix_is_there(monkeypatch):
    monkeypatch.setattr(module, "_share_of_nonzeros", lambda features: 0.001)
    full = sparse.csr_array(np.ones((3, 600)))
    choice = choose_form(full, memory_limit=2e6)
    assert choice.form == "low rank"
    assert "over memory_limit" in choice.reason


def test_of_large_forms_the_smaller_one_is_taken_but_on_a_device(monkeypatch):
    third = sparse.kron(sparse.eye_array(3), np.ones((1, 60)), format="csr")
    assert choose_form(third).form == "dense"
    monkeypatch.setattr(module, "_SPACIOUS", 1e5)
    assert choose_form(third).form == "sparse"
    assert "the dense form takes" in choose_form(third).reason
    assert choose_form(third, on_device=True).form == "dense"


def test_without_a_limit_no_more_than_a_fixed_size_is_taken(monkeypatch):
    Y = sparse.csr_array(random_features(0, m=200).astype(float))
    monkeypatch.setattr(module, "RANKS", (4, 8))
    monkeypatch.setattr(module, "MEMORY_LIMIT", dense_bytes(Y, np.dtype(float)))
    assert choose_form(Y).form == "dense"
    monkeypatch.setattr(module, "MEMORY_LIMIT", dense_bytes(Y, np.dtype(float)) - 1)
    assert choose_form(Y).form != "dense"
    assert "over memory_limit" in choose_form(Y).reason
    monkeypatch.setattr(module, "MEMORY_LIMIT", 1000.0)
    with pytest.raises(ParameterError, match="memory_limit is 1 kB but"):
        choose_form(Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairs_and_products_give_the_same_dense_form(monkeypatch, n_jobs):
    Y = sparse.csr_array(random_features(4, n=100, m=150, share=0.1).astype(float))
    by_pairs = gram_squared(Y, form="dense", n_jobs=n_jobs).values
    monkeypatch.setattr(gram_sums, "_BY_PAIRS", 1e9)
    assert_allclose(by_pairs, gram_squared(Y, form="dense").values, rtol=1e-12)
    assert_allclose(by_pairs, by_pairs.T, rtol=0)


def test_single_precision_is_kept():
    assert gram_squared(random_features(0), dtype="float32").values.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_whatever_is_taken_stays_within_the_memory_limit(kind, share, dtype):
    Y = kind(random_features(5, n=300, m=800, share=share).astype(dtype))
    for limit in (5.2e6, 1e7):
        choice = choose_form(Y, dtype=dtype, memory_limit=limit)
        gram_squared(Y, form=choice.form, dtype=dtype, memory_limit=limit)  # compiles
        tracemalloc.start()
        try:
            gram_squared(Y, form=choice.form, dtype=dtype, memory_limit=limit)
            assert tracemalloc.get_traced_memory()[1] <= limit + 2**17
        finally:
            tracemalloc.stop()


def test_running_out_of_memory_is_reported_with_what_to_do(monkeypatch):
    def full(*arguments):
        raise MemoryError("Unable to allocate 7.2 GiB")

    monkeypatch.setattr(module, "dense_square", full)
    with pytest.raises(OutOfMemoryError, match=r"the dense .*memory_limit=8e\+09 .*7\.2 GiB.*float32"):
        gram_squared(np.ones((3, 4)), form="dense")


def chunks_of(Y):
    return RowChunks.from_blocks(np.array_split(Y, 2))


EYE = sparse.csr_array(sparse.eye_array(30))  # its places and values take 30 (8 + 4) bytes, 64 for each row and column
TURNED = EYE[:, ::-1]
TURNED.has_sorted_indices = False
HUGE = np.broadcast_to(np.zeros(1), (10**6, 1000))


@pytest.mark.parametrize(
    ("features", "size"),
    [
        (np.ones((10, 20)), 20**2 * 8 + 2 * 10 * 20 * 8),
        (np.ones((10, 20), dtype="f4"), 20**2 * 8 + 10 * 20 * 8 + 2 * 10 * 20 * 8),
        (HUGE, 1000**2 * 8 + 2 * 2**26),
        (EYE, 30**2 * 8 + 30 * 12 + 64 * 60),
        (TURNED, 30**2 * 8 + 2 * (30 * 12 + 64 * 60)),
        (EYE.astype("f4"), 30**2 * 8 + 30 * 12 + 64 * 60 + 30 * 12 + 31 * EYE.indptr.itemsize),
        (chunks_of(np.ones((10, 20))), (3 + 3) * 20**2 * 8),
    ],
    ids=["dense", "other type", "in parts", "by pairs", "out of order", "by pairs, other type", "chunks"],
)
def test_the_dense_form_takes_itself_and_what_is_made_on_the_way(features, size):
    assert dense_bytes(features, np.dtype(float)) == size


@pytest.mark.parametrize(
    ("features", "n_nonzeros", "size"),
    [
        (EYE, 100, 100 * 12 + 64 * 30 + 30 * 12 + 64 * 60),
        (EYE, 2**31 - 1, (2**31 - 1) * 12 + 64 * 30 + 30 * 12 + 64 * 60),
        (EYE, 2**31, 2**31 * 16 + 64 * 30 + 30 * 12 + 64 * 60),
        (chunks_of(np.ones((10, 20))), 100, 5 * (100 * 12 + 64 * 20)),
    ],
    ids=["sparse", "most small places", "large places", "chunks"],
)
def test_the_sparse_form_takes_values_and_places_and_what_is_made_on_the_way(features, n_nonzeros, size):
    assert sparse_bytes(features, n_nonzeros, np.dtype(float)) == size


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (1e9, "1 GB"),
        (1.26e9, "1.3 GB"),
        (9.8e8, "980 MB"),
        (1e6, "1 MB"),
        (9.9e5, "990 kB"),
        (1e3, "1 kB"),
        (1, "0.001 kB"),
    ],
)
def test_sizes_are_said_to_two_digits(size, words):
    assert module._in_words(size) == words


def groups(n_groups, size):
    """Features meet within their group alone."""
    return sparse.kron(sparse.eye_array(n_groups), np.ones((1, size)), format="csr")


@pytest.mark.parametrize(("n_groups", "form", "share"), [(10, "dense", "10%"), (11, "sparse", "9%")])
def test_the_sparse_form_is_taken_below_a_tenth_of_the_pairs(n_groups, form, share):
    choice = choose_form(groups(n_groups, 10))
    assert choice.form == form
    assert choice.reason == f"{share} of the feature pairs occur together, and it fits into memory"


@given(seed=st.integers(0, 100), share=st.floats(0.01, 0.3))
def test_the_share_of_pairs_is_exact_where_features_are_few(seed, share):
    Y = sparse.csr_array(random_features(seed, share=share).astype(float))
    exact = np.count_nonzero((Y.T @ Y).toarray()) / 17**2
    for features in (Y, chunks_of(Y.toarray()), RowChunks.from_blocks([Y[:10], Y[10:]])):
        assert module._share_of_nonzeros(features) == pytest.approx(exact)


def test_a_form_that_fills_the_limit_is_taken_and_one_byte_less_leaves_the_next(monkeypatch):
    monkeypatch.setattr(module, "RANKS", (1, 2))
    Y, dtype = groups(20, 60), np.dtype(float)
    exact = sparse_bytes(Y, 20 * 60**2, dtype)
    assert choose_form(Y, memory_limit=exact).form == "sparse"
    assert choose_form(Y, memory_limit=exact - 1).form == "low rank"
    least = module.low_rank_bytes(Y, 1, dtype)
    assert choose_form(Y, memory_limit=least).form == "low rank"
    with pytest.raises(ParameterError, match="memory_limit"):
        choose_form(Y, memory_limit=least - 1)


def said_to_be_needed(features, limit):
    with pytest.raises(ParameterError, match="takes at least") as caught:
        choose_form(features, memory_limit=limit)
    number, unit = re.search(r"takes at least ([\d.]+) (kB|MB|GB)", str(caught.value)).groups()
    return float(number) * {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]


@pytest.mark.parametrize(
    ("features", "form"),
    [
        (sparse.csr_array(sparse.eye_array(20_000)), "sparse"),
        (groups(400, 7), "sparse"),
        (np.ones((3, 40)), "dense"),
        (np.ones((20, 4000)), "low rank"),
        (chunks_of(np.ones((20, 4000))), "low rank"),
    ],
    ids=["many rare features", "groups", "few features", "dense", "chunks"],
)
def test_the_memory_that_is_said_to_be_needed_suffices_and_no_less_does(features, form):
    least = said_to_be_needed(features, 10_000.0)
    assert choose_form(features, memory_limit=least).form == form
    assert said_to_be_needed(features, 0.9 * least) == least


def test_a_sample_that_shows_too_many_pairs_refuses_no_form_that_fits(monkeypatch):
    Y = sparse.csr_array(sparse.eye_array(20_000))
    exact = sparse_bytes(Y, 20_000, np.dtype(float))
    monkeypatch.setattr(module, "_share_of_nonzeros", lambda features: 3 / 20_000)
    choice = choose_form(Y, memory_limit=exact)
    assert choice.form == "sparse"
    assert choice.reason.startswith("no other form fits into memory_limit")
    with pytest.raises(ParameterError, match="takes at least"):
        choose_form(Y, memory_limit=exact - 1)


def test_a_low_rank_may_take_the_limit_or_the_fixed_size(monkeypatch):
    asked = []
    monkeypatch.setattr(
        module, "low_rank_gram_squared", lambda *given, **options: asked.append(options["memory_limit"])
    )
    monkeypatch.setattr(module, "MEMORY_LIMIT", 500.0)
    for limit in (None, 70.0):
        gram_squared(np.eye(3), form="low rank", memory_limit=limit)
    assert asked == [500, 70]


@pytest.mark.parametrize(
    ("dense", "sparse_form", "taken"),
    [(2**30, 2**29, "dense"), (2**30 + 1, 2**29, "sparse"), (2**30 + 1, 2**30 + 1, "dense")],
    ids=["small", "large", "both as large"],
)
def test_a_form_of_more_than_a_gibibyte_makes_way_for_a_smaller_one(monkeypatch, dense, sparse_form, taken):
    monkeypatch.setattr(module, "dense_bytes", lambda *given: dense)
    monkeypatch.setattr(module, "sparse_bytes", lambda *given: sparse_form)
    assert choose_form(groups(2, 5), memory_limit=1e12).form == taken


def test_sixty_four_columns_say_how_many_pairs_there_are(monkeypatch):
    asked = []
    count = module.meeting_counts
    monkeypatch.setattr(
        module, "meeting_counts", lambda Y, rows, chosen: asked.append(len(chosen)) or count(Y, rows, chosen)
    )
    assert module._share_of_nonzeros(groups(20, 10)) == pytest.approx(1 / 20)
    assert asked == [64]
