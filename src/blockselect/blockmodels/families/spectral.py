"""Blocks by regularised spectral clustering: k-means of the leading eigenvectors of the normalised graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.blockmodels.clusters import cluster_starts
from blockselect.blockmodels.eigenvectors import leading_eigenvectors
from blockselect.blockmodels.scaling import degree_normalized, unit_rows


def spectral_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    features: Features | None = None,
    n_jobs: int | None = None,
) -> list[IntArray]:
    """Blocks of each k-means start, one start a generator; the eigenvectors are computed once.

    K-means refills a cluster that loses its last node; where the graph has fewer than k different kinds of node,
    fewer blocks come back.
    """
    return cluster_starts(spectral_embedding(adjacency, n_blocks), n_blocks, rngs, n_jobs)


def spectral_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of (D + τI)^-½ A (D + τI)^-½, τ the mean degree, rows scaled to unit length.

    Leading is by magnitude: a strong negative eigenvalue tells blocks that link to others rather than within.
    Rows of nodes that the eigenvectors do not reach stay zero. (n, n_dimensions)
    """
    return unit_rows(leading_eigenvectors(degree_normalized(adjacency), n_dimensions)[1])
