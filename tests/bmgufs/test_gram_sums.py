"""The sums of the squared Gram matrix: chunks give what the whole gives, up to the scores of a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModel, Descent, RowChunks, make_attributed_blocks, selection_stability
from blockselect.bmgufs import gram_sums
from blockselect.bmgufs.gram import choose_form, gram_squared
from blockselect.bmgufs.gram_sums import (
    copy_bytes,
    dense_gram,
    dense_square,
    gram_rows,
    gram_times,
    meeting_counts,
    pair_counts,
    sparse_gram,
    sparse_square,
)
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.rows.sums import squared_lengths, sum_over_rows
from blockselect.utils.errors import ParameterError

DOUBLE = np.dtype(np.float64)
NETWORK = make_attributed_blocks(300, 3, random_state=0)
WEIGHTS = sparse.diags_array(np.random.default_rng(0).random(300))
FEATURES = sparse.csr_array(WEIGHTS @ sparse.csr_array(NETWORK.features))  # sums of these do round


def in_chunks(features):
    return RowChunks.from_blocks([features[start : start + 70] for start in range(0, 300, 70)])


CHUNKS = in_chunks(FEATURES)


def random_features(seed, share, n=41, m=13):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, size=(n, m)) * (rng.random((n, m)) < share).astype(float)


@given(seed=st.integers(0, 1000), share=st.floats(0, 1), n_chunks=st.integers(1, 5), n_jobs=st.sampled_from([None, 2]))
def test_each_form_is_the_definition(seed, share, n_chunks, n_jobs):
    Y = random_features(seed, share)
    exact, vectors = Y.T @ Y, np.random.default_rng(seed).random((13, 4))
    for features in (Y, sparse.csr_array(Y), RowChunks.from_blocks(np.array_split(Y, n_chunks))):
        assert_allclose(sum_over_rows(features, dense_gram, DOUBLE), exact)
        assert_allclose(sum_over_rows(features, sparse_gram, DOUBLE, np.inf).values.toarray(), exact)
        assert_allclose(sum_over_rows(features, gram_times, vectors), exact @ vectors)
        assert_allclose(dense_square(features, DOUBLE, n_jobs), exact**2, rtol=1e-12)
        squared = sparse_square(features, DOUBLE)
        assert_allclose(squared.toarray(), exact**2, rtol=1e-12)
        assert squared.has_sorted_indices


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_of_few_pairs_are_those_of_the_dense_matrix(n_jobs):
    Y = random_features(4, 0.1, n=100, m=150)
    by_pairs = dense_square(sparse.csr_array(Y), DOUBLE, n_jobs)
    assert_allclose(by_pairs, dense_square(Y, DOUBLE), rtol=1e-12)
    assert_array_equal(by_pairs, by_pairs.T)


def test_columns_in_any_order_give_the_same():
    Y = sparse.csr_array(random_features(0, 0.2))
    turned = Y[:, ::-1]
    turned.has_sorted_indices = False
    assert_allclose(dense_square(turned, DOUBLE), dense_square(Y, DOUBLE)[::-1, ::-1])
    assert_allclose(sparse_square(turned, DOUBLE).toarray(), sparse_square(Y, DOUBLE).toarray()[::-1, ::-1])


@pytest.mark.parametrize("share", [0.05, 0.6])
def test_slabs_of_a_few_rows_change_nothing(monkeypatch, share):
    Y, vectors, rows, chosen = random_features(3, share), np.eye(13)[:, :4], slice(0, 41), np.array([2, 5, 11])
    monkeypatch.setattr(gram_sums, "SLAB_BYTES", 5 * 13 * 8)
    for features in (Y, sparse.csr_array(Y)):
        assert_allclose(dense_square(features, DOUBLE), (Y.T @ Y) ** 2)
        assert_allclose(dense_gram(features, rows, DOUBLE), Y.T @ Y)
        assert_allclose(gram_times(features, rows, vectors), Y.T @ Y @ vectors)
    counts = meeting_counts(sparse.csr_array(Y), rows, chosen)
    assert_array_equal(counts.toarray(), (Y > 0)[:, chosen].T.astype(int) @ (Y > 0))


@pytest.mark.parametrize("share", [0.01, 0.5], ids=["by pairs", "by a dense product"])
def test_features_meet_at_the_nodes_that_have_both(share):
    chosen, present = np.array([0, 7, 30]), random_features(3, share, n=80, m=40) > 0
    counts = meeting_counts(sparse.csr_array(present.astype(float)), slice(0, 80), chosen)
    assert_array_equal(counts.toarray(), present[:, chosen].T.astype(int) @ present)


def test_pairs_lengths_and_rows_of_the_gram_matrix_by_hand():
    Y = np.array([[1.0, 2, 0], [3, 0, 0]])
    rows = slice(0, 2)
    for features in (Y, sparse.csr_array(Y)):
        assert_allclose(squared_lengths(features, rows), [10, 4, 0])
        part = gram_rows(features, rows, np.array([1]))
        assert_allclose(part.toarray() if sparse.issparse(part) else part, [[2, 4, 0]])
    assert_allclose(pair_counts(sparse.csr_array(Y), rows), [2 + 1, 2, 0])


def test_a_sum_over_chunks_is_refused_once_it_exceeds_the_limit():
    Y = sparse.csr_array(random_features(1, 0.5, n=60, m=200))
    features = RowChunks.from_blocks([Y[:30], Y[30:]])
    with pytest.raises(ParameterError, match=r"memory_limit is 1e\+05 bytes .* takes at least .*; raise it"):
        gram_squared(features, form="sparse", memory_limit=1e5)
    assert gram_squared(features, form="sparse", memory_limit=1e7).values.shape == (200, 200)


@pytest.mark.parametrize("form", ["dense", "sparse", "low rank"])
def test_the_squared_gram_matrix_of_chunks_is_that_of_the_whole(form):
    scores = np.random.default_rng(1).random((3, FEATURES.shape[1]))
    whole = gram_squared(FEATURES, form=form).apply(scores)
    assert_allclose(gram_squared(CHUNKS, form=form).apply(scores), whole, rtol=1e-10)


def test_the_form_chosen_for_chunks_is_that_of_the_whole_where_both_fit():
    for limit in (8e9, 1e6):
        assert choose_form(CHUNKS, memory_limit=limit) == choose_form(FEATURES, memory_limit=limit)


def test_block_statistics_of_chunks_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    partitions = [*(rng.permutation(np.arange(300) % k) for k in (2, 5, 3)), (np.arange(300) >= 290).astype(int)]
    models = [BlockModel.from_labels(NETWORK.adjacency, labels) for labels in partitions]
    whole, chunked = (BlockStatistics.of(features, models) for features in (FEATURES, CHUNKS))
    assert_allclose(chunked.block_means, whole.block_means, rtol=1e-13)
    assert_allclose(chunked.block_sizes, whole.block_sizes)
    assert_allclose(chunked.density, whole.density)


def test_a_fit_to_chunks_is_a_fit_to_the_whole():
    selector = BMGUFS(10, n_blocks=3, random_state=0)
    whole = selector.fit(FEATURES, adjacency=NETWORK.adjacency).scores_
    chunked = selector.fit(CHUNKS, adjacency=NETWORK.adjacency)
    assert chunked.gram_form_ == "dense"
    assert_allclose(chunked.scores_, whole, atol=1e-8)
    assert selector.n_features_in_ == FEATURES.shape[1]
    assert selector.transform(FEATURES).shape == (300, 10)


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 4e6), ("float32", 2.2e6)])
def test_a_low_rank_fit_to_chunks_is_one_to_the_whole(dtype, limit):
    wide = make_attributed_blocks(300, 3, n_noise=700, random_state=0)
    solver = Descent(gradient="paper", tol=0.0, dtype=dtype, max_iter=50, memory_limit=limit)
    whole, chunked = (
        BMGUFS(10, block_model=wide.blocks, solver=solver).fit(X, adjacency=wide.adjacency)
        for X in (wide.features, in_chunks(wide.features))
    )
    assert whole.gram_form_ == chunked.gram_form_ == "low rank"
    assert_allclose(chunked.scores_, whole.scores_, atol=1e-8 if dtype == "float64" else 1e-4)


def test_feature_names_come_from_the_chunks_and_go_with_them():
    names = [f"word {i}" for i in range(CHUNKS.shape[1])]
    named = RowChunks.from_blocks(list(CHUNKS), feature_names=names)
    selector = BMGUFS(10, n_blocks=3, random_state=0).fit(named, adjacency=NETWORK.adjacency)
    assert set(selector.get_feature_names_out()) <= set(names)
    selector.fit(CHUNKS, adjacency=NETWORK.adjacency)
    assert not hasattr(selector, "feature_names_in_")


def test_stability_of_a_selection_from_chunks():
    selector = BMGUFS(10, n_blocks=3, n_candidates=2, sparsity=0.0, random_state=0)
    selector.fit(FEATURES, adjacency=NETWORK.adjacency)
    both = [selection_stability(selector, X, adjacency=NETWORK.adjacency, n_resamples=3) for X in (FEATURES, CHUNKS)]
    assert_allclose(*both, atol=1e-6)


def test_the_features_are_never_held_whole():
    """No chunk is alive when the third after it is read."""
    alive, most = set(), 0

    class Counted(np.ndarray):
        def __del__(self):
            alive.discard(id(self))

    def blocks():
        nonlocal most
        for start in range(0, 300, 30):
            block = FEATURES[start : start + 30]
            block = block.toarray().view(Counted)
            alive.add(id(block))
            most = max(most, len(alive))
            yield block
            del block

    BMGUFS(10, n_blocks=3, n_candidates=2, random_state=0).fit(
        RowChunks.from_blocks(blocks), adjacency=NETWORK.adjacency
    )
    assert most <= 2


def interpreted(function):
    """A compiled function as Python, which notices a place outside an array."""
    return getattr(function, "py_func", function)


def test_compiled_loops_stay_within_their_arrays():
    Y = random_features(9, 0.3, n=12, m=7)
    rows, columns = sparse.csr_array(Y), sparse.csc_array(Y)
    parts = (columns.indptr, columns.indices, columns.data, rows.indptr, rows.indices, rows.data)
    squared = np.zeros((7, 7))
    interpreted(gram_sums.square_by_pairs)(0, 7, squared, *parts)
    interpreted(gram_sums.mirror)(0, 7, squared)
    assert_allclose(squared, (Y.T @ Y) ** 2)


def test_memory_of_a_copy_in_another_type_is_counted():
    single = FEATURES.astype(np.float32)
    double = single.astype(np.float64)
    assert copy_bytes(single.toarray(), DOUBLE) == double.toarray().nbytes
    assert copy_bytes(single, DOUBLE) == double.data.nbytes + double.indices.nbytes + double.indptr.nbytes
    assert copy_bytes(double, DOUBLE) == copy_bytes(CHUNKS, DOUBLE) == 0
