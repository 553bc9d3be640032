"""Sums over rows: all that the scores ask of the features, so that rows may come in chunks, or lie on many machines.

Features in memory are one chunk. A part is a function of a chunk: ``part(block, rows, *shared)``, where `rows` is the
slice of all rows that the block holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Array, Features, FloatArray, IntArray, Sparse
from blockselect.graphs.convert import as_dense
from blockselect.graphs.row_chunks import Part, RowChunks

_SLAB_BYTES = 2**26  # of dense rows handled at once
_OVERSAMPLES = 10  # vectors of the range finder beyond the rank
_BY_PAIRS = 16  # multiplications of a dense product in the time of one of a sparse product, or a scattered addition


def sum_over_rows(features: Features, part: Part, *shared: Any) -> Any:
    """The sum of a part over all rows of the features."""
    if isinstance(features, RowChunks):
        return features.sum(part, *shared)
    return part(features, slice(0, features.shape[0]), *shared)


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
    return sparse.csr_array(Y.T @ Y)


def squared_lengths(block: Features, rows: slice) -> FloatArray:
    """Diagonal of YᵀY (m,), in double precision."""
    if not sparse.issparse(block):
        return np.asarray(np.einsum("il,il->l", block, block, dtype=np.float64))
    lengths = np.bincount(block.indices, np.square(block.data, dtype=np.float64), minlength=block.shape[1])
    return lengths.astype(np.float64, copy=False)


def gram_rows(block: Features, rows: slice, chosen: IntArray) -> Array:
    """Some rows of YᵀY."""
    return block[:, chosen].T @ block


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
    for some in _slabs(Y.shape[0], vectors.shape[1], vectors.dtype):
        product += Y[some].T @ (Y[some] @ vectors)
    return product


def principal_factor(features: Features, rank: int, dtype: np.dtype[Any]) -> FloatArray:
    """Z (m, q) with YᵀY ≈ Z Zᵀ, by three passes: a randomised range finder on the side of the features.

    With V an orthonormal basis of (YᵀY)² Ω, the projection of Y on the range of Y V has the Gram matrix
    G V (Vᵀ G V)⁻¹ Vᵀ G: that of a randomised singular value decomposition with two power iterations.
    """
    m = features.shape[1]
    V = np.random.default_rng(0).standard_normal((m, min(rank + _OVERSAMPLES, m))).astype(dtype)
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
