"""Blocks by spectral clustering: K-means of the leading eigenvectors of the graph, normalised or as it is."""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import (
    cluster_starts,
    degree_normalized,
    leading_eigenvectors,
    unit_rows,
    unit_weights,
)
from blockselect.blockmodels.families.search import Search


def spectral_labels(search: Search) -> list[IntArray]:
    """Blocks of each K-means start; the eigenvectors are computed once, or not at all where enough are known.

    K-means refills a cluster that loses its last node. Where the graph has fewer than k different kinds of node,
    fewer blocks are returned.
    """
    known = search.eigenvectors
    if known is not None and known.shape[1] >= search.n_blocks:
        return cluster_starts(unit_rows(known[:, : search.n_blocks].astype(np.float64)), search)
    return cluster_starts(spectral_embedding(search.adjacency, search.n_blocks), search)


def spectral_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of (D + τI)^-½ A (D + τI)^-½, τ the mean degree, rows scaled to unit length.

    Leading is by magnitude: a strong negative eigenvalue belongs to blocks that link to other blocks. Rows of nodes
    that the eigenvectors do not reach stay zero. (n, n_dimensions)
    """
    return unit_rows(leading_eigenvectors(degree_normalized(adjacency), count=n_dimensions)[1])


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
    values, vectors = leading_eigenvectors(unit_weights(adjacency), count=n_dimensions)
    return vectors * np.sqrt(np.abs(values))
