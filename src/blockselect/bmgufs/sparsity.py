"""The sparsity of the scores, chosen without labels (paper: γ)."""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray

SPARSITY_GRID = tuple(0.5 * i for i in range(11))  # the paper's values of γ


def strongest_that_leaves(scores: FloatArray, n_wanted: int) -> int:
    """Of the scores (s, m) by rising sparsity, the last with `n_wanted` non-zero entries; the first if none has."""
    enough = np.flatnonzero(np.count_nonzero(scores, axis=1) >= n_wanted)
    return int(enough[-1]) if len(enough) else 0
