"""The squared Gram matrix: its forms, and the choice between them within a memory limit."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs.gram import (
    DenseGramSquared,
    SparseGramSquared,
    choose_form,
    count_nonzeros,
    dense_bytes,
    gram_squared,
    sparse_bytes,
)
from blockselect.bmgufs.low_rank import low_rank_bytes
from blockselect.rows.chunks import RowChunks
from blockselect.utils.errors import OutOfMemoryError, ParameterError

DOUBLE = np.dtype(np.float64)


def random_features(seed, n=30, m=17, share=0.2):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, size=(n, m)) * (rng.random((n, m)) < share)


def groups(n_groups, size):
    """Features that occur together only with those of their group."""
    return sparse.kron(sparse.eye_array(n_groups), np.ones((1, size)), format="csr")


def chunks_of(Y):
    return RowChunks.from_blocks(np.array_split(Y, 2))


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


def test_single_precision_is_kept():
    assert gram_squared(random_features(0), dtype="float32").values.dtype == np.float32


def test_the_sparse_form_is_taken_where_few_features_meet():
    disjoint = sparse.csr_array(sparse.eye_array(400))
    assert choose_form(disjoint).form == "sparse"
    assert isinstance(gram_squared(disjoint), SparseGramSquared)
    assert choose_form(np.ones((5, 400))).form == "dense"
    assert isinstance(gram_squared(np.ones((5, 400))), DenseGramSquared)


@pytest.mark.parametrize(("n_groups", "form", "share"), [(10, "dense", "10%"), (11, "sparse", "9%")])
def test_the_sparse_form_is_taken_below_a_tenth_of_the_pairs(n_groups, form, share):
    choice = choose_form(groups(n_groups, 10))
    assert choice.form == form
    assert choice.reason == f"{share} of the feature pairs occur together, and it fits into memory"


@given(seed=st.integers(0, 100), share=st.floats(0.01, 0.3))
def test_the_share_of_pairs_is_exact_where_features_are_few(seed, share):
    Y = sparse.csr_array(random_features(seed, share=share).astype(float))
    exact = f"{np.count_nonzero((Y.T @ Y).toarray()) / 17**2:.0%} of the feature pairs"
    for features in (Y, chunks_of(Y.toarray()), RowChunks.from_blocks([Y[:10], Y[10:]])):
        assert choose_form(features).reason.startswith(exact)


@given(seed=st.integers(0, 100), share=st.floats(0, 0.5))
def test_non_zeros_are_counted_exactly(seed, share):
    Y = random_features(seed, share=share).astype(float)
    for rows_at_once in (5, 256):
        assert count_nonzeros(sparse.csr_array(Y), rows_at_once) == np.count_nonzero(Y.T @ Y)


def test_a_memory_limit_turns_to_the_smaller_form_then_to_a_low_rank_and_says_why():
    Y = groups(8, 60)
    assert choose_form(Y).form == "dense"
    smaller = choose_form(Y, memory_limit=600e3)
    assert smaller.form == "sparse"
    assert smaller.reason == "the dense form takes 1.9 MB, over memory_limit (600 kB)"
    low = choose_form(Y, memory_limit=390e3)
    assert low.form == "low rank"
    assert low.reason == "the sparse form takes 410 kB, over memory_limit (390 kB)"
    with pytest.raises(ParameterError, match=r"memory_limit is 100 kB but .* 480 features .* at least \d+ kB.*float32"):
        choose_form(Y, memory_limit=100e3)


def test_a_form_that_fills_the_limit_is_taken_and_one_byte_less_leaves_the_next():
    Y = groups(5, 240)
    exact = sparse_bytes(Y, 5 * 240**2, DOUBLE)
    assert choose_form(Y, memory_limit=exact).form == "sparse"
    assert choose_form(Y, memory_limit=exact - 1).form == "low rank"
    least = low_rank_bytes(Y, 5, DOUBLE)
    assert choose_form(Y, memory_limit=least).form == "low rank"
    with pytest.raises(ParameterError, match="memory_limit"):
        choose_form(Y, memory_limit=least - 1)


def test_without_a_limit_eight_gigabytes_are_allowed():
    below, above = (np.broadcast_to(np.zeros(1), (3, m)) for m in (31_600, 31_700))
    assert choose_form(below).form == "dense"
    assert choose_form(above).form == "low rank"
    assert choose_form(above).reason == "the dense form takes 8 GB, over memory_limit (8 GB)"


def test_of_forms_above_a_gibibyte_the_smaller_one_is_taken_but_on_a_device():
    small, large = groups(4, 10), groups(4, 3000)
    assert choose_form(small).form == "dense"
    assert choose_form(large).form == "sparse"
    assert choose_form(large).reason == "the dense form takes 1.2 GB, more than the sparse one"
    assert choose_form(large, on_device=True).form == "dense"


def test_features_that_no_sample_shows_do_not_bypass_the_limit():
    """Every fourth column is empty, and all others meet: evenly spaced columns would be the empty ones."""
    held = np.ones((2, 1024))
    held[:, ::4] = 0
    choice = choose_form(sparse.csr_array(held), memory_limit=1e6)
    assert choice.form == "low rank"
    assert 768**2 * 12 < 1e6 * 10 < 768**2 * 20  # what the sparse form takes, and why it must not be taken


def test_a_sample_that_misleads_is_found_out_before_the_matrix_is_there():
    """The 64 sampled features occur together in 19 nodes, all others in one, so that all have as many pairs."""
    sampled = np.isin(np.arange(1280), np.linspace(0, 1279, 64).astype(int))
    Y = sparse.csr_array(np.vstack([np.tile(sampled, (19, 1)), ~sampled]).astype(float))
    assert choose_form(Y).reason.startswith("5% of the feature pairs")
    choice = choose_form(Y, memory_limit=5e6)
    assert choice.form == "low rank"
    assert "over memory_limit" in choice.reason


def test_a_sample_that_shows_too_many_pairs_refuses_no_form_that_fits():
    """Sixty of the features occur together, and one of them is always in the sample."""
    one_node = sparse.csr_array((np.ones(60), (np.zeros(60, dtype=int), np.arange(60))), shape=(1, 20_000))
    Y = sparse.csr_array(sparse.vstack([one_node, sparse.eye_array(20_000, format="csr")[60:]]))
    exact = sparse_bytes(Y, 60**2 + 20_000 - 60, DOUBLE)
    choice = choose_form(Y, memory_limit=exact)
    assert choice.form == "sparse"
    assert choice.reason.startswith("no other form fits into memory_limit")
    with pytest.raises(ParameterError, match="takes at least"):
        choose_form(Y, memory_limit=exact - 1)


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


def peak_of(make):
    """Bytes that a call takes at most, and its result; the first call compiles."""
    make()
    tracemalloc.start()
    try:
        made = make()
        return tracemalloc.get_traced_memory()[1], made
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_whatever_is_taken_stays_within_the_memory_limit(kind, share, dtype):
    Y = kind(random_features(5, n=300, m=800, share=share).astype(dtype))
    for limit in (5.2e6, 1e7):
        choice = choose_form(Y, dtype=dtype, memory_limit=limit)
        peak, _ = peak_of(lambda f=choice.form, top=limit: gram_squared(Y, form=f, dtype=dtype, memory_limit=top))
        assert peak <= limit + 2**17


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["sparse", "dense", "chunks"])
def test_no_more_memory_is_taken_than_was_said(kind, dtype):
    Y = sparse.random_array((1500, 800), density=0.01, rng=np.random.default_rng(0), format="csr")
    features = {
        "sparse": Y,
        "dense": Y.toarray(),
        "chunks": RowChunks.from_blocks([Y[start : start + 300] for start in range(0, 1500, 300)]),
    }[kind]
    overhead = 2**17
    peak, _ = peak_of(lambda: gram_squared(features, form="dense", dtype=dtype))
    assert peak <= dense_bytes(features, np.dtype(dtype)) + overhead
    if kind != "dense":
        peak, made = peak_of(lambda: gram_squared(features, form="sparse", dtype=dtype))
        assert peak <= sparse_bytes(features, made.values.nnz, np.dtype(dtype)) + overhead


def test_running_out_of_memory_is_reported_with_what_to_do():
    too_many = np.broadcast_to(np.zeros(1), (3, 10**8))  # 80 petabytes
    with pytest.raises(OutOfMemoryError, match=r"the dense .*memory_limit=8e\+09 .*allocate .*float32"):
        gram_squared(too_many, form="dense")
