"""block_recall: of how many nodes a selection tells the block, given the blocks of a few others.

The blocks stand in for the classes that a user may come with: twenty nodes of each are told, at most half of it, and a
ridge regression of the blocks on these nodes' features, rows of unit length, says where the others belong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from blockselect.arrays import FloatArray, IntArray, Sparse

N_TOLD = 20  # nodes of a block whose block is told
_PENALTY = 1.0  # squared length of a row


def draw_told(labels: IntArray, rng: np.random.Generator) -> IntArray:
    """Nodes of each block, drawn at random, at most half of it (a block of one is told)."""
    shuffled = rng.permutation(len(labels))
    by_block = shuffled[np.argsort(labels[shuffled], kind="stable")]
    sizes = np.bincount(labels)
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    n_told = np.minimum(N_TOLD, np.maximum(sizes // 2, 1))
    told: IntArray = np.sort(by_block[place < np.repeat(n_told, sizes)])
    return told


def recalled(rows: Sparse, labels: IntArray, told: Sequence[IntArray]) -> FloatArray:
    """Share of the other nodes whose block is found, for each draw of told nodes.

    Parameters
    ----------
    rows : CSR of shape (n, d)
        Of unit length, or 0.
    labels : array of shape (n,)
        The block of each node, numbered from 0.
    told : sequence of arrays
        Nodes whose block is told, one array for each draw.

    Returns
    -------
    array of shape (len(told),)
    """
    return np.array([_recalled_once(rows, labels, nodes) for nodes in told])


def _recalled_once(rows: Sparse, labels: IntArray, told: IntArray) -> float:
    others = np.ones(len(labels), dtype=bool)
    others[told] = False
    if not others.any():
        return 0.0
    seen = rows[told].toarray()
    targets = np.eye(int(labels.max()) + 1)[labels[told]]
    targets -= targets.mean(axis=0)
    mean = seen.mean(axis=0)
    slopes = _ridge(seen - mean, targets)
    found = (rows @ slopes - mean @ slopes).argmax(axis=1)
    return float(np.mean(found[others] == labels[others]))


def _ridge(X: FloatArray, targets: FloatArray) -> FloatArray:
    """Slopes of ridge regression (d, k), by whichever of XᵀX and XXᵀ is smaller."""
    n_rows, n_columns = X.shape
    if n_columns <= n_rows:
        return _solve(X.T @ X, X.T @ targets)
    return X.T @ _solve(X @ X.T, targets)


def _solve(gram: FloatArray, right: FloatArray) -> FloatArray:
    gram[np.diag_indices(len(gram))] += _PENALTY
    solution: FloatArray = linalg.solve(gram, right, assume_a="pos", overwrite_a=True, check_finite=False)
    return solution
