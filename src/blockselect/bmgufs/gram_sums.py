"""How (YᵀY)∘² is computed: from features in memory, or as a sum over row chunks (see `rows.sums`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.linalg.blas import get_blas_funcs

from blockselect.rows.matrices import as_dense
from blockselect.rows.sums import in_memory, sum_over_rows
from blockselect.utils.arrays import Array, Features, FloatArray, IntArray, Sparse
from blockselect.utils.compiled import compiled
from blockselect.utils.errors import ParameterError

SLAB_BYTES = 2**26  # maximum size of the dense rows that are processed at once
_TILE = 64  # rows and columns of the dense matrix that are computed at once
IN_SPARSE_SUM = 5  # matrices as large as the result that a sparse sum over row chunks needs at once
_BY_PAIRS = 16  # multiplications of a dense product that take as long as one of a sparse product


def dense_square(features: Features, dtype: np.dtype[Any], n_jobs: int | None = None) -> FloatArray:
    """The dense form (m, m), from the pairs of non-zeros of each node or, if there are many, from a dense product."""
    if not in_memory(features):
        gram: FloatArray = sum_over_rows(features, dense_gram, dtype)
        return np.square(gram, out=gram)
    Y = features.astype(dtype, copy=False)
    n, m = Y.shape
    squared = np.zeros((m, m), dtype=dtype)
    if quicker_by_pairs(Y):
        Y = Y if Y.has_sorted_indices else Y.sorted_indices()
        columns = sparse.csc_array(Y)
        parts = columns.indptr, columns.indices, columns.data, Y.indptr, Y.indices, Y.data
        _in_parts(square_by_pairs, m, n_jobs, squared, *parts)
    else:
        add_product = get_blas_funcs("syrk", dtype=dtype)  # updates the upper triangle in place
        for some in _slabs(n, m, dtype):
            rows = np.ascontiguousarray(as_dense(Y[some]))
            add_product(1.0, rows.T, beta=1.0, c=squared.T, lower=1, overwrite_c=1)
        np.square(squared, out=squared)
    _in_parts(mirror, m, n_jobs, squared)
    return squared


def sparse_square(features: Features, dtype: np.dtype[Any], *, limit: float = np.inf) -> Sparse:
    """The sparse form (m, m), as CSR with sorted indices.

    The size of a sum over row chunks is not known in advance, so an error is raised once it exceeds the limit.
    """
    bound = np.inf if in_memory(features) else limit
    squared: Sparse = sum_over_rows(features, sparse_gram, dtype, bound).values
    squared.sort_indices()
    np.square(squared.data, out=squared.data)
    return squared


def _in_parts(kernel: Any, m: int, n_jobs: int | None, *arguments: Any) -> None:
    """Call a compiled function on slices of rows of the matrix, in threads that share the arrays."""
    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(kernel)(start, min(start + _TILE, m), *arguments) for start in range(0, m, _TILE)
    )


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
    """Whether multiplying the pairs of non-zeros of each row takes less time than a dense product."""
    if not sparse.issparse(block):
        return False
    n_pairs = float(np.square(np.diff(block.indptr), dtype=np.float64).sum())
    return bool(n_pairs * _BY_PAIRS < block.shape[0] * float(block.shape[1]) ** 2)


@dataclass(frozen=True, slots=True, eq=False)
class BoundedGram:
    """YᵀY (m, m) of some rows as a sparse matrix; an error is raised if it takes more memory than the limit."""

    values: Sparse
    limit: float  # bytes, including the memory for an addition

    def __post_init__(self) -> None:
        values = self.values
        needed = IN_SPARSE_SUM * (values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)
        if needed > self.limit:
            raise ParameterError(
                "memory_limit",
                f"is {self.limit:.3g} bytes but more features occur together than a sample suggested, and the squared "
                f"Gram matrix takes at least {needed:.3g}; raise it, or lower it until the low-rank form is used.",
            )

    def __add__(self, other: BoundedGram) -> BoundedGram:
        return BoundedGram(self.values + other.values, self.limit)


def sparse_gram(block: Features, rows: slice, dtype: np.dtype[Any], limit: float) -> BoundedGram:
    Y = sparse.csr_array(block.astype(dtype, copy=False))
    return BoundedGram(sparse.csr_array(Y.T) @ Y, limit)


def gram_rows(block: Features, rows: slice, chosen: IntArray) -> Array:
    """Some rows of YᵀY."""
    return block[:, chosen].T @ block


def pair_counts(block: Sparse, rows: slice) -> FloatArray:
    """For each feature, sum the number of features per node over the nodes that have it: (m,).

    This is at least the number of features that occur together with the given one.
    """
    lengths = np.diff(block.indptr)
    counts = np.bincount(block.indices, np.repeat(lengths, lengths), minlength=block.shape[1])
    return counts.astype(np.float64, copy=False)


def meeting_counts(block: Sparse, rows: slice, chosen: IntArray) -> Sparse:
    """For each pair of a chosen feature and any feature, the number of nodes that have both: sparse, (c, m)."""
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
    copied = getattr(Y, "nnz", 0) // max(n, 1) * 2  # values and indices of a row, which a slice copies
    for some in _slabs(n, max(vectors.shape[1], copied), vectors.dtype):
        slab = Y[some]
        product += slab.T @ (slab @ vectors)
    return product


def copy_bytes(features: Features, dtype: np.dtype[Any]) -> float:
    """Bytes of a copy of the features in this float type; 0 if they already have this type or come in chunks."""
    if not in_memory(features) or features.dtype == dtype:
        return 0.0
    if sparse.issparse(features):
        return float(features.nnz * (dtype.itemsize + features.indices.itemsize) + features.indptr.nbytes)
    return float(features.size * dtype.itemsize)


def _slabs(n: int, width: int, dtype: Any) -> list[slice]:
    """Slices of n rows such that each slice, as dense rows of this width, takes at most `SLAB_BYTES`."""
    step = max(1, SLAB_BYTES // (max(width, 1) * np.dtype(dtype).itemsize))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


# Compiled loops for features in memory. They compute rows `first` to `last` − 1 of the squared Gram matrix in place. Y
# is given by column (starts, nodes, values) and by row (node_starts, features, node_values), where the features of each
# row are sorted.


@compiled
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
    """Write rows of the upper triangle of (YᵀY)∘² to zeros (m, m), one at a time so that each stays in the cache."""
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


@compiled
def mirror(first: int, last: int, squared: FloatArray) -> None:
    """Copy the upper triangle to rows of the lower triangle, in tiles that fit into the cache."""
    for start in range(0, last, _TILE):
        for row in range(first, last):
            for column in range(start, min(start + _TILE, row)):
                squared[row, column] = squared[column, row]
