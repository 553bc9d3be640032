"""Blocks by regularised spectral clustering: k-means of the leading eigenvectors of the normalised graph."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from blockselect.arrays import FloatArray, IntArray, Sparse

_SMALL = 200  # nodes up to which a dense eigendecomposition is at least as quick, and exact for any k
_RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest are rounding
_SEEDED = "rng" in inspect.signature(eigsh).parameters  # SciPy ≥ 1.17: restarts within eigsh draw fresh vectors


def spectral_labels(
    adjacency: Sparse, n_blocks: int, rngs: Sequence[np.random.Generator], *, n_jobs: int | None = None
) -> list[IntArray]:
    """Blocks of each k-means start, one start a generator; the eigenvectors are computed once.

    K-means refills a cluster that loses its last node; where the graph has fewer than k different kinds of node,
    fewer blocks come back.
    """
    embedding = spectral_embedding(adjacency, n_blocks)
    seeds = [int(rng.integers(2**31)) for rng in rngs]
    return list(Parallel(n_jobs=n_jobs)(delayed(_cluster)(embedding, n_blocks, seed) for seed in seeds))


def spectral_embedding(adjacency: Sparse, n_dimensions: int) -> FloatArray:
    """Leading eigenvectors of (D + τI)^-½ A (D + τI)^-½, τ the mean degree, rows scaled to unit length.

    Leading is by magnitude: a strong negative eigenvalue tells blocks that link to others rather than within.
    Rows of nodes that the eigenvectors do not reach stay zero. (n, n_dimensions)
    """
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    scale = sparse.diags_array(1 / np.sqrt(degrees + degrees.mean()))
    vectors = _leading_eigenvectors(sparse.csr_array(scale @ adjacency @ scale), n_dimensions)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    reached = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max()
    unit: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=reached)
    return unit


def _leading_eigenvectors(matrix: Sparse, count: int) -> FloatArray:
    """Of the eigenvalues largest by magnitude; vectors of those that are zero but for rounding are arbitrary: zero."""
    n = matrix.shape[0]
    if n <= max(_SMALL, count + 1):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        rng = np.random.default_rng(0)  # a start that follows the graph's symmetries would miss what breaks them
        seeded = {"rng": rng} if _SEEDED else {}
        values, vectors = eigsh(matrix, k=count, which="LM", v0=rng.standard_normal(n), **seeded)
    leading = np.argsort(-np.abs(values), kind="stable")[:count]
    real = np.abs(values[leading]) > _RANK_TOLERANCE * np.abs(values[leading[0]])
    return np.where(real, vectors[:, leading], 0.0)


def _cluster(embedding: FloatArray, n_blocks: int, seed: int) -> IntArray:
    distinct = len(np.unique(embedding.round(12), axis=0))
    with threadpool_limits(limits=1):  # sums over threads arrive in any order: one thread, one result
        kmeans = KMeans(min(n_blocks, distinct), n_init=1, random_state=seed).fit(embedding)
    return np.asarray(kmeans.labels_, dtype=np.intp)
