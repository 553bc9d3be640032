"""The exact forms of the squared Gram matrix: right, and never larger on the way than was said before."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs import gram as module
from blockselect.bmgufs import gram_sums
from blockselect.bmgufs.gram import count_nonzeros, dense_bytes, sparse_bytes
from blockselect.bmgufs.gram_sums import dense_square, sparse_square
from blockselect.rows.chunks import RowChunks
from blockselect.utils.errors import ParameterError

DOUBLE = np.dtype(np.float64)


def random_features(seed, shape=(30, 17), share=0.2):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, size=shape) * (rng.random(shape) < share).astype(float)


@given(seed=st.integers(0, 1000), share=st.floats(0, 1), n_jobs=st.sampled_from([None, 2]))
def test_each_form_is_the_definition(seed, share, n_jobs):
    Y = random_features(seed, share=share)
    exact = (Y.T @ Y) ** 2
    for features in (Y, sparse.csr_array(Y), RowChunks.from_blocks(np.array_split(Y, 3))):
        assert_allclose(dense_square(features, DOUBLE, n_jobs), exact, rtol=1e-12)
        squared = sparse_square(features, DOUBLE)
        assert_allclose(squared.toarray(), exact, rtol=1e-12)
        assert (np.diff(squared.indices)[np.diff(np.repeat(np.arange(17), np.diff(squared.indptr))) == 0] > 0).all()


def test_columns_in_any_order_give_the_same():
    Y = sparse.csr_array(random_features(0))
    turned = Y[:, ::-1]
    turned.has_sorted_indices = False
    assert_allclose(dense_square(turned, DOUBLE), dense_square(Y, DOUBLE)[::-1, ::-1])
    assert_allclose(sparse_square(turned, DOUBLE).toarray(), sparse_square(Y, DOUBLE).toarray()[::-1, ::-1])


def test_the_size_of_parts_changes_nothing(monkeypatch):
    Y = random_features(3)
    whole, n_nonzeros = dense_square(Y, DOUBLE), count_nonzeros(sparse.csr_array(Y))
    monkeypatch.setattr(gram_sums, "SLAB_BYTES", 5 * 17 * 8)
    assert_allclose(dense_square(Y, DOUBLE), whole)
    monkeypatch.setattr(module, "_ROWS", 5)
    assert count_nonzeros(sparse.csr_array(Y)) == n_nonzeros


@given(seed=st.integers(0, 100), share=st.floats(0, 0.5))
def test_non_zeros_are_counted_exactly(seed, share):
    Y = random_features(seed, share=share)
    assert count_nonzeros(sparse.csr_array(Y)) == np.count_nonzero(Y.T @ Y)


def peak_of(make):
    """Bytes that a call takes at most, and its result; the first call compiles."""
    make()
    tracemalloc.start()
    try:
        made = make()
        return tracemalloc.get_traced_memory()[1], made
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.dtype(np.float64), np.dtype(np.float32)])
@pytest.mark.parametrize("kind", ["sparse", "dense", "chunks"])
def test_no_more_memory_is_taken_than_was_said(kind, dtype):
    Y = sparse.random_array((1500, 800), density=0.01, rng=np.random.default_rng(0), format="csr")
    features = {
        "sparse": Y,
        "dense": Y.toarray(),
        "chunks": RowChunks.from_blocks([Y[start : start + 300] for start in range(0, 1500, 300)]),
    }[kind]
    assert features.shape == (1500, 800)
    overhead = 2**17
    peak, _ = peak_of(lambda: dense_square(features, dtype))
    assert peak <= dense_bytes(features, dtype) + overhead
    if kind != "dense":
        peak, made = peak_of(lambda: sparse_square(features, dtype))
        assert peak <= sparse_bytes(features, made.nnz, dtype) + overhead


def test_features_out_of_order_take_one_copy_more():
    Y = sparse.random_array((300, 200), density=0.2, rng=np.random.default_rng(0), format="csr")
    turned = Y[:, ::-1]
    turned.has_sorted_indices = False
    more = sparse_bytes(turned, 0, DOUBLE) - sparse_bytes(Y, 0, DOUBLE)
    copied = Y.nnz * (8 + Y.indices.itemsize)
    assert copied <= more <= copied + 64 * sum(Y.shape)


def test_a_sum_over_chunks_is_refused_once_it_exceeds_the_limit():
    Y = sparse.csr_array(random_features(1, (60, 200), share=0.5))
    features = RowChunks.from_blocks([Y[:30], Y[30:]])
    with pytest.raises(ParameterError, match=r"memory_limit is 1e\+05 bytes .* takes at least .*; raise it"):
        sparse_square(features, DOUBLE, limit=1e5)
    assert sparse_square(features, DOUBLE, limit=1e7).shape == (200, 200)
