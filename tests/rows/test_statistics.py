"""Statistics of columns are the same for dense and sparse features; counts are recognized and binarized."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.rows.statistics import (
    are_sparse_counts,
    column_inner_products,
    constant_columns,
    in_units,
    mean_and_variance,
    presence,
)
from blockselect.rows.sums import n_holders, squared_lengths


def draw(seed, n=30, m=6):
    rng = np.random.default_rng(seed)
    return rng.normal(loc=2, size=(n, m)) * (rng.random((n, m)) < 0.5)


@given(seed=st.integers(0, 10**6))
def test_weighted_moments_equal_those_of_repeated_rows(seed):
    X, times = draw(seed), np.random.default_rng(seed).integers(0, 4, 30)
    times[0] = 1
    repeated = np.repeat(X, times, axis=0)
    for features in (X, sparse.csr_array(X)):
        mean, variance = mean_and_variance(features, times.astype(float))
        assert_allclose(mean, repeated.mean(axis=0), rtol=1e-12, atol=1e-15)
        assert_allclose(variance, repeated.var(axis=0), rtol=1e-12, atol=1e-15)


@given(seed=st.integers(0, 10**6))
def test_inner_products_equal_a_loop_over_the_columns(seed):
    X, Y = draw(seed), draw(seed + 1)
    expected = [x @ y for x, y in zip(X.T, Y.T, strict=True)]
    for left in (X, sparse.csr_array(X)):
        for right in (Y, sparse.csr_array(Y)) if sparse.issparse(left) else (Y,):
            assert_allclose(column_inner_products(left, right), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_constant_columns_are_found_exactly(kind):
    X = draw(1)
    X[:, 1], X[:, 3], X[:, 5] = 0.1, 0, -7
    X[0, 5] = -7 + 1e-14
    assert_array_equal(np.flatnonzero(constant_columns(kind(X))), [1, 3])


def test_large_sparse_matrices_processed_in_batches_equal_dense_ones():
    X = np.random.default_rng(0).random((1200, 1000))
    X[:, 0], X[:, 1], X[:, 2], X[:, 3] = 0.5, 0.5, 0.5, 0
    X[0, 1], X[-1, 2] = 0, 0.25
    rows = sparse.csr_array(X)
    assert np.flatnonzero(constant_columns(rows)).tolist() == [0, 3]
    assert_array_equal(n_holders(rows), np.count_nonzero(X, axis=0))
    assert_allclose(squared_lengths(rows, slice(0, 1200)), np.square(X).sum(axis=0), rtol=1e-12)
    assert_allclose(in_units(rows).toarray(), in_units(X), rtol=1e-12)


COUNTS = np.array([[0, 3, 0], [1, 0, 0], [0, 0, 2]], dtype=float)
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


@FORMS
@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (COUNTS, True),
        (COUNTS > 0, False),  # already binary
        (COUNTS / 2, True),  # counts in another unit
        (COUNTS * 1e-3, True),
        (COUNTS * 1e-3 + np.where(COUNTS == 3, 1e-7, 0), False),
        (COUNTS * np.sqrt(COUNTS), False),
        (COUNTS + 1, False),
        (np.array([[0.0, 2.0], [2.0, 0.0]]), False),  # only half of the values are zero
        (np.zeros((3, 2)), False),
    ],
)
def test_sparse_counts_are_mostly_zero_integers_with_some_above_one(form, features, expected):
    assert are_sparse_counts(form(features.astype(float))) is expected


def test_stored_zeros_count_as_zeros():
    stored = sparse.csr_array((np.array([0.0, 0.0, 0.0, 3.0]), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    assert are_sparse_counts(stored)
    assert_array_equal(presence(stored).toarray(), [[0, 0], [0, 1]])


@FORMS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_presence_is_one_where_a_node_has_a_feature_with_the_same_storage_and_type(form, dtype):
    features = form(COUNTS.astype(dtype))
    found = presence(features)
    assert sparse.issparse(found) == sparse.issparse(features)
    assert found.dtype == dtype
    assert_array_equal(found.toarray() if sparse.issparse(found) else found, COUNTS > 0)
    assert features.max() == 3  # the input is not changed


def test_counts_whose_presence_is_constant_are_not_converted():
    always_or_never = np.zeros((6, 5))
    always_or_never[:, 0] = [1, 2, 3, 1, 2, 3]
    assert not are_sparse_counts(always_or_never)
    with pytest.raises(ValueError, match=r"binarize is True, which leaves every feature constant.*set binarize=False"):
        presence(always_or_never)
