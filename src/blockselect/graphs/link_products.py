"""Products of the columns of a feature matrix along links, compiled for sparse matrices.

They are in a separate file because importing Numba is slow, and most users of `rows.statistics` do not need it.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.rows.sums import sum_over_pairs
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.compiled import compiled

_CELLS = 2**22  # maximum number of entries of a dense product in memory


def products_along_links(features: Features, weights: Sparse) -> FloatArray:
    """xᵀ A x of each feature: (m,). The product A X is much denser than X and is never stored as a whole.

    Parameters
    ----------
    features : array, CSR or RowChunks of shape (n, m)
    weights : CSR of shape (n, n)
        Symmetric, without self-loops.
    """
    if not isinstance(features, np.ndarray):
        return np.asarray(sum_over_pairs(features, _products_of_pairs, weights))
    n_nodes, n_features = features.shape
    step = max(1, _CELLS // n_features)
    sums = np.zeros(n_features)
    for start in range(0, n_nodes, step):
        rows = slice(start, start + step)
        sums += np.einsum("il,il->l", features[rows], weights[rows] @ features)
    return sums


def _products_of_pairs(block: Sparse, rows: slice, other: Sparse, other_rows: slice, weights: Sparse) -> FloatArray:
    """2 Σ A_ij x_il x_jl over nodes i in some rows and nodes j < i in some other rows: (m,)."""
    is_whole = rows == other_rows == slice(0, weights.shape[0])
    part = weights if is_whole else weights[rows, other_rows]  # even a slice of all rows would be a copy
    links = sparse.tril(part, k=rows.start - other_rows.start - 1).tocoo()
    return 2 * products_of_links(links.row, links.col, links.data, block, other)


def products_of_links(first: IntArray, second: IntArray, weights: FloatArray, X: Sparse, other: Sparse) -> FloatArray:
    """Σ w x_il y_jl for each feature l, over links of weight w from row i of X to row j of another matrix: (m,).

    Parameters
    ----------
    first, second : arrays of shape (links,)
        Rows of X and of the other matrix. For speed, links with the same first row should be consecutive.
    weights : array of shape (links,)
    X, other : CSR with m columns
    """
    here, there = ((part.indptr, part.indices, part.data) for part in (X, other))
    sums: FloatArray = _sum_over_links(first, second, weights, *here, *there, X.shape[1])
    return sums


def products_with_groups(features: Sparse, weights: Sparse, groups: IntArray, levels: FloatArray) -> FloatArray:
    """xᵀ A y of each feature: (m,), where y depends only on the group of the node and on the feature.

    Parameters
    ----------
    features : CSR of shape (n, m)
    weights : CSR of shape (n, n)
    groups : array of shape (n,)
        The group of each node.
    levels : array of shape (number of groups, m)
        The values of y.
    """
    parts = (weights.indptr, weights.indices, weights.data, features.indptr, features.indices, features.data)
    sums: FloatArray = _sum_with_levels(*parts, groups, levels)
    return sums


@compiled
def _sum_over_links(
    first: IntArray,
    second: IntArray,
    weights: FloatArray,
    starts: IntArray,
    features: IntArray,
    values: FloatArray,
    other_starts: IntArray,
    other_features: IntArray,
    other_values: FloatArray,
    n_features: int,
) -> FloatArray:
    """See `products_of_links`; the features of the first row are written to a dense array once for all its links."""
    sums, laid_out = np.zeros(n_features), np.zeros(n_features)
    here = -1
    for link in range(len(first)):
        if first[link] != here:
            if here >= 0:
                for at in range(starts[here], starts[here + 1]):
                    laid_out[features[at]] = 0.0
            here = first[link]
            for at in range(starts[here], starts[here + 1]):
                laid_out[features[at]] = values[at]
        for at in range(other_starts[second[link]], other_starts[second[link] + 1]):
            sums[other_features[at]] += weights[link] * other_values[at] * laid_out[other_features[at]]
    return sums


@compiled
def _sum_with_levels(
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
