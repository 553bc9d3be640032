"""Features and links in units of their own, so that the scale they came in does not matter."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse


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


def link_unit(adjacency: Sparse) -> float:
    """The weight that counts as one link, Σw² / Σw over the links between two nodes; 1 where there is none.

    Where all weights are alike it is that weight. Where they differ it is that of the heavy ones, so that a few of
    them do not pass for many links.
    """
    links = adjacency.tocoo()
    weights = links.data[(links.row != links.col) & (links.data > 0)].astype(np.float64)
    if not len(weights):
        return 1.0
    shares = weights / weights.max()  # squares neither over- nor underflow
    return float(weights.max() * (shares @ shares) / shares.sum())


def _means(sums: FloatArray, n_holders: IntArray) -> FloatArray:
    """1 where nobody has the feature."""
    means: FloatArray = np.where(n_holders > 0, sums / np.maximum(n_holders, 1), 1.0)
    return means
