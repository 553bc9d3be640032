"""Blocks by spectral clustering of the graph as it is: k-means of its leading eigenvectors, degrees left in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.blockmodels.clusters import cluster_starts
from blockselect.blockmodels.eigenvectors import leading_eigenvectors
from blockselect.blockmodels.scaling import unit_weights


def adjacency_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    features: Features | None = None,
    n_jobs: int | None = None,
) -> list[IntArray]:
    """Blocks of each k-means start, one start a generator; the eigenvectors are computed once.

    Neither degrees nor rows are normalised, so that blocks which differ by degree, a core and its periphery, are told
    apart; hubs may become blocks of their own. The two ways see different blocks of one graph, both of them true [1]_.

    References
    ----------
    .. [1] C. E. Priebe, Y. Park, J. T. Vogelstein, et al. On a two-truths phenomenon in spectral graph clustering.
       Proceedings of the National Academy of Sciences, 2019.
    """
    return cluster_starts(adjacency_embedding(adjacency, n_blocks), n_blocks, rngs, n_jobs)


def adjacency_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of the graph, largest by magnitude, each times √|λ|. (n, n_dimensions)"""
    values, vectors = leading_eigenvectors(unit_weights(adjacency), n_dimensions)
    return vectors * np.sqrt(np.abs(values))
