"""Details of a page: rows of features."""

from __future__ import annotations

import numpy as np

from blockselect.report import details


def test_means_by_block_are_digits_relative_to_the_highest():
    assert details.block_strips(np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]])) == ["950", "000"]
