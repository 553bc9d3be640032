"""The non-negative unit sphere."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.bmgufs.descent import norm, normalise, project


@given(seed=st.integers(0, 10_000))
def test_projecting_twice_or_at_another_scale_changes_nothing(seed):
    vectors = np.random.default_rng(seed).normal(size=(3, 7))
    once = project(vectors)
    assert_allclose(project(once), once, atol=1e-15)
    assert_allclose(project(1e-200 * vectors), once, atol=1e-12)


def test_a_vector_without_anything_positive_becomes_zero():
    assert_array_equal(project(-np.ones((1, 4))), np.zeros((1, 4)))
    assert_array_equal(normalise(np.zeros((2, 3))), np.zeros((2, 3)))


def test_lengths_neither_overflow_nor_underflow():
    assert_allclose(norm(np.array([[3e200, 4e200], [3e-200, 4e-200]])), [[5e200], [5e-200]])
