"""Products of the columns of a feature matrix along links, compiled for sparse matrices.

They have a file of their own because numba is slow to import, and most callers of `statistics` do not need it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse

_CELLS = 2**22  # numbers of a dense product held at once


def products_along_links(features: Features, weights: Sparse) -> FloatArray:
    """xᵀ A x of each feature: (m,). A X is much denser than X, so it is never held whole.

    Parameters
    ----------
    features : array, or CSR, of shape (n, m)
    weights : CSR of shape (n, n)
        Symmetric, without self-loops.
    """
    n_nodes, n_features = features.shape
    if sparse.issparse(features):
        parts = (weights.indptr, weights.indices, weights.data, features.indptr, features.indices, features.data)
        sums: FloatArray = _shared(*parts, n_features)
        return sums
    step = max(1, _CELLS // n_features)
    sums = np.zeros(n_features)
    for start in range(0, n_nodes, step):
        rows = slice(start, start + step)
        sums += np.einsum("il,il->l", features[rows], weights[rows] @ features)
    return sums


def products_with_groups(features: Sparse, weights: Sparse, groups: IntArray, levels: FloatArray) -> FloatArray:
    """xᵀ A y of each feature: (m,), where y has one level per group of nodes and feature.

    Parameters
    ----------
    features : CSR of shape (n, m)
    weights : CSR of shape (n, n)
    groups : array of shape (n,)
        The group of each node.
    levels : array of shape (number of groups, m)
    """
    parts = (weights.indptr, weights.indices, weights.data, features.indptr, features.indices, features.data)
    sums: FloatArray = _met(*parts, groups, levels)
    return sums


@njit(cache=True, nogil=True)
def _shared(
    link_starts: IntArray,
    neighbours: IntArray,
    weights: FloatArray,
    starts: IntArray,
    features: IntArray,
    values: FloatArray,
    n_features: int,
) -> FloatArray:
    """Σ_ij A_ij x_il x_jl of each sparse feature l; the features of node i are held densely for its neighbours j."""
    sums, laid_out = np.zeros(n_features), np.zeros(n_features)
    for node in range(len(starts) - 1):
        for at in range(starts[node], starts[node + 1]):
            laid_out[features[at]] = values[at]
        for link in range(link_starts[node], link_starts[node + 1]):
            other, weight = neighbours[link], weights[link]
            if other < node:  # each pair once
                for at in range(starts[other], starts[other + 1]):
                    sums[features[at]] += 2 * weight * values[at] * laid_out[features[at]]
        for at in range(starts[node], starts[node + 1]):
            laid_out[features[at]] = 0.0
    return sums


@njit(cache=True, nogil=True)
def _met(
    link_starts: IntArray,
    neighbours: IntArray,
    weights: FloatArray,
    starts: IntArray,
    features: IntArray,
    values: FloatArray,
    groups: IntArray,
    levels: FloatArray,
) -> FloatArray:
    """Σ_ij A_ij x_il y_{g(j), l} of each sparse feature l."""
    sums = np.zeros(levels.shape[1])
    for node in range(len(starts) - 1):
        if starts[node] == starts[node + 1]:
            continue
        for link in range(link_starts[node], link_starts[node + 1]):
            weight, level = weights[link], levels[groups[neighbours[link]]]
            for at in range(starts[node], starts[node + 1]):
                sums[features[at]] += weight * values[at] * level[features[at]]
    return sums
