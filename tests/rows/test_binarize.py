"""Counts read as present or absent, and features that are no counts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.rows.statistics import are_sparse_counts, presence

COUNTS = np.array([[0, 3, 0], [1, 0, 0], [0, 0, 2]], dtype=float)
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


@FORMS
@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (COUNTS, True),
        (COUNTS > 0, False),  # present or absent already
        (COUNTS / 2, True),  # counts in another unit
        (COUNTS * 1e-3, True),
        (COUNTS * 1e-3 + np.where(COUNTS == 3, 1e-7, 0), False),
        (COUNTS * np.sqrt(COUNTS), False),
        (COUNTS + 1, False),
        (np.array([[0.0, 2.0], [2.0, 0.0]]), False),  # no more zeros than not
        (np.zeros((3, 2)), False),
    ],
)
def test_counts_are_whole_seldom_and_some_above_one(form, features, expected):
    assert are_sparse_counts(form(features.astype(float))) is expected


def test_zeros_that_are_stored_are_zeros():
    stored = sparse.csr_array((np.array([0.0, 0.0, 0.0, 3.0]), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    assert are_sparse_counts(stored)
    assert_array_equal(presence(stored).toarray(), [[0, 0], [0, 1]])


@FORMS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_presence_is_one_where_a_node_has_a_feature_in_the_same_form_and_type(form, dtype):
    features = form(COUNTS.astype(dtype))
    found = presence(features)
    assert sparse.issparse(found) == sparse.issparse(features)
    assert found.dtype == dtype
    assert_array_equal(found.toarray() if sparse.issparse(found) else found, COUNTS > 0)
    assert features.max() == 3  # the features themselves are not changed


def test_counts_that_presence_would_make_constant_are_left_as_they_are():
    always_or_never = np.zeros((6, 5))
    always_or_never[:, 0] = [1, 2, 3, 1, 2, 3]
    assert not are_sparse_counts(always_or_never)
    with pytest.raises(ValueError, match=r"binarize is True, which leaves every feature constant.*set binarize=False"):
        presence(always_or_never)
