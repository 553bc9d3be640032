"""The squared Gram matrix: dense, sparse and of low rank."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs import gram_squared as module
from blockselect.bmgufs import row_sums
from blockselect.bmgufs.gram_squared import (
    DenseGramSquared,
    SparseGramSquared,
    choose_form,
    dense_bytes,
    gram_squared,
    rough_gram_squared,
)
from blockselect.errors import ParameterError


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


def test_no_more_than_half_of_the_free_memory_is_taken(monkeypatch):
    Y = sparse.csr_array(random_features(0, m=200).astype(float))
    monkeypatch.setattr(module, "RANKS", (4, 8))
    monkeypatch.setattr(module, "free_memory", lambda: 2 * dense_bytes(Y, np.dtype(float)))
    assert choose_form(Y).form == "dense"
    monkeypatch.setattr(module, "free_memory", lambda: 2 * dense_bytes(Y, np.dtype(float)) - 2)
    assert choose_form(Y).form != "dense"
    assert "half of the free memory" in choose_form(Y).reason
    monkeypatch.setattr(module, "free_memory", lambda: 2000.0)
    with pytest.raises(ParameterError, match="memory_limit is 1 kB, half of the free memory, but"):
        choose_form(Y)


def test_a_rough_form_is_taken_only_where_its_error_is_small(monkeypatch):
    monkeypatch.setattr(module, "_ROUGH_FROM", 10)
    rng = np.random.default_rng(0)
    few_kinds = rng.random((200, 3)) @ rng.random((3, 60))
    assert rough_gram_squared(few_kinds).form == "low rank"
    assert rough_gram_squared(np.eye(60)).form == "dense"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairs_and_products_give_the_same_dense_form(monkeypatch, n_jobs):
    Y = sparse.csr_array(random_features(4, n=100, m=150, share=0.1).astype(float))
    by_pairs = gram_squared(Y, form="dense", n_jobs=n_jobs).values
    monkeypatch.setattr(row_sums, "_BY_PAIRS", 1e9)
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
    with pytest.raises(ParameterError, match=r"memory_limit .*Unable to allocate 7\.2 GiB.*lower it"):
        gram_squared(np.ones((3, 4)), form="dense")
