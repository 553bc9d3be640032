"""GramSquared: the elementwise square of the Gram matrix of the features, as an operator (paper: (YᵀY)∘²).

It depends on neither the blocks nor the scores: one is made for a data set and shared by every solve on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from array_api_compat import is_torch_array
from scipy import sparse

from blockselect.arrays import Array, Features, FloatArray, Sparse
from blockselect.errors import ParameterError

_CHUNK_BYTES = 2**26  # of a slab of the Gram matrix while it is squared
_SPARSE_BELOW = 0.1  # share of non-zeros under which the sparse product is the faster one (benchmarks/gram.py)
_SAMPLE = 256  # columns that estimate that share

Form: TypeAlias = Literal["dense", "sparse"]


class GramSquared(Protocol):
    """W, symmetric (m, m): what the solver asks of it."""

    @property
    def form(self) -> Form: ...

    def apply(self, scores: Array) -> Array:
        """Scores (b, m) → scores @ W (b, m), in the scores' own array namespace."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseGramSquared:
    """Held as one array."""

    values: Array  # (m, m)

    @property
    def form(self) -> Form:
        return "dense"

    def apply(self, scores: Array) -> Array:
        if scores.shape[0] == 1:  # W is symmetric, and W @ r reads it once, where a one-row product may pack it first
            return (self.values @ scores[0])[None, :]
        return scores @ self.values


@dataclass(frozen=True, slots=True, eq=False)
class SparseGramSquared:
    """Held without its zeros."""

    values: Any  # (m, m), scipy CSR or torch CSR

    @property
    def form(self) -> Form:
        return "sparse"

    def apply(self, scores: Array) -> Array:
        transposed = scores.T if is_torch_array(scores) else np.ascontiguousarray(scores.T)
        return (self.values @ transposed).T


def gram_squared(
    features: Features, *, form: Form | None = None, dtype: Any = np.float64, memory_limit: float | None = None
) -> DenseGramSquared | SparseGramSquared:
    """Square the Gram matrix of the features, in the given form or in the one that `gram_form` chooses."""
    if (form or gram_form(features, dtype=dtype, memory_limit=memory_limit)) == "dense":
        return DenseGramSquared(_dense(features, np.dtype(dtype)))
    return SparseGramSquared(_sparse(features, np.dtype(dtype)))


def gram_form(features: Features, *, dtype: Any = np.float64, memory_limit: float | None = None) -> Form:
    """Which form of the squared Gram matrix multiplies faster within a limit of bytes.

    Where the faster form is over the limit, the smaller is taken; where both are, that is an error.
    """
    dtype = np.dtype(dtype)
    m = features.shape[1]
    dense_bytes = m * m * dtype.itemsize
    share = _share_of_nonzeros(features)
    sparse_bytes = share * m * m * (dtype.itemsize + 4)
    form: Form = "sparse" if share < _SPARSE_BELOW else "dense"
    if memory_limit is not None and (dense_bytes if form == "dense" else sparse_bytes) > memory_limit:
        form = "sparse" if sparse_bytes < dense_bytes else "dense"
    needed = dense_bytes if form == "dense" else sparse_bytes
    if memory_limit is not None and needed > memory_limit:
        raise ParameterError(
            "memory_limit",
            f"is {memory_limit / 1e9:.2g} GB but the squared Gram matrix of {m} features takes {needed / 1e9:.2g} GB "
            f"({form}, {dtype}); raise it, compute in float32, or drop features first (by variance, say).",
        )
    return form


def _dense(features: Features, dtype: np.dtype[Any]) -> FloatArray:
    m = features.shape[1]
    squared = np.empty((m, m), dtype=dtype)
    for columns, slab in _slabs(features, dtype):
        squared[columns] = slab.toarray() if sparse.issparse(slab) else slab
    return np.square(squared, out=squared)


def _sparse(features: Features, dtype: np.dtype[Any]) -> Sparse:
    squared = sparse.csr_array(
        sparse.vstack([sparse.csr_array(slab) for _, slab in _slabs(features, dtype)], format="csr")
    )
    squared.sort_indices()
    np.square(squared.data, out=squared.data)
    return squared


def _slabs(features: Features, dtype: np.dtype[Any]) -> Any:
    """Rows of YᵀY, some at a time: (slice of features, slab)."""
    Y = features.astype(dtype, copy=False)
    transposed = Y.T.tocsr() if sparse.issparse(Y) else Y.T
    m = Y.shape[1]
    step = max(1, _CHUNK_BYTES // (m * dtype.itemsize))
    for start in range(0, m, step):
        columns = slice(start, min(start + step, m))
        yield columns, transposed[columns] @ Y


def _share_of_nonzeros(features: Features) -> float:
    """Share of non-zeros of the Gram matrix, from evenly spread columns."""
    if not sparse.issparse(features):
        return 1.0
    m = features.shape[1]
    columns = np.unique(np.linspace(0, m - 1, min(m, _SAMPLE)).astype(np.intp))
    pattern = sparse.csr_array(
        (np.ones(features.nnz, dtype=np.float32), features.indices, features.indptr), shape=features.shape
    )
    return float((pattern[:, columns].T @ pattern).nnz / (len(columns) * m))
