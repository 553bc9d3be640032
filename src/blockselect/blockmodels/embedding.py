"""Spectral embeddings of a graph and their K-means clusters, all deterministic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans, MiniBatchKMeans

from blockselect.utils.arrays import FloatArray, IntArray, Sparse
from blockselect.utils.eigenvectors import extreme_eigenvectors

LARGE = 20_000  # nodes; in larger graphs eigenvectors are less precise and K-means uses mini-batches
_LARGE_TOLERANCE = 1e-3  # for the eigenvectors of large graphs, in single precision
_BATCH = 10_000  # nodes per mini-batch
_SMALL = 200  # nodes; for smaller graphs a dense eigendecomposition is at least as fast, and exact for any k
_DIGITS = 8  # decimals to which an embedding is rounded
_RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest are rounding errors


def leading_eigenvectors(*factors: Sparse, count: int, tol: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """At most `count` eigenvalues of largest magnitude and their eigenvectors (n, count), the largest first.

    The matrix is the product of the factors, which is symmetric and never formed. `tol` is the relative error of the
    eigenvalues; 0 means machine precision. With more than 20,000 rows it is at least 1e-3, in single precision, because
    eigenvalues that are close together would otherwise take thousands of products; their eigenvectors may be mixed.
    If an eigenvalue is zero up to rounding, its eigenvectors are arbitrary, and zeros are returned.
    """
    n = factors[0].shape[0]
    rng = np.random.default_rng(0)  # for the start vector; a symmetric one would miss asymmetric eigenvectors
    if n > LARGE:
        tol, factors = max(tol, _LARGE_TOLERANCE), tuple(map(in_single_precision, factors))
    if n <= max(_SMALL, count + 1):
        values, vectors = np.linalg.eigh(product_of(*factors)(np.eye(n)))
    else:
        apply = product_of(*factors)
        product = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=factors[0].dtype)
        matrix = product if factors[1:] else factors[0]
        values, vectors = extreme_eigenvectors(matrix, count, which="magnitude", rng=rng, tol=tol)
    leading = np.argsort(-np.abs(values), kind="stable")[:count]
    real = np.abs(values[leading]) > _RANK_TOLERANCE * np.abs(values[leading[0]])
    return np.where(real, values[leading], 0.0), np.where(real, vectors[:, leading], 0.0)


def product_of(*factors: Sparse) -> Callable[[FloatArray], FloatArray]:
    """The product of these matrices as a function, which applies the last matrix first and never forms the product."""

    def apply(columns: FloatArray) -> FloatArray:
        for factor in reversed(factors):
            columns = factor @ columns
        return columns

    return apply


def in_single_precision(matrix: Sparse) -> Sparse:
    """A CSR or CSC matrix in single precision with the same indices, which `astype` would copy."""
    return type(matrix)((matrix.data.astype(np.float32, copy=False), matrix.indices, matrix.indptr), matrix.shape)


def unit_weights(adjacency: Sparse) -> Sparse:
    """The graph scaled to a largest weight of 1, so that the unit of the weights does not matter."""
    data = adjacency.data * (1 / adjacency.data.max())
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)


def degree_normalized(adjacency: Sparse) -> Sparse:
    """(D + τI)^-½ A (D + τI)^-½, τ the mean degree: hubs count less, without inflating nodes with few links."""
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    scale = 1 / np.sqrt(degrees + degrees.mean())
    data = np.repeat(scale, np.diff(adjacency.indptr))
    data *= adjacency.data
    data *= scale[adjacency.indices]
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)


def row_directions(vectors: FloatArray) -> FloatArray:
    """Scale rows to unit length; rows that are zero up to rounding become zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    reached = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max()
    unit: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=reached)
    return unit


def cluster_rows(embedding: FloatArray, n_clusters: int, rng: np.random.Generator, *, large: int = LARGE) -> IntArray:
    """K-means clusters of the rows (n,); fewer than `n_clusters` if there are fewer distinct rows.

    Rows are rounded, because their last digits are rounding errors of the decomposition. More rows than `large` are
    clustered in mini-batches. Call this within `one_thread`.
    """
    rows = embedding.round(_DIGITS)
    n_distinct = len(np.unique(rows[:: 1 + len(rows) // large], axis=0))  # of a large embedding, among some rows first
    if n_distinct < n_clusters:
        n_distinct = len(np.unique(rows, axis=0))
    settings = {"n_clusters": min(n_clusters, n_distinct), "n_init": 1, "random_state": int(rng.integers(2**31))}
    kmeans = KMeans(**settings) if len(rows) <= large else MiniBatchKMeans(**settings, batch_size=_BATCH)
    return np.asarray(kmeans.fit(rows).labels_, dtype=np.intp)
