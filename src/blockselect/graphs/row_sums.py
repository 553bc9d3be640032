"""Sums over rows: all that the scores ask of the features, so that rows may come in chunks, or lie on many machines.

Features in memory are one chunk. A part is a function of a chunk: ``part(block, rows, *shared)``, where `rows` is the
slice of all rows that the block holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

from blockselect.arrays import Array, Features, FloatArray, IntArray, Sparse
from blockselect.errors import ParameterError
from blockselect.graphs.chunks import RowChunks
from blockselect.graphs.features import as_dense
from blockselect.graphs.over_rows import sum_over_rows

_SLAB_BYTES = 2**26  # of dense rows handled at once
TILE = 64  # rows and columns of the dense matrix in work at once
IN_SPARSE_SUM = 5  # matrices of its size that a sparse sum over row chunks holds at once
OVERSAMPLES = 10  # vectors of the range finder beyond the rank
_BY_PAIRS = 16  # multiplications of a dense product in the time of one of a sparse product, or a scattered addition


def block_sums(block: Features, rows: slice, labels: IntArray, n_blocks: int, dtype: Any) -> FloatArray:
    """Sum of the feature rows of each block, (c, k, m), for labels (c, n) of c block models (paper: FᵀY)."""
    Y, n = block.astype(dtype, copy=False), rows.stop - rows.start
    sums = np.zeros((len(labels), n_blocks, Y.shape[1]), dtype=dtype)
    for i, label in enumerate(labels[:, rows]):
        F = sparse.csr_array((np.ones(n, dtype=dtype), label, np.arange(n + 1)), shape=(n, n_blocks))
        sums[i] = as_dense(F.T @ Y)
    return sums


def dense_gram(block: Features, rows: slice, dtype: np.dtype[Any]) -> FloatArray:
    """YᵀY (m, m)."""
    Y = block.astype(dtype, copy=False)
    n, m = Y.shape
    gram = np.zeros((m, m), dtype=dtype)
    if quicker_by_pairs(Y):
        by_feature = Y.T.tocsr()
        for some in _slabs(m, m, dtype):
            gram[some] = as_dense(by_feature[some] @ Y)
        return gram
    for some in _slabs(n, m, dtype):
        slab = as_dense(Y[some])
        gram += slab.T @ slab
    return gram


def quicker_by_pairs(block: Features) -> bool:
    """Whether products of the pairs of non-zeros of each row take less time than a dense product."""
    if not sparse.issparse(block):
        return False
    n_pairs = float(np.square(np.diff(block.indptr), dtype=np.float64).sum())
    return bool(n_pairs * _BY_PAIRS < block.shape[0] * float(block.shape[1]) ** 2)


def sparse_gram(block: Features, rows: slice, dtype: np.dtype[Any]) -> Sparse:
    """YᵀY (m, m), without its zeros."""
    Y = sparse.csr_array(block.astype(dtype, copy=False))
    return sparse.csr_array(Y.T) @ Y


@dataclass(frozen=True, slots=True, eq=False)
class BoundedSum:
    """A sparse matrix that refuses to grow beyond a limit when others are added."""

    values: Sparse
    limit: float  # bytes, of this matrix and of what adding to it takes

    def __add__(self, other: BoundedSum) -> BoundedSum:
        return _bounded(self.values + other.values, self.limit)


def bounded_sparse_gram(block: Features, rows: slice, dtype: np.dtype[Any], limit: float) -> BoundedSum:
    return _bounded(sparse_gram(block, rows, dtype), limit)


def _bounded(values: Sparse, limit: float) -> BoundedSum:
    check_limit(IN_SPARSE_SUM * (values.data.nbytes + values.indices.nbytes + values.indptr.nbytes), limit)
    return BoundedSum(values, limit)


def check_limit(needed: float, limit: float) -> None:
    if needed > limit:
        raise ParameterError(
            "memory_limit",
            f"is {limit:.3g} bytes but more features occur together than a sample of them showed, and the squared Gram "
            f"matrix takes at least {needed:.3g}; raise it, or lower it so far that a low rank is used.",
        )


def squared_lengths(block: Features, rows: slice) -> FloatArray:
    """Diagonal of YᵀY (m,), in double precision."""
    if not sparse.issparse(block):
        return np.asarray(np.einsum("il,il->l", block, block, dtype=np.float64))
    lengths = np.bincount(block.indices, np.square(block.data, dtype=np.float64), minlength=block.shape[1])
    return lengths.astype(np.float64, copy=False)


def gram_rows(block: Features, rows: slice, chosen: IntArray) -> Array:
    """Some rows of YᵀY."""
    return block[:, chosen].T @ block


def pair_counts(block: Sparse, rows: slice) -> FloatArray:
    """Pairs of non-zeros of one node, counted at the feature of the first, (m,): no fewer than features it meets."""
    lengths = np.diff(block.indptr)
    counts = np.bincount(block.indices, np.repeat(lengths, lengths), minlength=block.shape[1])
    return counts.astype(np.float64, copy=False)


def meeting_counts(block: Sparse, rows: slice, chosen: IntArray) -> Sparse:
    """How many nodes have both features: some rows of it, sparse."""
    (n, m), ones = block.shape, np.ones(block.nnz, dtype=np.float32)
    pattern = sparse.csr_array((ones, block.indices, block.indptr), shape=block.shape)
    if block.nnz * _BY_PAIRS < n * m:
        return sparse.csr_array(pattern[:, chosen].T @ pattern)
    counts = np.zeros((len(chosen), m), dtype=np.float32)
    for some in _slabs(n, m, np.float32):
        slab = pattern[some].toarray()
        counts += slab[:, chosen].T @ slab
    return sparse.csr_array(counts)


def gram_times(block: Features, rows: slice, vectors: FloatArray) -> FloatArray:
    """YᵀY V (m, p)."""
    Y = block.astype(vectors.dtype, copy=False)
    product = np.zeros_like(vectors)
    n = Y.shape[0]
    held = getattr(Y, "nnz", 0) // max(n, 1) * 2  # numbers and places of a row, which a slice copies
    for some in _slabs(n, max(vectors.shape[1], held), vectors.dtype):
        slab = Y[some]
        product += slab.T @ (slab @ vectors)
    return product


def copy_bytes(features: Features, dtype: np.dtype[Any]) -> float:
    """What a copy of the features in another float type takes; 0 where they are of this type, or come in chunks."""
    if isinstance(features, RowChunks) or features.dtype == dtype:
        return 0.0
    if sparse.issparse(features):
        return float(features.nnz * (dtype.itemsize + features.indices.itemsize) + features.indptr.nbytes)
    return float(features.size * dtype.itemsize)


def gram_times_bytes(features: Features, n_vectors: int, dtype: np.dtype[Any]) -> float:
    """What `gram_times` takes at most, beside the vectors and as many of its results."""
    n = features.shape[0]
    held = getattr(features, "nnz", 0) * (dtype.itemsize + 8.0)
    return float(min(3 * _SLAB_BYTES, held + n * n_vectors * dtype.itemsize))


def principal_factor(features: Features, rank: int, dtype: np.dtype[Any]) -> FloatArray:
    """Z (m, q) with YᵀY ≈ Z Zᵀ, by three passes: a randomised range finder on the side of the features.

    With V an orthonormal basis of (YᵀY)² Ω, the projection of Y on the range of Y V has the Gram matrix
    G V (Vᵀ G V)⁻¹ Vᵀ G: that of a randomised singular value decomposition with two power iterations.
    """
    m = features.shape[1]
    V = np.random.default_rng(0).standard_normal((m, min(rank + OVERSAMPLES, m))).astype(dtype)
    for _ in range(2):
        V = np.linalg.qr(sum_over_rows(features, gram_times, V))[0]
    product = sum_over_rows(features, gram_times, V)  # G V
    values, axes = np.linalg.eigh(V.T @ product)
    kept = values > values[-1] * len(values) * np.finfo(dtype).eps
    half = product @ (axes[:, kept] / np.sqrt(values[kept]))
    _, principal = np.linalg.eigh(half.T @ half)
    return np.ascontiguousarray(half @ principal[:, ::-1][:, :rank])


def _slabs(n: int, width: int, dtype: Any) -> list[slice]:
    """Rows 0 … n − 1 in slices that are small when dense."""
    step = max(1, _SLAB_BYTES // (max(width, 1) * np.dtype(dtype).itemsize))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


# Compiled loops over pairs of non-zeros of a row, for features in memory: rows `first` up to `last` of the squared Gram
# matrix are made where they will stand. They take Y by column (starts, nodes, values) and by row (node_starts,
# features, node_values), the features of a row in order.


@njit(cache=True, nogil=True)
def square_by_pairs(
    first: int,
    last: int,
    squared: FloatArray,
    starts: IntArray,
    nodes: IntArray,
    values: FloatArray,
    node_starts: IntArray,
    features: IntArray,
    node_values: FloatArray,
) -> None:
    """Rows of the upper triangle of (YᵀY)∘² into zeros (m, m). A row is made at a time, so that it stays in cache."""
    m = len(starts) - 1
    for left in range(first, last):
        row = squared[left]
        for at in range(starts[left], starts[left + 1]):
            node, x = nodes[at], values[at]
            stop = node_starts[node + 1]
            begin = node_starts[node] + np.searchsorted(features[node_starts[node] : stop], left)
            for other in range(begin, stop):
                row[features[other]] += x * node_values[other]
        for right in range(left, m):
            row[right] *= row[right]


@njit(cache=True, nogil=True)
def mirror(first: int, last: int, squared: FloatArray) -> None:
    """Rows of the lower triangle from the upper one, in tiles that stay in cache."""
    for start in range(0, last, TILE):
        for row in range(first, last):
            for column in range(start, min(start + TILE, row)):
                squared[row, column] = squared[column, row]
