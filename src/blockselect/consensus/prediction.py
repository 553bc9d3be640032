"""Prediction of the blocks of new nodes from the selected features, by ridge regression.

Let V be the selected features, with rows scaled to unit length and columns centred, and let H be the one-hot block
membership of the best block model, with column means removed. The coefficients W minimise ‖H − V W‖² + λ‖W‖². This is
the regression used to select features (see `target`, with the same λ), with two changes: it leaves out the neighbours,
because a new node may have none, and it scales rows to unit length over the selected features only, so no other
features are needed.
"""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import normalize

from blockselect.rows.matrices import as_dense
from blockselect.rows.sums import block_sums, sum_over_rows
from blockselect.utils.arrays import Features, FloatArray, IntArray


def regress_blocks(
    features: Features, selected: IntArray, used: IntArray, labels: IntArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Regress the blocks (n,) on some columns of the features; return coefficients (k, d) and intercepts (k,).

    `selected` (d,) contains the columns over which rows are scaled to unit length, in increasing order. Columns that
    are not in `used` have coefficients of 0.
    """
    n, n_blocks = len(labels), int(labels.max()) + 1
    shares = np.bincount(labels) / n
    coefficients = np.zeros((n_blocks, len(selected)))
    if not len(selected):
        return coefficients, shares
    places = np.searchsorted(selected, used)
    sums = sum_over_rows(features, _products, selected, places, labels, n_blocks)
    gram, by_block, means = np.split(sums, [len(used), len(used) + n_blocks], axis=1)
    means = means / n
    gram = gram - n * means @ means.T + ridge * np.eye(len(used))
    products = by_block - n * means * shares
    try:
        coefficients[:, places] = np.linalg.solve(gram, products).T
    except np.linalg.LinAlgError:  # rounding errors exceed λ, as in `BlockRegression.added`
        coefficients[:, places] = np.linalg.lstsq(gram, products)[0].T
    return coefficients, shares - coefficients[:, places] @ means[:, 0]


def _products(
    block: Features, rows: slice, selected: IntArray, places: IntArray, labels: IntArray, n_blocks: int
) -> FloatArray:
    """Products of the u columns in use with one another, with the blocks and with 1: (u, u + k + 1)."""
    if not block.shape[0]:
        return np.zeros((len(places), len(places) + n_blocks + 1))
    V = normalize(block[:, selected])[:, places]
    by_block = block_sums(V, rows, labels[None], n_blocks, np.float64)[0].T
    return np.hstack([as_dense(V.T @ V), by_block, np.asarray(V.sum(axis=0)).reshape(-1, 1)])
