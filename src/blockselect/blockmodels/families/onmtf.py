"""Blocks by orthogonal non-negative matrix tri-factorisation: the paper's block model.

Minimises ‖A − F M Fᵀ‖ with F ≥ 0, FᵀF = I by the multiplicative updates of Ding, Li, Peng and Park (KDD 2006).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockselect.arrays import Features, IntArray, Sparse
from blockselect.blockmodels.families.factorization import Factorization, chain


def onmtf_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    features: Features | None = None,
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
    factors = Factorization(chain(adjacency), adjacency.shape[0], n_blocks, rngs)
    factors.advance(n_iter)
    return list(factors.labels())
