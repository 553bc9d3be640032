"""The squared Gram matrix: dense, sparse and of low rank."""

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
    gram_squared,
    low_rank_error,
    low_rank_gram_squared,
    rough_gram_squared,
)


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


def test_it_is_built_the_same_slab_by_slab(monkeypatch):
    Y = sparse.csr_array(random_features(3).astype(float))
    whole = {form: gram_squared(Y, form=form).values for form in ("dense", "sparse")}
    monkeypatch.setattr(module, "_CHUNK_BYTES", 5 * 17 * 8)
    monkeypatch.setattr(row_sums, "_SLAB_BYTES", 5 * 17 * 8)
    assert_allclose(gram_squared(Y, form="dense").values, whole["dense"])
    assert_allclose(gram_squared(Y, form="sparse").values.toarray(), whole["sparse"].toarray())


def test_the_sparse_form_is_taken_where_few_features_meet():
    disjoint = sparse.csr_array(sparse.eye_array(400))
    assert choose_form(disjoint).form == "sparse"
    assert isinstance(gram_squared(disjoint), SparseGramSquared)
    assert choose_form(np.ones((5, 400))).form == "dense"
    assert isinstance(gram_squared(np.ones((5, 400))), DenseGramSquared)


def test_a_memory_limit_turns_to_the_smaller_form_then_to_a_low_rank_and_says_why():
    disjoint_pairs = sparse.kron(sparse.eye_array(5), np.ones((1, 6)), format="csr")
    assert choose_form(disjoint_pairs).form == "dense"
    smaller = choose_form(disjoint_pairs, memory_limit=5000)
    assert smaller.form == "sparse"
    assert "over memory_limit" in smaller.reason
    low = choose_form(disjoint_pairs, memory_limit=1500)
    assert low.form == "low rank"
    assert "the sparse form takes" in low.reason
    with pytest.raises(ValueError, match=r"memory_limit.*at least.*float32"):
        choose_form(disjoint_pairs, memory_limit=100)


def test_no_more_than_half_of_the_free_memory_is_taken(monkeypatch):
    Y = sparse.csr_array(random_features(0, m=200).astype(float))
    monkeypatch.setattr(module, "free_memory", lambda: 2 * 200 * 200 * 8 + 2)
    assert choose_form(Y).form == "dense"
    monkeypatch.setattr(module, "free_memory", lambda: 200 * 200 * 8)
    assert choose_form(Y).form != "dense"
    assert "half of the free memory" in choose_form(Y).reason


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


def test_a_low_rank_stays_within_the_memory_limit():
    Y = sparse.csr_array(random_features(5, n=400, m=300, share=0.5).astype(float))
    limit = 65 * 300 * 8
    assert choose_form(Y, memory_limit=limit).form == "low rank"
    gram = gram_squared(Y, memory_limit=limit)
    assert gram.values.nbytes + gram.rest.nbytes <= limit
    with pytest.raises(ValueError, match="memory_limit"):
        choose_form(Y, memory_limit=limit - 1)
