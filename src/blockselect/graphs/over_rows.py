"""Functions of the rows of the features, which are one block in memory or come in chunks.

A part is a function of a block: ``part(block, rows, *shared)``, where `rows` is the slice of all rows in the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.graphs.chunks import Part, RowChunks
from blockselect.graphs.features import as_dense

_AT_ONCE = 2**20  # stored values of a sparse matrix that are looked at together, so that temporary copies stay small


def sum_over_rows(features: Features, part: Part, *shared: Any) -> Any:
    """The sum of a part over all rows of the features."""
    if isinstance(features, RowChunks):
        return features.sum(part, *shared)
    return part(features, slice(0, features.shape[0]), *shared)


def map_rows(features: Features, function: Part, *shared: Any) -> Features:
    """``function(block, rows, *shared)`` of all rows: at once in memory, and whenever a chunk is read otherwise."""
    if isinstance(features, RowChunks):
        return features.map(function, *shared)
    return function(features, slice(0, features.shape[0]), *shared)


def by_row(features: Features, part: Part, *shared: Any) -> Any:
    """The entries that a part has for each row, of all rows: (n, …)."""
    if isinstance(features, RowChunks):
        return features.concatenate(part, *shared)
    return part(features, slice(0, features.shape[0]), *shared)


def fold_over_rows(
    features: Features, step: Part, states: Sequence[Any], *shared: Any, n_jobs: int | None = None
) -> list[Any]:
    """Each state after a step over the rows in memory, or one step over each chunk in order."""
    if isinstance(features, RowChunks):
        return features.fold(step, states, *shared, n_jobs=n_jobs)
    return [step(features, slice(0, features.shape[0]), state, *shared) for state in states]


def n_holders(features: Features) -> IntArray:
    """Number of nodes that have each feature: (m,)."""
    if isinstance(features, RowChunks):
        held = features.column_sums()[0]
    elif sparse.issparse(features):
        held = sum_by_column(features, lambda values: values != 0)
    else:
        held = np.count_nonzero(features, axis=0)
    return np.asarray(held, dtype=np.intp)


def block_sums(block: Features, rows: slice, labels: IntArray, n_blocks: int, dtype: Any) -> FloatArray:
    """Sum of the feature rows of each block, (c, k, m), for labels (c, n) of c block models (paper: FᵀY)."""
    Y, n = block.astype(dtype, copy=False), rows.stop - rows.start
    sums = np.zeros((len(labels), n_blocks, Y.shape[1]), dtype=dtype)
    for i, label in enumerate(labels[:, rows]):
        F = sparse.csr_array((np.ones(n, dtype=dtype), label, np.arange(n + 1)), shape=(n, n_blocks))
        sums[i] = as_dense(F.T @ Y)
    return sums


def squared_lengths(block: Features, rows: slice) -> FloatArray:
    """Diagonal of YᵀY (m,), in double precision."""
    if not sparse.issparse(block):
        return np.asarray(np.einsum("il,il->l", block, block, dtype=np.float64))
    return sum_by_column(block, partial(np.square, dtype=np.float64))


def sum_by_column(rows: Sparse, function: Callable[[FloatArray], Any], weights: FloatArray | None = None) -> FloatArray:
    """Sum of a function of the stored values of each column of a CSR matrix, with optional row weights (n,): (m,)."""
    sums = np.zeros(rows.shape[1])
    for some, entries in _batches(rows):
        values = np.asarray(function(rows.data[entries]), dtype=np.float64)
        if weights is not None:
            values = values * np.repeat(weights[some], np.diff(rows.indptr[some.start : some.stop + 1]))
        np.add.at(sums, rows.indices[entries].astype(np.intp), values)
    return sums


def extremes_by_column(features: Features) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value of each column, zeros that a sparse matrix does not store included: (m,)."""
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
    """Consecutive rows of a CSR matrix with about as many stored values as are looked at together, and these values."""
    n = rows.shape[0]
    step = max(1, _AT_ONCE * n // max(rows.nnz, 1))
    for start in range(0, n, step):
        some = slice(start, min(start + step, n))
        yield some, slice(rows.indptr[some.start], rows.indptr[some.stop])
