"""Compiled sums over rows, in a separate file because importing Numba takes half a second."""

from __future__ import annotations

import numpy as np

from blockselect.utils.arrays import FloatArray, IntArray
from blockselect.utils.compiled import compiled


@compiled
def sparse_block_sums(
    starts: IntArray, features: IntArray, values: FloatArray, blocks: IntArray, n_blocks: int, n_features: int
) -> FloatArray:
    """Sum of each sparse feature in each block: (k, m). A sparse product would take several times as long."""
    sums = np.zeros((n_blocks, n_features))
    for node in range(len(blocks)):
        of_block = sums[blocks[node]]
        for at in range(starts[node], starts[node + 1]):
            of_block[features[at]] += values[at]
    return sums
