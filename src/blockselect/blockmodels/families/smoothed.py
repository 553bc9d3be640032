"""Blocks of graph-smoothed features: nodes whose neighbourhoods carry like features."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.linalg import eigh

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import (
    LARGE,
    cluster_rows,
    draw_seed,
    leading_eigenvectors,
    one_thread,
    unit_rows,
    unit_weights,
)
from blockselect.blockmodels.families.search import Search

_FEW_FEATURES, _LARGEST_DENSE = 500, 5 * 10**7  # columns, and cells, up to which S is formed
_TOLERANCE = 1e-3  # of eigenvectors that are only clustered
_HOPS = 2  # of the random walk: neighbours of neighbours, before all nodes look alike


def smoothed_labels(search: Search) -> list[IntArray]:
    """Blocks of each start, each from a random half of the features, so that the starts differ.

    Features are weighted by rarity, log(1 + n / nodes that have it), rows scaled to unit length, and averaged twice
    over each node and its neighbours, where a node counts as much as a neighbour by a link of mean weight. K-means
    clusters the first k principal directions, rows scaled to unit length.
    """
    walks, weighted = _random_walk(search.adjacency), _by_contents(_weigh_by_rarity(search.features))
    jobs = (delayed(_blocks)(walks, weighted, search.n_blocks, rng) for rng in search.rngs)
    return list(Parallel(n_jobs=search.n_jobs)(jobs))


def _blocks(
    walks: tuple[Sparse, Sparse], weighted: sparse.csc_array, n_blocks: int, rng: np.random.Generator
) -> IntArray:
    m = weighted.shape[1]
    half = weighted[:, np.sort(rng.choice(m, size=(m + 1) // 2, replace=False))]
    with one_thread():  # in a process of its own too
        embedding = _embed(walks, half, n_blocks)
    return cluster_rows(embedding, n_blocks, draw_seed(rng))


def _embed(walks: tuple[Sparse, Sparse], weighted: sparse.csc_array, n_dimensions: int) -> FloatArray:
    """Left singular vectors times singular values of S = walk² @ features, rows scaled to unit length.

    With few features they come from SᵀS. Otherwise they are eigenvectors of SSᵀ, applied factor by factor, because S
    itself would be nearly dense.
    """
    walk, back = walks
    features = sparse.csr_array(_unit_sparse_rows(weighted))
    n, m = features.shape
    if n_dimensions < m <= _FEW_FEATURES and n * m <= _LARGEST_DENSE:
        smoothed = walk @ (walk @ features.toarray())
        _, vectors = eigh(smoothed.T @ smoothed, subset_by_index=(m - n_dimensions, m - 1))
        return unit_rows(smoothed @ vectors[:, ::-1])
    factors = [*[walk] * _HOPS, features, features.T, *[back] * _HOPS]
    values, vectors = leading_eigenvectors(*factors, count=n_dimensions, tol=_TOLERANCE)
    return unit_rows(vectors * np.sqrt(np.maximum(values, 0)))


def _random_walk(adjacency: Sparse) -> tuple[Sparse, Sparse]:
    """One step to a neighbour, or to where one is: rows sum to one; and its transpose."""
    weights = unit_weights(adjacency)
    stay = sparse.eye_array(weights.shape[0], format="csr") * weights.data.mean()
    steps = sparse.csr_array(weights + stay)  # symmetric
    share = 1 / steps.sum(axis=1)
    by_row, by_column = np.repeat(share, np.diff(steps.indptr)), share[steps.indices]
    walk, back = (
        sparse.csr_array((scale * steps.data, steps.indices, steps.indptr), shape=steps.shape)
        for scale in (by_row, by_column)
    )
    return walk, back


def _weigh_by_rarity(features: Features) -> sparse.csc_array:
    """Features that some node has, as CSC, each times log(1 + n / nodes that have it)."""
    columns = sparse.csc_array(features, dtype=np.float64 if features.shape[0] <= LARGE else np.float32)
    n_nodes_with = np.diff(columns.indptr)
    present = np.flatnonzero(n_nodes_with)
    rarity = np.log1p(columns.shape[0] / n_nodes_with[present])
    unit = columns[:, present] / columns.data.max()  # what follows does not see the unit of the features
    unit.data *= np.repeat(rarity, n_nodes_with[present])
    return unit


def _by_contents(columns: sparse.csc_array) -> sparse.csc_array:
    """Columns in an order that depends on what they hold, not on where they stand: so do the halves drawn from them.

    It is that of their products with a random vector, which are equal for equal columns alone.
    """
    keys = columns.T @ np.random.default_rng(0).standard_normal(columns.shape[0])
    return columns[:, np.argsort(keys, kind="stable")]


def _unit_sparse_rows(columns: sparse.csc_array) -> sparse.csc_array:
    lengths = np.sqrt(np.bincount(columns.indices, weights=columns.data**2, minlength=columns.shape[0]))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    data = inverse.astype(columns.dtype)[columns.indices] * columns.data
    return sparse.csc_array((data, columns.indices, columns.indptr), columns.shape)
