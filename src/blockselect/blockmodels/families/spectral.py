"""Blocks by regularised spectral clustering: K-means of the leading eigenvectors of the normalised graph."""

from __future__ import annotations

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import cluster_starts, degree_normalized, leading_eigenvectors, unit_rows
from blockselect.blockmodels.families.search import Search


def spectral_labels(search: Search) -> list[IntArray]:
    """Blocks of each K-means start; the eigenvectors are computed once.

    K-means refills a cluster that loses its last node. Where the graph has fewer than k different kinds of node,
    fewer blocks are returned.
    """
    return cluster_starts(spectral_embedding(search.adjacency, search.n_blocks), search)


def spectral_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of (D + τI)^-½ A (D + τI)^-½, τ the mean degree, rows scaled to unit length.

    Leading is by magnitude: a strong negative eigenvalue belongs to blocks that link to other blocks. Rows of nodes
    that the eigenvectors do not reach stay zero. (n, n_dimensions)
    """
    return unit_rows(leading_eigenvectors(degree_normalized(adjacency), n_dimensions)[1])
