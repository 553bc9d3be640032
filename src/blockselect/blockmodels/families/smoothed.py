"""Blocks of graph-smoothed features: nodes whose neighbourhoods carry like features."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import cluster_rows, draw_seed, leading_eigenvectors, unit_rows, unit_weights
from blockselect.blockmodels.families.factorization import chain
from blockselect.blockmodels.families.search import Search

_HOPS = 2  # of the random walk: neighbours of neighbours, before all nodes look alike
_DIGITS = 8  # of the embedding; what follows is rounding of the decomposition


def smoothed_labels(search: Search) -> list[IntArray]:
    """Blocks of each start, each from a random half of the features, so that the starts differ.

    Features are weighted by rarity, log(1 + n / nodes that have it), rows scaled to unit length, and averaged twice
    over each node and its neighbours, where a node counts as much as a neighbour by a link of mean weight. K-means
    clusters the first k principal directions, rows scaled to unit length.
    """
    walk, weighted = _random_walk(search.adjacency), _weigh_by_rarity(search.features)
    jobs = (delayed(_blocks)(walk, weighted, search.n_blocks, rng) for rng in search.rngs)
    return list(Parallel(n_jobs=search.n_jobs)(jobs))


def _blocks(walk: Sparse, weighted: Sparse, n_blocks: int, rng: np.random.Generator) -> IntArray:
    m = weighted.shape[1]
    half = weighted[:, np.sort(rng.choice(m, size=(m + 1) // 2, replace=False))]
    return cluster_rows(_embed(walk, half, n_blocks), n_blocks, draw_seed(rng))


def _embed(walk: Sparse, weighted: Sparse, n_dimensions: int) -> FloatArray:
    """Left singular vectors times singular values of S = walk² @ features, rows scaled to unit length.

    They are eigenvectors of SSᵀ, applied factor by factor: S itself would be nearly dense.
    """
    factors = [walk] * _HOPS + [_unit_sparse_rows(weighted)]
    apply = chain(*factors, *(sparse.csr_array(factor.T) for factor in reversed(factors)))
    gram = LinearOperator((walk.shape[0],) * 2, matvec=apply, matmat=apply, dtype=np.float64)
    values, vectors = leading_eigenvectors(gram, n_dimensions)
    return unit_rows(vectors * np.sqrt(np.maximum(values, 0))).round(_DIGITS)


def _random_walk(adjacency: Sparse) -> Sparse:
    """One step to a neighbour, or to where one is: rows sum to one."""
    weights = unit_weights(adjacency)
    stay = sparse.eye_array(weights.shape[0], format="csr") * weights.data.mean()
    steps = sparse.csr_array(weights + stay)
    return sparse.csr_array(sparse.diags_array(1 / steps.sum(axis=1)) @ steps)


def _weigh_by_rarity(features: Features) -> Sparse:
    """Features that some node has, as CSC, each times log(1 + n / nodes that have it)."""
    columns = sparse.csc_array(features, dtype=np.float64)
    n_nodes_with = np.diff(columns.indptr)
    present = np.flatnonzero(n_nodes_with)
    rarity = np.log1p(columns.shape[0] / n_nodes_with[present])
    unit = columns[:, present] / columns.data.max()  # what follows does not see the unit of the features
    return sparse.csc_array(unit @ sparse.diags_array(rarity))


def _unit_sparse_rows(matrix: Sparse) -> Sparse:
    lengths = np.sqrt(np.asarray((matrix * matrix).sum(axis=1)).ravel())
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.csr_array(sparse.diags_array(inverse) @ matrix)
