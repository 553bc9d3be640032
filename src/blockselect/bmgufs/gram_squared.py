"""GramSquared: the elementwise square of the Gram matrix of the features, as an operator (paper: (YᵀY)∘²).

It depends on neither the blocks nor the scores: one is made for a data set and shared by every solve on it. It is held
in one of three forms, chosen by what memory there is:

- dense (m, m): the fastest product where most features occur together;
- sparse: without its zeros, where few features occur together;
- low rank: Y ≈ U Σ Vᵀ, Z = V Σ (m, q), and (W r)_l ≈ z_lᵀ (Zᵀ diag(r) Z) z_l + (W_ll − ‖z_l‖⁴) r_l. It takes m (q + 1)
  numbers, and is the only approximate one. The diagonal is exact: it is the largest entry of each row, and what a low
  rank loses of it is the feature's own part.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from joblib import Parallel, delayed
from numba import njit
from scipy import sparse

from blockselect.arrays import Array, Features, FloatArray, IntArray, Sparse
from blockselect.bmgufs.row_sums import (
    dense_gram,
    gram_rows,
    meeting_counts,
    principal_factor,
    quicker_by_pairs,
    sparse_gram,
    squared_lengths,
    sum_over_rows,
)
from blockselect.errors import ParameterError
from blockselect.graphs.row_chunks import RowChunks

_CHUNK_BYTES = 2**26  # of a slab of the Gram matrix while it is squared
_SPARSE_BELOW = 0.1  # share of non-zeros under which the sparse product is the faster one (benchmarks/gram.py)
_SAMPLE = 256  # columns that estimate that share
_OF_FREE = 0.5  # share of the free memory that it may take where no limit is given
_TILE = 64  # rows and columns of the matrix in work at once
_RANKS = (64, 128, 256, 512)  # tried in this order, until the error is small enough
_ROUGH_RANK, _ROUGH_FROM = 32, 2000  # a rough form, and the nodes and features from which it saves time
_WORK = 4e9  # values times rank, from which a pass over the features takes a minute
_WORTH = 0.8  # of the error with half the rank: if more is left, the larger rank is not worth its time
_UNKNOWN_MEMORY = 2**32  # bytes, where the system does not say: a small machine
_MAX_ERROR = 0.02  # of W r, relatively, for uniform r, on sampled features
_ERROR_SAMPLE = 64  # features

Form: TypeAlias = Literal["dense", "sparse", "low rank"]


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
        if len(scores) == 1 and not is_torch_array(scores):  # W is symmetric, and BLAS packs it first for one row
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


@dataclass(frozen=True, slots=True, eq=False)
class LowRankGramSquared:
    """Held as Z with YᵀY ≈ Z Zᵀ, and what that leaves of the diagonal."""

    values: Array  # (m, q) Z
    rest: Array  # (m,) W_ll − ‖z_l‖⁴, at least 0

    @property
    def form(self) -> Form:
        return "low rank"

    def apply(self, scores: Array) -> Array:
        xp = array_namespace(scores)
        Z = self.values
        products = [xp.sum((Z @ (Z.T @ (r[:, None] * Z))) * Z, axis=1) for r in scores]
        return xp.stack(products) + self.rest * scores


@dataclass(frozen=True, slots=True)
class GramChoice:
    """In which form the matrix is held, and why."""

    form: Form
    reason: str


def gram_squared(
    features: Features,
    *,
    form: Form | None = None,
    dtype: Any = np.float64,
    memory_limit: float | None = None,
    n_jobs: int | None = None,
) -> DenseGramSquared | SparseGramSquared | LowRankGramSquared:
    """Square the Gram matrix of the features, in the given form or in the one that `choose_form` takes."""
    taken = form or choose_form(features, dtype=dtype, memory_limit=memory_limit).form
    if taken == "dense":
        return DenseGramSquared(_dense(features, np.dtype(dtype), n_jobs))
    if taken == "sparse":
        return SparseGramSquared(_sparse(features, np.dtype(dtype)))
    return low_rank_gram_squared(features, dtype=dtype, memory_limit=memory_limit)


def rough_gram_squared(
    features: Features, *, dtype: Any = np.float64, memory_limit: float | None = None, n_jobs: int | None = None
) -> DenseGramSquared | SparseGramSquared | LowRankGramSquared:
    """A low rank where that errs by no more than 2 %, else as `gram_squared`: for what is averaged anyway."""
    if min(features.shape) > _ROUGH_FROM:
        rough = low_rank_gram_squared(features, rank=_ROUGH_RANK, dtype=dtype)
        if low_rank_error(features, rough) <= _MAX_ERROR:
            return rough
    return gram_squared(features, dtype=dtype, memory_limit=memory_limit, n_jobs=n_jobs)


def choose_form(features: Features, *, dtype: Any = np.float64, memory_limit: float | None = None) -> GramChoice:
    """The exact form with the faster product, if it fits into the limit, or into half of the free memory.

    Where it does not fit, the smaller exact form is taken, and where neither does, the low-rank one.
    """
    dtype, m = np.dtype(dtype), features.shape[1]
    limit = memory_limit if memory_limit is not None else _OF_FREE * free_memory()
    bound = "memory_limit" if memory_limit is not None else "half of the free memory"
    share = _share_of_nonzeros(features)
    needed = {"dense": float(m * m * dtype.itemsize), "sparse": share * m * m * (dtype.itemsize + 4)}
    faster: Form = "sparse" if share < _SPARSE_BELOW else "dense"
    smaller: Form = "sparse" if needed["sparse"] < needed["dense"] else "dense"
    if needed[faster] <= limit:
        return GramChoice(faster, f"{share:.0%} of the feature pairs occur together, and it fits into memory")
    if needed[smaller] <= limit:
        return GramChoice(
            smaller, f"the {faster} form takes {_gigabytes(needed[faster])}, over {bound} ({_gigabytes(limit)})"
        )
    least = float(m * (min(_RANKS[0], *features.shape) + 1) * dtype.itemsize)
    if least > limit:
        raise ParameterError(
            "memory_limit",
            f"is {_gigabytes(limit)} but the squared Gram matrix of {m} features takes at least {_gigabytes(least)}; "
            "raise it, compute in float32, or drop features first (by variance, say).",
        )
    return GramChoice(
        "low rank",
        f"the {smaller} form takes {_gigabytes(needed[smaller])}, over {bound} ({_gigabytes(limit)})",
    )


def low_rank_gram_squared(
    features: Features, *, rank: int | None = None, dtype: Any = np.float64, memory_limit: float | None = None
) -> LowRankGramSquared:
    """The form of low rank; by default of the smallest rank tried that keeps W r within 2 %, on sampled features.

    The first rank tried is 128, and 64 where a pass over the features takes long. Where twice the rank hardly lowers
    the error, the spectrum is flat, and the smaller rank is kept.
    """
    largest, dtype = min(features.shape), np.dtype(dtype)
    lengths = sum_over_rows(features, squared_lengths)
    size = getattr(features, "nnz", features.shape[0] * features.shape[1])
    limit = memory_limit if memory_limit is not None else _OF_FREE * free_memory()
    affordable = [q for q in _RANKS if (q + 1) * features.shape[1] * dtype.itemsize <= limit] or _RANKS[:1]
    first, *others = affordable[1:] if len(affordable) > 1 and size * _RANKS[1] <= _WORK else affordable
    if rank is not None or largest <= first:
        return _of_rank(features, min(rank or largest, largest), dtype, lengths)
    gram = _of_rank(features, first, dtype, lengths)
    error = low_rank_error(features, gram)
    for q in others:
        if error <= _MAX_ERROR or gram.values.shape[1] == largest:
            break
        larger = _of_rank(features, min(q, largest), dtype, lengths)
        before, error = error, low_rank_error(features, larger)
        if error > _WORTH * before:
            break
        gram = larger
    return gram


def _of_rank(features: Features, rank: int, dtype: np.dtype[Any], lengths: FloatArray) -> LowRankGramSquared:
    """Of this rank, with the diagonal that features of these squared lengths have."""
    Z = principal_factor(features, rank, dtype)
    kept = np.einsum("lq,lq->l", Z, Z, dtype=np.float64)
    return LowRankGramSquared(Z, np.maximum(lengths**2 - kept**2, 0.0).astype(dtype))


def low_rank_error(features: Features, gram: LowRankGramSquared) -> float:
    """‖W r − W_q r‖ / ‖W r‖ for uniform r, on evenly spread features."""
    m, Z = features.shape[1], gram.values
    sample = np.unique(np.linspace(0, m - 1, min(m, _ERROR_SAMPLE)).astype(np.intp))
    part: Any = sum_over_rows(features, gram_rows, sample)
    exact = np.asarray(part.power(2).sum(axis=1) if sparse.issparse(part) else (part**2).sum(axis=1)).ravel()
    approximate = np.sum((Z[sample] @ (Z.T @ Z)) * Z[sample], axis=1) + gram.rest[sample]
    return float(np.linalg.norm(exact - approximate) / max(np.linalg.norm(exact), np.finfo(np.float64).tiny))


def free_memory() -> float:
    """What the kernel counts as available; half of all memory, or 4 GiB, where it does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return 0.5 * float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # not POSIX
        return float(_UNKNOWN_MEMORY)


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.2g} GB"


def _dense(features: Features, dtype: np.dtype[Any], n_jobs: int | None) -> FloatArray:
    """By pairs of non-zeros of each node, or by a dense product where there are many."""
    if isinstance(features, RowChunks) or not quicker_by_pairs(features):
        gram: FloatArray = sum_over_rows(features, dense_gram, dtype)
        return np.square(gram, out=gram)
    Y = features.astype(dtype, copy=False).sorted_indices()
    columns, m = sparse.csc_array(Y), Y.shape[1]
    squared = np.zeros((m, m), dtype=dtype)
    parts = (columns.indptr, columns.indices, columns.data, Y.indptr, Y.indices, Y.data)
    tiles = [(start, min(start + _TILE, m)) for start in range(0, m, _TILE)]
    with Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:  # they write into one array
        parallel(delayed(_square_by_pairs)(squared, *tile, *parts) for tile in tiles)
        parallel(delayed(_mirror)(squared, *tile) for tile in reversed(tiles))  # the longest first
    return squared


@njit(cache=True, nogil=True)
def _square_by_pairs(
    squared: FloatArray,
    first: int,
    last: int,
    starts: IntArray,
    nodes: IntArray,
    values: FloatArray,
    node_starts: IntArray,
    features: IntArray,
    node_values: FloatArray,
) -> None:
    """Rows of the upper triangle of (YᵀY)∘² into zeros (m, m), from Y by column and by row, features sorted.

    A row of the result is made at a time, so that it stays in cache.
    """
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
def _mirror(squared: FloatArray, first: int, last: int) -> None:
    """Rows of the lower triangle from the upper one, in tiles that stay in cache."""
    for start in range(0, last, _TILE):
        for row in range(first, last):
            for column in range(start, min(start + _TILE, row)):
                squared[row, column] = squared[column, row]


def _sparse(features: Features, dtype: np.dtype[Any]) -> Sparse:
    if isinstance(features, RowChunks):
        squared = sum_over_rows(features, sparse_gram, dtype)
    else:
        squared = sparse.csr_array(
            sparse.vstack([sparse.csr_array(slab) for slab in _slabs(features, dtype)], format="csr")
        )
    squared.sort_indices()
    np.square(squared.data, out=squared.data)
    return squared


def _slabs(features: Features, dtype: np.dtype[Any]) -> Any:
    """Rows of YᵀY, some at a time."""
    Y = features.astype(dtype, copy=False)
    transposed = Y.T.tocsr() if sparse.issparse(Y) else Y.T
    m = Y.shape[1]
    step = max(1, _CHUNK_BYTES // (m * dtype.itemsize))
    for start in range(0, m, step):
        yield transposed[start : start + step] @ Y


def _share_of_nonzeros(features: Features) -> float:
    """Share of non-zeros of the Gram matrix, from evenly spread columns."""
    if isinstance(features, np.ndarray):
        return 1.0
    m = features.shape[1]
    columns = np.unique(np.linspace(0, m - 1, min(m, _SAMPLE)).astype(np.intp))
    return float(sum_over_rows(features, meeting_counts, columns).nnz / (len(columns) * m))
