"""Blocks by spectral clustering of the graph as it is: K-means of its leading eigenvectors, degrees left in."""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import cluster_starts, leading_eigenvectors, unit_weights
from blockselect.blockmodels.families.search import Search


def adjacency_labels(search: Search) -> list[IntArray]:
    """Blocks of each K-means start; the eigenvectors are computed once.

    Neither degrees nor rows are normalised, so blocks that differ by degree, such as a core and its periphery, are
    separated; hubs may become blocks of their own. The normalised and the plain graph show different blocks, and both
    can be real [1]_.

    References
    ----------
    .. [1] C. E. Priebe, Y. Park, J. T. Vogelstein, et al. On a two-truths phenomenon in spectral graph clustering.
       Proceedings of the National Academy of Sciences, 2019.
    """
    return cluster_starts(adjacency_embedding(search.adjacency, search.n_blocks), search)


def adjacency_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of the graph, largest by magnitude, each times √|λ|. (n, n_dimensions)"""
    values, vectors = leading_eigenvectors(unit_weights(adjacency), n_dimensions)
    return vectors * np.sqrt(np.abs(values))
