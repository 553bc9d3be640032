"""Blocks by orthogonal non-negative matrix tri-factorisation: the paper's block model.

Minimises ‖A − F M Fᵀ‖ with F ≥ 0, FᵀF = I by the multiplicative updates of Ding, Li, Peng and Park (KDD 2006).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse

_TINY = np.finfo(np.float64).tiny


def onmtf_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    n_iter: int = 100,
    n_jobs: int | None = None,
) -> list[IntArray]:
    """Blocks of each random start, one start a generator.

    All starts advance together: one sparse product A @ [F₁ F₂ …] an iteration serves them all, so `n_jobs` has
    nothing to add. A block that no node prefers at the end stays empty and is left out of the numbering.

    Returns
    -------
    list of arrays of shape (n,)
        The largest entry of each row of F names the block; the first of equals.
    """
    F = np.stack([rng.random((adjacency.shape[0], n_blocks)) for rng in rngs])  # (c, n, k)
    M = np.stack([_random_symmetric(n_blocks, rng) for rng in rngs])  # (c, k, k)
    AF = _multiply(adjacency, F)
    for _ in range(n_iter):
        AFM = AF @ M
        F *= np.sqrt(AFM / np.maximum(F @ (F.mT @ AFM), _TINY))
        AF = _multiply(adjacency, F)
        FF = F.mT @ F
        M *= np.sqrt(F.mT @ AF / np.maximum(FF @ M @ FF, _TINY))
    return [np.argmax(membership, axis=1) for membership in F]


def _random_symmetric(n_blocks: int, rng: np.random.Generator) -> FloatArray:
    half = rng.random((n_blocks, n_blocks))
    return (half + half.T) / 2


def _multiply(adjacency: Sparse, F: FloatArray) -> FloatArray:
    """A @ F for every start by one sparse product: (c, n, k) → (c, n, k)."""
    c, n, k = F.shape
    side_by_side = np.ascontiguousarray(F.transpose(1, 0, 2)).reshape(n, c * k)
    product = np.asarray(adjacency @ side_by_side)
    return np.ascontiguousarray(product.reshape(n, c, k).transpose(1, 0, 2))
