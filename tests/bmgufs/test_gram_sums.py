"""Sums over rows: chunks give what the whole gives, up to the scores of a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModel, Descent, RowChunks, make_attributed_blocks, selection_stability
from blockselect.bmgufs import gram as gram_module
from blockselect.bmgufs import gram_sums as module
from blockselect.bmgufs.gram import choose_form, gram_squared, low_rank_error, low_rank_gram_squared
from blockselect.bmgufs.gram_sums import dense_gram, gram_times, principal_factor, sparse_gram
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.rows.sums import squared_lengths, sum_over_rows
from blockselect.utils.errors import ParameterError

NETWORK = make_attributed_blocks(300, 3, random_state=0)
WEIGHTS = sparse.diags_array(np.random.default_rng(0).random(300))
FEATURES = sparse.csr_array(WEIGHTS @ sparse.csr_array(NETWORK.features))  # sums of these do round
CHUNKS = RowChunks.from_blocks([FEATURES[start : start + 70] for start in range(0, 300, 70)])
FORMS = ["dense", "sparse", "low rank"]


def random_features(seed, share, n=41, m=13):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, size=(n, m)) * (rng.random((n, m)) < share).astype(float)


@given(seed=st.integers(0, 1000), share=st.floats(0, 1), n_chunks=st.integers(1, 5), slab=st.sampled_from([200, 10**7]))
def test_the_gram_matrix_is_the_sum_of_those_of_chunks(seed, share, n_chunks, slab):
    Y = random_features(seed, share)
    chunks = RowChunks.from_blocks(np.array_split(Y, n_chunks))
    vectors = np.random.default_rng(seed).random((13, 4))
    before, module.SLAB_BYTES = module.SLAB_BYTES, slab
    try:
        for features in (Y, sparse.csr_array(Y), chunks):
            assert_allclose(sum_over_rows(features, dense_gram, np.dtype(float)), Y.T @ Y)
            assert_allclose(sum_over_rows(features, sparse_gram, np.dtype(float), np.inf).values.toarray(), Y.T @ Y)
            assert_allclose(sum_over_rows(features, gram_times, vectors), Y.T @ Y @ vectors)
    finally:
        module.SLAB_BYTES = before


@pytest.mark.parametrize("form", FORMS)
def test_the_squared_gram_matrix_of_chunks_is_that_of_the_whole(form):
    scores = np.random.default_rng(1).random((3, FEATURES.shape[1]))
    whole = gram_squared(FEATURES, form=form).apply(scores)
    assert_allclose(gram_squared(CHUNKS, form=form).apply(scores), whole, rtol=1e-10)


def test_the_form_chosen_for_chunks_is_that_of_the_whole_where_both_fit():
    for limit in (None, 1e6):
        assert choose_form(CHUNKS, memory_limit=limit) == choose_form(FEATURES, memory_limit=limit)


def test_the_factor_of_low_rank_is_as_good_as_the_best():
    rng = np.random.default_rng(3)
    Y = np.abs(rng.normal(size=(200, 6)) @ rng.normal(size=(6, 80))) + 0.01 * rng.random((200, 80))
    rank = 12
    Z = principal_factor(Y, rank, np.dtype(float))
    values = np.linalg.svd(Y, compute_uv=False)
    assert Z.shape == (80, rank)
    best = np.sum(values[rank:] ** 4) ** 0.5  # ‖YᵀY − its best approximation of that rank‖
    assert np.linalg.norm(Y.T @ Y - Z @ Z.T) <= 1.2 * best


@pytest.mark.parametrize("shape", [(30, 100), (100, 30), (40, 40)])
def test_the_full_rank_is_exact(shape):
    Y = random_features(5, 0.5, *shape)
    for features in (Y, sparse.csr_array(Y), RowChunks.from_blocks(np.array_split(Y, 4))):
        gram = low_rank_gram_squared(features)
        assert_allclose(gram.values @ gram.values.T, Y.T @ Y, atol=1e-9 * np.abs(Y.T @ Y).max())
        assert low_rank_error(features, gram) < 1e-8


def test_features_that_repeat_leave_a_factor_of_their_rank():
    Y = np.repeat(random_features(6, 0.5, 50, 5), 8, axis=1)
    Z = principal_factor(Y, 20, np.dtype(float))
    assert Z.shape[1] == 5
    assert_allclose(Z @ Z.T, Y.T @ Y, atol=1e-8)


def test_block_statistics_of_chunks_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    models = [BlockModel.from_labels(NETWORK.adjacency, rng.permutation(np.arange(300) % k)) for k in (2, 5, 3)]
    whole, chunked = (BlockStatistics.of(features, models) for features in (FEATURES, CHUNKS))
    assert_allclose(chunked.block_means, whole.block_means, rtol=1e-13)
    assert_allclose(chunked.block_sizes, whole.block_sizes)
    assert_allclose(chunked.density, whole.density)


def test_a_block_that_no_row_of_a_chunk_belongs_to():
    model = BlockModel.from_labels(NETWORK.adjacency, (np.arange(300) >= 290).astype(int))
    whole, chunked = (BlockStatistics.of(features, [model]) for features in (FEATURES, CHUNKS))
    assert_allclose(chunked.block_means, whole.block_means, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", ["dense", "low rank"])
def test_a_fit_to_chunks_is_a_fit_to_the_whole(monkeypatch, form, dtype):
    if form == "low rank":
        for size in ("dense_bytes", "sparse_bytes"):
            monkeypatch.setattr(gram_module, size, lambda *arguments: np.inf)
    solver = Descent(gradient="paper", tol=0.0, dtype=dtype)
    selector = BMGUFS(10, n_blocks=3, solver=solver, random_state=0)
    whole = selector.fit(FEATURES, adjacency=NETWORK.adjacency).scores_
    chunked = selector.fit(CHUNKS, adjacency=NETWORK.adjacency)
    assert selector.gram_form_ == form
    assert_allclose(chunked.scores_, whole, atol=1e-8 if dtype == "float64" else 1e-4)
    assert selector.n_features_in_ == FEATURES.shape[1]
    assert selector.transform(FEATURES).shape == (300, 10)


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


def test_slabs_hold_as_many_rows_as_fit_and_at_least_one(monkeypatch):
    monkeypatch.setattr(module, "SLAB_BYTES", 100)
    assert module._slabs(10, 3, "float64") == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert module._slabs(10, 3, "float32") == [slice(0, 8), slice(8, 10)]
    assert module._slabs(2, 1000, "float64") == [slice(0, 1), slice(1, 2)]
    assert module._slabs(20, 0, "float64") == [slice(0, 12), slice(12, 20)]
    assert module._slabs(0, 3, "float64") == []


@pytest.mark.parametrize(("m", "quicker"), [(40, False), (41, True)])
def test_pairs_are_quicker_where_rows_hold_less_than_a_quarter_of_the_features(m, quicker):
    Y = sparse.csr_array((np.arange(m) < 10).astype(float)[None].repeat(7, axis=0))
    assert module.quicker_by_pairs(Y) == quicker
    assert not module.quicker_by_pairs(Y.toarray())


def test_a_copy_takes_values_and_places_and_none_is_made_of_the_same_type():
    Y = sparse.csr_array(np.ones((6, 5)))
    places = 30 * Y.indices.itemsize + Y.indptr.nbytes
    assert gram_module._copy_bytes(Y, np.dtype("f4")) == 30 * 4 + places
    assert gram_module._copy_bytes(Y.toarray(), np.dtype("f4")) == 30 * 4
    assert gram_module._copy_bytes(Y, np.dtype("f8")) == gram_module._copy_bytes(CHUNKS, np.dtype("f4")) == 0


def test_a_sum_may_fill_its_limit_but_not_exceed_it():
    eye = sparse.csr_array(sparse.eye_array(10))
    size = 5 * (eye.data.nbytes + eye.indices.nbytes + eye.indptr.nbytes)
    part = module.sparse_gram(eye, slice(0, 10), np.dtype(float), size)
    assert_allclose((part + part).values.toarray(), 2 * np.eye(10))
    with pytest.raises(ParameterError, match="memory_limit"):
        module.sparse_gram(eye, slice(0, 10), np.dtype(float), size - 1)
    with pytest.raises(ParameterError, match="memory_limit"):
        part + module.BoundedGram(eye[:, ::-1], size)


@pytest.mark.parametrize("share", [0.02, 0.6], ids=["by a sparse product", "by slabs"])
def test_features_meet_at_the_nodes_that_have_both(monkeypatch, share):
    monkeypatch.setattr(module, "SLAB_BYTES", 7 * 13 * 4)
    Y, chosen = random_features(8, share), np.array([2, 5, 11])
    counts = module.meeting_counts(sparse.csr_array(Y), slice(0, 41), chosen)
    assert_allclose(counts.toarray(), (Y > 0).astype(float)[:, chosen].T @ (Y > 0))


def test_pairs_lengths_and_rows_of_the_gram_matrix_by_hand():
    Y = np.array([[1.0, 2, 0], [3, 0, 0]])
    rows = slice(0, 2)
    for features in (Y, sparse.csr_array(Y)):
        assert_allclose(squared_lengths(features, rows), [10, 4, 0])
        part = module.gram_rows(features, rows, np.array([1]))
        assert_allclose(part.toarray() if sparse.issparse(part) else part, [[2, 4, 0]])
    assert_allclose(module.pair_counts(sparse.csr_array(Y), rows), [2 + 1, 2, 0])


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_meetings_are_counted_by_pairs_or_by_slabs(share):
    chosen = np.array([0, 7, 30])
    present = random_features(3, share, n=80, m=40) > 0
    block = sparse.csr_array(present.astype(float))
    assert (block.nnz * module._BY_PAIRS < block.shape[0] * block.shape[1]) == (share == 0.01)
    counts = module.meeting_counts(block, slice(0, 80), chosen)
    assert_array_equal(counts.toarray(), present[:, chosen].T.astype(int) @ present)


def interpreted(function):
    """A compiled function as Python, which notices a place outside an array."""
    return getattr(function, "py_func", function)


def test_compiled_loops_stay_within_their_arrays():
    Y = random_features(9, 0.3, n=12, m=7)
    rows, columns = sparse.csr_array(Y), sparse.csc_array(Y)
    parts = (columns.indptr, columns.indices, columns.data, rows.indptr, rows.indices, rows.data)
    exact = (Y.T @ Y) ** 2
    squared = np.zeros((7, 7))
    interpreted(module.square_by_pairs)(0, 7, squared, *parts)
    interpreted(module.mirror)(0, 7, squared)
    assert_allclose(squared, exact)
