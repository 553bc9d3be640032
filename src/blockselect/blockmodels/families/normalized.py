"""Blocks by tri-factorisation of the degree-normalised graph: hubs do not make blocks of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockselect.arrays import Features, IntArray, Sparse
from blockselect.blockmodels.families.factorization import chain, settled_labels
from blockselect.blockmodels.scaling import degree_normalized, unit_weights


def normalized_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    features: Features | None = None,
    n_jobs: int | None = None,
) -> list[IntArray]:
    """Blocks of P ≈ F M Fᵀ, P = (D + τI)^-½ A (D + τI)^-½, τ the mean degree; one random start a generator."""
    P = degree_normalized(unit_weights(adjacency)).astype(np.float32)
    return settled_labels(chain(P), P.shape[0], n_blocks, rngs, n_jobs=n_jobs)
