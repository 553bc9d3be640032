"""Groups of nodes as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import IntArray, Sparse


def membership_matrix(labels: IntArray, dtype: Any = np.float64) -> Sparse:
    """Labels 0 … k − 1 as a one-hot matrix (n, k) (paper: F)."""
    n = len(labels)
    return sparse.csr_array((np.ones(n, dtype=dtype), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))
