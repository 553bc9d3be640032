"""Families of block models: methods that find blocks. Each takes a `Search` and returns one function per random start.

The spectral families cluster the leading eigenvectors of the graph, and "smoothed" clusters features averaged over
neighbours. Three more families, in `factorization`, factorise the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from blockselect.blockmodels.embedding import (
    LARGE,
    cluster_rows,
    degree_normalized,
    in_single_precision,
    leading_eigenvectors,
    row_directions,
    unit_weights,
)
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.progress import StepProgress, no_step_progress
from blockselect.utils.threads import Shared

MAX_ITER = 500
_FEW_FEATURES, _LARGEST_DENSE = 500, 5 * 10**7  # most columns and entries of smoothed features that are formed
_TOLERANCE = 1e-3  # of eigenvectors that are only clustered
_HOPS = 2  # steps of the random walk; after many steps, all nodes would look the same

Smoothing: TypeAlias = tuple[tuple[Sparse, Sparse], sparse.csc_array]  # see `_random_walk`; the weighted features


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A search for blocks of one graph, with one random start per generator."""

    adjacency: Sparse  # (n, n)
    n_blocks: int  # the maximum; there are fewer if the graph has fewer distinct kinds of nodes
    rngs: Sequence[np.random.Generator]
    smoothing: Shared[Smoothing] | None = None  # input of "smoothed", see `share_smoothing`; None without features
    n_jobs: int | None = None  # threads; the result is the same for any number
    max_iter: int = MAX_ITER  # of a factorisation; a start that still improves after it moves few nodes
    progress: StepProgress = no_step_progress  # called by families that take several steps
    eigenvectors: FloatArray | None = None  # (n, s) leading eigenvectors of the normalised graph, if known


Start: TypeAlias = Callable[[], IntArray]  # labels (n,) from one random start; starts may run at the same time
Family: TypeAlias = Callable[[Search], list[Start]]


def spectral_starts(search: Search) -> list[Start]:
    """Spectral clustering of the normalised graph; fewer blocks if it has fewer than k distinct kinds of nodes."""
    known, k = search.eigenvectors, search.n_blocks
    if known is not None and known.shape[1] >= k:
        return _cluster_starts(lambda: row_directions(known[:, :k].astype(np.float64)), search)
    return _cluster_starts(lambda: spectral_embedding(search.adjacency, k), search)


def spectral_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of (D + τI)^-½ A (D + τI)^-½, τ the mean degree, rows scaled to unit length: (n, k).

    Leading means largest in magnitude, because large negative eigenvalues indicate disassortative blocks. Nodes that
    are zero in all of the eigenvectors have rows of zeros.
    """
    return row_directions(leading_eigenvectors(degree_normalized(adjacency), count=n_dimensions)[1])


def adjacency_starts(search: Search) -> list[Start]:
    """Spectral clustering of the graph itself.

    Neither degrees nor rows are normalised, so it separates blocks with different degrees, such as a core and its
    periphery, and hubs may become blocks of their own. The normalised graph and the graph itself show different blocks,
    and both can be real [1]_.

    References
    ----------
    .. [1] C. E. Priebe, Y. Park, J. T. Vogelstein, et al. On a two-truths phenomenon in spectral graph clustering.
       Proceedings of the National Academy of Sciences, 2019.
    """
    return _cluster_starts(lambda: adjacency_embedding(search.adjacency, search.n_blocks), search)


def adjacency_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of the graph, each multiplied by √|λ|: (n, k)."""
    values, vectors = leading_eigenvectors(unit_weights(adjacency), count=n_dimensions)
    return vectors * np.sqrt(np.abs(values))


def _cluster_starts(embed: Callable[[], FloatArray], search: Search) -> list[Start]:
    """K-means clusters of an embedding, which all starts share."""
    embedding = Shared(embed)
    return [partial(_clusters, embedding, search.n_blocks, rng) for rng in search.rngs]


def _clusters(embedding: Shared[FloatArray], n_blocks: int, rng: np.random.Generator) -> IntArray:
    return cluster_rows(embedding(), n_blocks, rng)


def smoothed_starts(search: Search) -> list[Start]:
    """K-means of features averaged over neighbours, which finds nodes whose neighbourhoods have similar features.

    Features are weighted by their rarity, log(1 + n / number of nodes that have the feature), rows are scaled to unit
    length, and the features are averaged twice over each node and its neighbours. The node itself counts as a neighbour
    over a link of mean weight. K-means clusters the first k principal components, with rows scaled to unit length. Each
    start uses a random half of the features, so that the starts differ.
    """
    assert search.smoothing is not None  # `find_block_models` refuses this family without features
    return [partial(_smoothed_blocks, search.smoothing, search.n_blocks, rng) for rng in search.rngs]


def share_smoothing(adjacency: Sparse, features: Features) -> Shared[Smoothing]:
    """The input of all starts of "smoothed", for any number of blocks; computed when the first start needs it."""

    def prepare() -> Smoothing:
        weighted = _by_contents(_weigh_by_rarity(features))
        n, m = weighted.shape
        is_large = n > LARGE and n * m > 2 * _LARGEST_DENSE  # then not even half of the features are formed
        return _random_walk(adjacency, np.float32 if is_large else np.float64), weighted

    return Shared(prepare)


def _smoothed_blocks(smoothing: Shared[Smoothing], n_blocks: int, rng: np.random.Generator) -> IntArray:
    walks, weighted = smoothing()
    m = weighted.shape[1]
    half = np.sort(rng.choice(m, size=(m + 1) // 2, replace=False))
    return cluster_rows(_embed(walks, weighted[:, half], n_blocks), n_blocks, rng)


def _embed(walks: tuple[Sparse, Sparse], features: Sparse, n_dimensions: int) -> FloatArray:
    """Left singular vectors times singular values of S = walk² @ features, with rows scaled to unit length.

    With few features, they are computed from SᵀS. Otherwise they are eigenvectors of SSᵀ, which is applied factor by
    factor because S would be nearly dense.
    """
    walk, back = walks
    features = _unit_rows(features, walk.dtype)  # each step frees the matrix of the previous step
    features = sparse.csr_array(features)
    n, m = features.shape
    if n_dimensions < m <= _FEW_FEATURES and n * m <= _LARGEST_DENSE:
        smoothed = walk @ (walk @ features.toarray())
        _, vectors = eigh(smoothed.T @ smoothed, subset_by_index=(m - n_dimensions, m - 1))
        return row_directions(smoothed @ vectors[:, ::-1])
    factors = [*[walk] * _HOPS, features, features.T, *[back] * _HOPS]
    values, vectors = leading_eigenvectors(*factors, count=n_dimensions, tol=_TOLERANCE)
    return row_directions(vectors * np.sqrt(np.maximum(values, 0)))


def _random_walk(adjacency: Sparse, dtype: Any = np.float64) -> tuple[Sparse, Sparse]:
    """The transition matrix of a step to a neighbour or to the node itself, and its transpose."""
    weights = unit_weights(adjacency)
    stay = sparse.eye_array(weights.shape[0], format="csr") * weights.data.mean()
    steps = sparse.csr_array(weights + stay)  # symmetric
    share = 1 / steps.sum(axis=1)

    def scaled(by: FloatArray) -> Sparse:
        data = (by * steps.data).astype(dtype, copy=False)
        return sparse.csr_array((data, steps.indices, steps.indptr), shape=steps.shape)

    return scaled(np.repeat(share, np.diff(steps.indptr))), scaled(share[steps.indices])


def _weigh_by_rarity(features: Features) -> sparse.csc_array:
    """The non-empty features as CSC, each multiplied by log(1 + n / number of nodes that have it)."""
    rows = sparse.csr_array(features)
    columns = sparse.csc_array(in_single_precision(rows) if rows.shape[0] > LARGE else rows)
    n_nodes_with = np.diff(columns.indptr)
    present = np.flatnonzero(n_nodes_with)
    if len(present) < len(n_nodes_with):
        columns, n_nodes_with = columns[:, present], n_nodes_with[present]
    data = columns.data.astype(np.float64)
    data *= 1 / data.max()  # the unit of the features does not matter
    data *= np.repeat(np.log1p(columns.shape[0] / n_nodes_with), n_nodes_with)
    return sparse.csc_array((data, columns.indices, columns.indptr), columns.shape)


def _by_contents(columns: sparse.csc_array) -> sparse.csc_array:
    """Sort columns by their contents, so that the halves drawn from them do not depend on the order of the features.

    They are sorted by their products with a random vector, which are equal only for equal columns.
    """
    keys = columns.T @ np.random.default_rng(0).standard_normal(columns.shape[0])
    return columns[:, np.argsort(keys, kind="stable")]


def _unit_rows(columns: sparse.csc_array, dtype: Any) -> sparse.csc_array:
    """Scale rows to unit length; rows of zeros stay zero."""
    lengths = np.sqrt(np.bincount(columns.indices, weights=columns.data**2, minlength=columns.shape[0]))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    data = inverse[columns.indices]
    data *= columns.data
    return sparse.csc_array((data.astype(dtype, copy=False), columns.indices, columns.indptr), columns.shape)
