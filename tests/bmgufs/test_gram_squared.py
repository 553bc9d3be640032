"""The squared Gram matrix, dense and sparse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.bmgufs import gram_squared as module
from blockselect.bmgufs.gram_squared import DenseGramSquared, SparseGramSquared, gram_form, gram_squared


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
    assert_allclose(gram_squared(Y, form="dense").values, whole["dense"])
    assert_allclose(gram_squared(Y, form="sparse").values.toarray(), whole["sparse"].toarray())


def test_the_sparse_form_is_taken_where_few_features_meet():
    disjoint = sparse.csr_array(sparse.eye_array(400))
    assert gram_form(disjoint) == "sparse"
    assert isinstance(gram_squared(disjoint), SparseGramSquared)
    assert gram_form(np.ones((5, 400))) == "dense"
    assert isinstance(gram_squared(np.ones((5, 400))), DenseGramSquared)


def test_a_memory_limit_turns_to_the_smaller_form_or_says_what_is_missing():
    disjoint_pairs = sparse.kron(sparse.eye_array(5), np.ones((1, 6)), format="csr")
    assert gram_form(disjoint_pairs) == "dense"
    assert gram_form(disjoint_pairs, memory_limit=5000) == "sparse"
    with pytest.raises(ValueError, match=r"memory_limit.*float32"):
        gram_form(disjoint_pairs, memory_limit=100)


def test_single_precision_is_kept():
    assert gram_squared(random_features(0), dtype="float32").values.dtype == np.float32
