"""Pairs of nodes are counted along a triangle, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect.datasets.planted_links import triangle_pairs


def test_the_triangle_is_counted_row_by_row():
    rows, columns = triangle_pairs(np.arange(45))
    assert_array_equal(np.stack([rows, columns]), np.tril_indices(10, -1))


@pytest.mark.parametrize("row", [2, 10**5, 10**8, 3 * 10**8 + 1, 10**9])
def test_rows_begin_and_end_where_they_should_however_large(row):
    """From some 10**8 rows on the square root alone is a row off."""
    start = row * (row - 1) // 2
    rows, columns = triangle_pairs(np.array([start - 1, start, start + row - 1, start + row]))
    assert_array_equal(rows, [row - 1, row, row, row + 1])
    assert_array_equal(columns, [row - 2, 0, row - 1, 0])
