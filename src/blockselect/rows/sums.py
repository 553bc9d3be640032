"""Sums and other functions of the rows of features in memory or in chunks.

A `part` is called once for each block of rows, as ``part(block, rows, *shared)``; `rows` is the range of these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.rows.chunks import Part, RowChunks
from blockselect.rows.matrices import as_dense, membership_matrix
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

_AT_ONCE = 2**20  # stored values of a sparse matrix processed at a time, so that temporary arrays stay small


def in_memory(features: Features) -> bool:
    """Whether the features are in memory, where another pass over them is cheap."""
    return not isinstance(features, RowChunks)


def _all_rows(features: Features) -> slice:
    return slice(0, features.shape[0])


def sum_over_rows(features: Features, part: Part, *shared: Any) -> Any:
    """Sum `part` over the rows of the features."""
    return part(features, _all_rows(features), *shared) if in_memory(features) else features.sum(part, *shared)


def sum_over_pairs(features: Features, part: Part, links: Sparse, *shared: Any) -> Any:
    """Sum `part` over pairs of linked rows of sparse features (see `RowChunks.sum_over_pairs`)."""
    if in_memory(features):
        rows = _all_rows(features)
        return part(features, rows, features, rows, links, *shared)
    return features.sum_over_pairs(part, links, *shared)


def map_rows(features: Features, function: Part, *shared: Any) -> Features:
    """Apply ``function(block, rows, *shared)`` to all rows: at once in memory, or whenever a chunk is read."""
    return function(features, _all_rows(features), *shared) if in_memory(features) else features.map(function, *shared)


def by_row(features: Features, part: Part, *shared: Any) -> Any:
    """Concatenate `part`, an array with one entry per row, over all rows: (n, …)."""
    return part(features, _all_rows(features), *shared) if in_memory(features) else features.concatenate(part, *shared)


def fold_over_rows(
    features: Features, step: Part, states: Sequence[Any], *shared: Any, n_jobs: int | None = None
) -> list[Any]:
    """Return each state after one step over all rows in memory, or one step per chunk in order."""
    if in_memory(features):
        return [step(features, _all_rows(features), state, *shared) for state in states]
    return list(features.fold(step, states, *shared, n_jobs=n_jobs))


def place_at_rows(features: Features, *shared: Any) -> list[Any]:
    """Return stand-ins for objects that several sums use, so that a cluster receives the objects only once."""
    return list(shared) if in_memory(features) else [features.place(one) for one in shared]


def some_rows(features: Features, rows: IntArray) -> Features:
    """Load the rows with these numbers, which must be in increasing order."""
    if in_memory(features):
        return features if len(rows) == features.shape[0] else features[rows]
    return features.some(rows)


def row_slices(features: Features) -> list[slice]:
    """The range of rows of each chunk, or of all rows if they are in memory."""
    return [_all_rows(features)] if in_memory(features) else list(features.slices)


def n_values(features: Features) -> int:
    """Number of values that a pass over the features reads: all if dense, otherwise the non-zero values."""
    if in_memory(features):
        return int(features.nnz if sparse.issparse(features) else features.size)
    return int(features.n_values)


def jobs_for(features: Features, n_jobs: int | None) -> int | None:
    """Number of threads that may read the features at the same time; row chunks are read by one thread."""
    return n_jobs if in_memory(features) else 1


def n_holders(features: Features) -> IntArray:
    """Number of nodes that have each feature: (m,)."""
    if not in_memory(features):
        holders = features.column_sums()[0]
    elif sparse.issparse(features):
        holders = sum_by_column(features, lambda values: values != 0)
    else:
        holders = np.count_nonzero(features, axis=0)
    return np.asarray(holders, dtype=np.intp)


def block_sums(block: Features, rows: slice, labels: IntArray, n_blocks: int, dtype: Any) -> FloatArray:
    """Sum of the feature rows of each block, (c, k, m), for labels (c, n) of c block models (paper: FᵀY)."""
    Y = block.astype(dtype, copy=False)
    sums = np.zeros((len(labels), n_blocks, Y.shape[1]), dtype=dtype)
    for i, label in enumerate(labels[:, rows]):
        F = membership_matrix(label, n_blocks, dtype)
        sums[i] = as_dense(F.T @ Y)
    return sums


def squared_lengths(block: Features, rows: slice) -> FloatArray:
    """Diagonal of YᵀY, in double precision: (m,)."""
    if not sparse.issparse(block):
        return np.asarray(np.einsum("il,il->l", block, block, dtype=np.float64))
    return sum_by_column(block, partial(np.square, dtype=np.float64))


def sum_by_column(rows: Sparse, function: Callable[[FloatArray], Any], weights: FloatArray | None = None) -> FloatArray:
    """Sum of a function of the stored values in each column of a CSR matrix, with optional row weights (n,): (m,)."""
    sums = np.zeros(rows.shape[1])
    for some, entries in _batches(rows):
        values = np.asarray(function(rows.data[entries]), dtype=np.float64)
        if weights is not None:
            values = values * np.repeat(weights[some], np.diff(rows.indptr[some.start : some.stop + 1]))
        np.add.at(sums, rows.indices[entries].astype(np.intp), values)
    return sums


def extremes_by_column(features: Features) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value of each column, including zeros that are not stored: (m,) each."""
    if not sparse.issparse(features):
        return features.min(axis=0), features.max(axis=0)
    rows = sparse.csr_array(features)
    stored = sum_by_column(rows, np.ones_like) == rows.shape[0]
    low, high = np.where(stored, np.inf, 0.0), np.where(stored, -np.inf, 0.0)
    for _, entries in _batches(rows):
        columns, values = rows.indices[entries].astype(np.intp), rows.data[entries].astype(np.float64, copy=False)
        np.minimum.at(low, columns, values)
        np.maximum.at(high, columns, values)
    return low, high


def scale_by_column(rows: Sparse, by: FloatArray, scale: np.ufunc = np.multiply) -> None:
    """Multiply or divide the stored values of a CSR matrix in place by one number per column (m,)."""
    for _, entries in _batches(rows):
        scale(rows.data[entries], by[rows.indices[entries]], out=rows.data[entries])


def _batches(rows: Sparse) -> Iterator[tuple[slice, slice]]:
    """Yield ranges of rows of a CSR matrix with about `_AT_ONCE` stored values, and the positions of these values."""
    n = rows.shape[0]
    step = max(1, _AT_ONCE * n // max(rows.nnz, 1))
    for start in range(0, n, step):
        some = slice(start, min(start + step, n))
        yield some, slice(rows.indptr[some.start], rows.indptr[some.stop])
