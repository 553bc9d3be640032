"""GramSquared: the elementwise square of the Gram matrix of the features, as an operator (paper: (YᵀY)∘²).

It depends on neither the blocks nor the scores, so one matrix serves all solves on a data set. It has one of three
forms, chosen by cost and by a limit on memory:

- dense (m, m): the fastest product if many features occur together;
- sparse: without zeros, if few features occur together or the dense form is large;
- low rank, the only approximate one: see `LowRankGramSquared`.

No second array of the size of an exact form is allocated, and the memory is known before it is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from joblib import Parallel, delayed
from scipy import sparse
from scipy.linalg.blas import get_blas_funcs

from blockselect.arrays import Array, Features, FloatArray, Sparse
from blockselect.bmgufs.gram_sums import (
    IN_SPARSE_SUM,
    OVERSAMPLES,
    TILE,
    bounded_sparse_gram,
    copy_bytes,
    dense_gram,
    gram_rows,
    gram_times_bytes,
    meeting_counts,
    mirror,
    pair_counts,
    principal_factor,
    quicker_by_pairs,
    sparse_gram,
    square_by_pairs,
)
from blockselect.errors import ParameterError
from blockselect.graphs.chunks import RowChunks
from blockselect.graphs.features import as_dense
from blockselect.graphs.over_rows import squared_lengths, sum_over_rows

_CHUNK_BYTES = 2**26  # bytes of dense rows of the features at once
_ROWS = 256  # rows of the sparse matrix that are counted at once
_ROW_BYTES = 64  # bytes of working memory per row
_LARGEST_INDEX = np.iinfo(np.int32).max
_IN_DENSE_SUM = 3  # dense matrices that a sum over row chunks holds at once
_SPARSE_BELOW = 0.1  # share of non-zeros below which the sparse product is faster (benchmarks/gram.py)
_SPACIOUS = 2**30  # bytes up to which the faster form is used even if it is larger
_SAMPLE = 64  # columns that estimate that share
MEMORY_LIMIT = 8e9  # bytes, if no limit is given; the same on every machine

RANKS = (64, 128, 256, 512)  # tried in this order until the error is small enough
MAX_ERROR = 0.02  # relative error of W r for uniform r on sampled features
_ERROR_SAMPLE = 64  # features
_WORTH = 0.8  # a larger rank is used only if its error is below this share of the error before
_COPIES = 5  # arrays of the size of a factor needed to compute it

Form: TypeAlias = Literal["dense", "sparse", "low rank"]


class GramSquared(Protocol):
    """W, symmetric (m, m), as the solver uses it."""

    @property
    def form(self) -> Form: ...

    def apply(self, scores: Array) -> Array:
        """Scores (b, m) → scores @ W (b, m), in the scores' own array namespace."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseGramSquared:
    """Stored as one array."""

    values: Array  # (m, m)

    @property
    def form(self) -> Form:
        return "dense"

    def apply(self, scores: Array) -> Array:
        if len(scores) == 1 and not is_torch_array(scores):  # W is symmetric; for a single row BLAS would copy it first
            return (self.values @ scores[0])[None, :]
        return scores @ self.values


@dataclass(frozen=True, slots=True, eq=False)
class SparseGramSquared:
    """Stored without zeros."""

    values: Any  # (m, m), scipy CSR or torch CSR

    @property
    def form(self) -> Form:
        return "sparse"

    def apply(self, scores: Array) -> Array:
        transposed = scores.T if is_torch_array(scores) else np.ascontiguousarray(scores.T)
        return (self.values @ transposed).T


@dataclass(frozen=True, slots=True, eq=False)
class LowRankGramSquared:
    """Stored as Z with YᵀY ≈ Z Zᵀ, and the rest of the diagonal: (W r)_l ≈ z_lᵀ (Zᵀ diag(r) Z) z_l + rest_l r_l.

    It takes m (q + 1) numbers. The diagonal is exact, because it has the largest entry of each row.
    """

    values: Array  # (m, q) Z
    rest: Array  # (m,) W_ll − ‖z_l‖⁴, at least 0

    @property
    def form(self) -> Literal["low rank"]:
        return "low rank"

    def apply(self, scores: Array) -> Array:
        xp = array_namespace(scores)
        Z = self.values
        products = [xp.sum((Z @ (Z.T @ (r[:, None] * Z))) * Z, axis=1) for r in scores]
        return xp.stack(products) + self.rest * scores


@dataclass(frozen=True, slots=True)
class GramChoice:
    """The form of the matrix, and the reason for it."""

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
    """The elementwise square of the Gram matrix of the features, in the given form or in that of `choose_form`."""
    taken = form or choose_form(features, dtype=dtype, memory_limit=memory_limit).form
    limit = MEMORY_LIMIT if memory_limit is None else memory_limit
    try:
        if taken == "dense":
            return DenseGramSquared(dense_square(features, np.dtype(dtype), n_jobs))
        if taken == "sparse":
            return SparseGramSquared(sparse_square(features, np.dtype(dtype), limit=limit))
        return low_rank_gram_squared(features, dtype=dtype, memory_limit=limit)
    except MemoryError as error:
        raise ParameterError(
            "memory_limit",
            f"is {_in_words(limit) if memory_limit else 'not set'}, but there is too little memory for the {taken} "
            f"squared Gram matrix of {features.shape[1]} features ({str(error) or 'no size given'}); "
            f"{'lower' if memory_limit else 'set'} it, compute in float32, or remove rare features.",
        ) from error


def choose_form(
    features: Features, *, dtype: Any = np.float64, memory_limit: float | None = None, on_device: bool = False
) -> GramChoice:
    """The exact form with the faster product, or the smaller form if the faster one takes more than a gibibyte.

    It has to fit into the limit, 8 GB by default, with its working memory; otherwise the other exact form is tried, and
    then the low-rank form. Before all forms are rejected, the non-zeros of the sparse form are counted instead of
    estimated from a sample. On a device the faster form is used at any size.
    """
    dtype, m = np.dtype(dtype), features.shape[1]
    limit = MEMORY_LIMIT if memory_limit is None else memory_limit
    share = _share_of_nonzeros(features)
    needed = {"dense": dense_bytes(features, dtype), "sparse": sparse_bytes(features, share * m * m, dtype)}
    reason = f"{share:.0%} of the feature pairs occur together, and it fits into memory"
    first: Form = "sparse" if share < _SPARSE_BELOW else "dense"
    second: Form = "dense" if first == "sparse" else "sparse"
    if needed[second] < needed[first] and needed[first] > _SPACIOUS and not on_device:
        reason = f"the {first} form takes {_in_words(needed[first])}, more than the {second} one"
        first, second = second, first
    for form in (first, second):
        if form == "sparse" and needed[form] <= limit and not isinstance(features, RowChunks | np.ndarray):
            needed[form] = sparse_bytes(features, float(count_nonzeros(features)), dtype)
        if needed[form] <= limit:
            return GramChoice(form, reason)
        reason = f"the {form} form takes {_in_words(needed[form])}, over memory_limit ({_in_words(limit)})"
    least = low_rank_bytes(features, RANKS[0], dtype)
    if least > limit:
        if needed["sparse"] < least and not isinstance(features, RowChunks | np.ndarray):  # this was an estimate
            needed["sparse"] = sparse_bytes(features, float(count_nonzeros(features)), dtype)
            if needed["sparse"] <= limit:
                return GramChoice("sparse", f"no other form fits into memory_limit ({_in_words(limit)})")
        raise ParameterError(
            "memory_limit",
            f"is {_in_words(limit)} but the squared "
            f"Gram matrix of {m} features takes at least {_in_words(_rounded_up(min(least, *needed.values())))}; "
            "raise it, compute in float32, or remove features first, for example by variance.",
        )
    return GramChoice("low rank", reason)


def _in_words(size: float) -> str:
    """Bytes as text, with two digits."""
    unit, name = next(((unit, name) for unit, name in ((1e9, "GB"), (1e6, "MB")) if size >= unit), (1e3, "kB"))
    return f"{float(f'{size / unit:.2g}'):g} {name}"


def _rounded_up(size: float) -> float:
    """Rounded up to two digits, so that the stated size suffices."""
    step = 10.0 ** (np.floor(np.log10(size)) - 1)
    return float(np.ceil(size / step) * step)


def _share_of_nonzeros(features: Features) -> float:
    """Share of non-zeros of the Gram matrix, estimated from a sample of rare and frequent features."""
    if isinstance(features, np.ndarray):
        return 1.0
    m = features.shape[1]
    most_first = np.argsort(-sum_over_rows(features, pair_counts), kind="stable")
    columns = np.sort(most_first[np.unique(np.linspace(0, m - 1, min(m, _SAMPLE)).astype(np.intp))])
    return float(sum_over_rows(features, meeting_counts, columns).nnz / (len(columns) * m))


def dense_bytes(features: Features, dtype: np.dtype[Any]) -> float:
    """Most memory, in bytes, for computing the dense form."""
    matrix: float = float(features.shape[1]) ** 2 * dtype.itemsize
    if isinstance(features, RowChunks):
        return _IN_DENSE_SUM * matrix + 3 * min(_CHUNK_BYTES, matrix)
    if quicker_by_pairs(features):
        return matrix + _bytes_by_column(features, dtype)
    n, m = features.shape
    return float(matrix + copy_bytes(features, dtype) + 2.0 * min(_CHUNK_BYTES, n * m * dtype.itemsize))


def sparse_bytes(features: Features, n_nonzeros: float, dtype: np.dtype[Any]) -> float:
    """Most memory, in bytes, for computing the sparse form with this number of non-zeros."""
    m = features.shape[1]
    matrix = n_nonzeros * (dtype.itemsize + _index_type(n_nonzeros).itemsize) + float(_ROW_BYTES * m)
    if isinstance(features, RowChunks):
        return IN_SPARSE_SUM * matrix
    return matrix + _bytes_by_column(features, dtype)


def count_nonzeros(features: Sparse) -> int:
    """Number of non-zeros of YᵀY: ordered pairs of features that occur together, each with itself included."""
    ones = np.ones(features.nnz, dtype=np.float32)
    pattern = sparse.csr_array((ones, features.indices, features.indptr), shape=features.shape)
    by_feature = sparse.csr_array(pattern.T)
    return sum((by_feature[start : start + _ROWS] @ pattern).nnz for start in range(0, features.shape[1], _ROWS))


def dense_square(features: Features, dtype: np.dtype[Any], n_jobs: int | None = None) -> FloatArray:
    """The dense form, by pairs of non-zeros of each node, or by a dense product if there are many pairs. (m, m)"""
    if isinstance(features, RowChunks):
        gram: FloatArray = sum_over_rows(features, dense_gram, dtype)
        return np.square(gram, out=gram)
    m = features.shape[1]
    squared = np.zeros((m, m), dtype=dtype)
    if quicker_by_pairs(features):
        parts = _by_row_and_column(features, dtype)
        _in_parts(square_by_pairs, m, TILE, n_jobs, squared, *parts)
    else:
        _add_products(squared, features.astype(dtype, copy=False))
        np.square(squared, out=squared)
    _in_parts(mirror, m, TILE, n_jobs, squared)
    return squared


def sparse_square(features: Features, dtype: np.dtype[Any], *, limit: float = np.inf) -> Sparse:
    """CSR without zeros, columns in order. (m, m)

    The size of a sum over row chunks is not known in advance, so it is rejected once it exceeds the limit.
    """
    if isinstance(features, RowChunks):
        squared: Sparse = sum_over_rows(features, bounded_sparse_gram, dtype, limit).values
    else:
        squared = sum_over_rows(features, sparse_gram, dtype)
    squared.sort_indices()
    np.square(squared.data, out=squared.data)
    return squared


def _by_row_and_column(features: Sparse, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Y by column and by row, with sorted features: indptr, indices and data of both."""
    Y = features.astype(dtype, copy=False)
    if not Y.has_sorted_indices:
        Y = Y.sorted_indices()
    columns = sparse.csc_array(Y)
    return columns.indptr, columns.indices, columns.data, Y.indptr, Y.indices, Y.data


def _bytes_by_column(features: Features, dtype: np.dtype[Any]) -> float:
    """Memory of both orders besides the features themselves."""
    if not sparse.issparse(features):
        return float(2 * features.shape[0] * features.shape[1] * (dtype.itemsize + 4))
    by_column = features.nnz * (dtype.itemsize + features.indices.itemsize) + float(_ROW_BYTES * sum(features.shape))
    return float(by_column * (1 if features.has_sorted_indices else 2) + copy_bytes(features, dtype))


def _index_type(n_nonzeros: float) -> np.dtype[Any]:
    return np.dtype(np.int32 if n_nonzeros <= _LARGEST_INDEX else np.int64)


def _in_parts(kernel: Any, m: int, step: int, n_jobs: int | None, *arguments: Any) -> None:
    """Call a kernel on slices of rows of the matrix; all jobs write into the same arrays."""
    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(kernel)(start, min(start + step, m), *arguments) for start in range(0, m, step)
    )


def _add_products(gram: FloatArray, Y: Features) -> None:
    """Add the upper triangle of YᵀY to the array in place."""
    m, dtype = gram.shape[0], gram.dtype
    add = get_blas_funcs("syrk", dtype=dtype)
    step = max(1, _CHUNK_BYTES // (max(m, 1) * dtype.itemsize))
    for start in range(0, Y.shape[0], step):
        rows = np.ascontiguousarray(as_dense(Y[start : start + step]))
        add(1.0, rows.T, beta=1.0, c=gram.T, lower=1, overwrite_c=1)


def low_rank_gram_squared(
    features: Features, *, rank: int | None = None, dtype: Any = np.float64, memory_limit: float | None = None
) -> LowRankGramSquared:
    """The low-rank form; by default of the smallest rank tried whose error of W r on sampled features is at most 2 %.

    A product takes 4 m q² multiplications, so doubling the rank makes a descent four times as long. The first rank
    tried is 64. If doubling the rank hardly lowers the error, the spectrum is flat, and the smaller rank is kept.
    """
    largest, dtype = min(features.shape), np.dtype(dtype)
    lengths = sum_over_rows(features, squared_lengths)
    limit = np.inf if memory_limit is None else memory_limit
    first, *others = [q for q in RANKS if low_rank_bytes(features, q, dtype) <= limit] or RANKS[:1]
    if rank is not None or largest <= first:
        return _of_rank(features, min(rank or largest, largest), dtype, lengths)
    gram = _of_rank(features, first, dtype, lengths)
    error = low_rank_error(features, gram)
    for q in others:
        if error <= MAX_ERROR or gram.values.shape[1] == largest:
            break
        larger = _of_rank(features, min(q, largest), dtype, lengths)
        before, error = error, low_rank_error(features, larger)
        if error > _WORTH * before:
            break
        gram = larger
    return gram


def low_rank_bytes(features: Features, rank: int, dtype: np.dtype[Any]) -> float:
    """Most memory, in bytes, for computing a low-rank form."""
    n, m = features.shape
    width = min(min(rank, n) + OVERSAMPLES, m)
    factors = float(_COPIES * m * width * dtype.itemsize)
    return factors + copy_bytes(features, dtype) + gram_times_bytes(features, width, dtype)


def _of_rank(features: Features, rank: int, dtype: np.dtype[Any], lengths: FloatArray) -> LowRankGramSquared:
    """The form of this rank; `lengths` are the squared lengths of the features, which give the diagonal."""
    Z = principal_factor(features, rank, dtype)
    kept = np.einsum("lq,lq->l", Z, Z, dtype=np.float64)
    return LowRankGramSquared(Z, np.maximum(lengths**2 - kept**2, 0.0).astype(dtype))


def low_rank_error(features: Features, gram: LowRankGramSquared) -> float:
    """‖W r − W_q r‖ / ‖W r‖ for uniform r, on evenly spaced features."""
    m, Z = features.shape[1], gram.values
    sample = np.unique(np.linspace(0, m - 1, min(m, _ERROR_SAMPLE)).astype(np.intp))
    part: Any = sum_over_rows(features, gram_rows, sample)
    exact = np.asarray(part.power(2).sum(axis=1) if sparse.issparse(part) else (part**2).sum(axis=1)).ravel()
    approximate = np.sum((Z[sample] @ (Z.T @ Z)) * Z[sample], axis=1) + gram.rest[sample]
    return float(np.linalg.norm(exact - approximate) / max(np.linalg.norm(exact), np.finfo(np.float64).tiny))
