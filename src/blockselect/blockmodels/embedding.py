"""Embeddings of a graph and clusters of them: scaled graphs, leading eigenvectors, K-means; the same every time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans, MiniBatchKMeans
from threadpoolctl import ThreadpoolController

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.families.search import Search
from blockselect.eigenvectors import extreme_eigenvectors

LARGE = 50_000  # nodes from which eigenvectors are as exact as blocks need, and K-means takes some nodes at a time
_LARGE_TOLERANCE = 1e-3  # of these eigenvectors, which are computed in single precision
_BATCH = 10_000  # of these nodes
_SMALL = 200  # nodes up to which a dense eigendecomposition is at least as quick, and exact for any k
_DIGITS = 8  # of an embedding; what follows is rounding of the decomposition
_RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest are rounding


def leading_eigenvectors(*factors: Sparse, count: int, tol: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues largest by magnitude (at most count,) and their vectors (n, at most count), the largest first.

    They are those of the product of the factors, a symmetric matrix that is never formed. `tol` is the relative error
    allowed to eigenvalues of matrices that are not small, 0: rounding. With more than 50,000 rows it is at least 1e-3,
    in single precision, because eigenvalues that lie close together would otherwise take thousands of products. If they
    lie so close that even these do not suffice, vectors may be mixtures of those of eigenvalues that hardly differ.
    Vectors of eigenvalues that are zero but for rounding are arbitrary: they come as zero.
    """
    n = factors[0].shape[0]
    rng = np.random.default_rng(0)  # a start that follows the graph's symmetries would miss what breaks them
    if n > LARGE:
        tol, factors = max(tol, _LARGE_TOLERANCE), tuple(factor.astype(np.float32, copy=False) for factor in factors)
    if n <= max(_SMALL, count + 1):
        values, vectors = np.linalg.eigh(chain(*factors)(np.eye(n)))
    else:
        apply = chain(*factors)
        product = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=factors[0].dtype)
        matrix = product if factors[1:] else factors[0]
        values, vectors = extreme_eigenvectors(matrix, count, which="magnitude", rng=rng, tol=tol)
    leading = np.argsort(-np.abs(values), kind="stable")[:count]
    real = np.abs(values[leading]) > _RANK_TOLERANCE * np.abs(values[leading[0]])
    return np.where(real, values[leading], 0.0), np.where(real, vectors[:, leading], 0.0)


def chain(*factors: Sparse) -> Callable[[FloatArray], FloatArray]:
    """The product of these matrices as an operator, never formed: the last is applied first."""

    def apply(columns: FloatArray) -> FloatArray:
        for factor in reversed(factors):
            columns = factor @ columns
        return columns

    return apply


def unit_weights(adjacency: Sparse) -> Sparse:
    """The graph with a largest weight of 1: what follows does not see the unit that weights were given in."""
    return adjacency / adjacency.data.max()


def degree_normalized(adjacency: Sparse) -> Sparse:
    """(D + τI)^-½ A (D + τI)^-½, τ the mean degree: hubs count less, and nodes of few links not too much."""
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    scale = 1 / np.sqrt(degrees + degrees.mean())
    rows, columns = np.repeat(scale, np.diff(adjacency.indptr)), scale[adjacency.indices]
    return sparse.csr_array((rows * adjacency.data * columns, adjacency.indices, adjacency.indptr), adjacency.shape)


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Rows scaled to unit length; those that are zero but for rounding become zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    reached = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max()
    unit: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=reached)
    return unit


def cluster_starts(embedding: FloatArray, search: Search) -> list[IntArray]:
    """Clusters of each start of a search."""
    seeds = [draw_seed(rng) for rng in search.rngs]
    jobs = (delayed(cluster_rows)(embedding, search.n_blocks, seed) for seed in seeds)
    return list(Parallel(n_jobs=search.n_jobs)(jobs))


def cluster_rows(embedding: FloatArray, n_clusters: int, seed: int) -> IntArray:
    """At most this many clusters: K-means refills a cluster that loses its last row, but cannot split equal rows."""
    embedding = embedding.round(_DIGITS)
    settings = {"n_clusters": min(n_clusters, _n_distinct(embedding, n_clusters)), "n_init": 1, "random_state": seed}
    with one_thread():  # sums over threads arrive in any order: one thread, one result
        if len(embedding) <= LARGE:
            kmeans = KMeans(**settings).fit(embedding)
        else:
            kmeans = MiniBatchKMeans(**settings, batch_size=_BATCH).fit(embedding)
    return np.asarray(kmeans.labels_, dtype=np.intp)


def _n_distinct(embedding: FloatArray, wanted: int) -> int:
    """Rows that differ; of a large embedding those of evenly spread nodes, if they are enough."""
    spread = embedding[:: 1 + len(embedding) // LARGE]
    distinct = len(np.unique(spread, axis=0))
    if distinct >= wanted or len(spread) == len(embedding):
        return distinct
    return len(np.unique(embedding, axis=0))


def one_thread() -> Any:
    """A context in which BLAS and OpenMP use one thread. To look for these libraries takes as long as to cluster."""
    return _thread_pools().limit(limits=1)


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for libraries that take no generator."""
    return int(rng.integers(2**31))
