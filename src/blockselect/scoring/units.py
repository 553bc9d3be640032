"""in_units: features in units of their own, so that neither their scale nor that of each other matters."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray


def in_units(features: Features) -> Features:
    """Each non-negative feature divided by the mean of its non-zero values, in double precision, dense or CSR as given.

    Zeros and ones stay as they are, and a feature's sum is the number of nodes that have it.
    """
    if not sparse.issparse(features):
        values: FloatArray = np.asarray(features, dtype=np.float64)
        return values / _means(values.sum(axis=0), np.count_nonzero(values, axis=0))
    scaled = sparse.csr_array(features, dtype=np.float64, copy=True)
    scaled.eliminate_zeros()
    n_holders = np.bincount(scaled.indices, minlength=scaled.shape[1])
    scaled.data /= _means(scaled.sum(axis=0), n_holders)[scaled.indices]
    return scaled


def _means(sums: FloatArray, n_holders: IntArray) -> FloatArray:
    """1 where nobody has the feature."""
    means: FloatArray = np.where(n_holders > 0, sums / np.maximum(n_holders, 1), 1.0)
    return means
