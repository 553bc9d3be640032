"""GramSquared: the elementwise square of the Gram matrix of the features, as an operator (paper: (YᵀY)∘²).

It depends on neither the blocks nor the scores, so one matrix serves all solves on a data set. It has one of three
forms, chosen by cost and by a limit on memory:

- dense (m, m): the fastest product if many features occur together;
- sparse: without zeros, if few features occur together or the dense form is large;
- low rank, the only approximate one: see `LowRankGramSquared`.

No second array as large as an exact form is allocated, and the memory it takes is known in advance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from scipy import sparse

from blockselect.bmgufs.gram_sums import (
    IN_SPARSE_SUM,
    OVERSAMPLES,
    SLAB_BYTES,
    dense_square,
    gram_rows,
    meeting_counts,
    pair_counts,
    principal_factor,
    quicker_by_pairs,
    sparse_square,
)
from blockselect.rows.sums import in_memory, squared_lengths, sum_over_rows
from blockselect.utils.arrays import Array, Features, FloatArray, Sparse
from blockselect.utils.errors import ParameterError, memory_for

_ROWS = 256  # rows of the sparse matrix that are counted at once
_ROW_BYTES = 64  # bytes of working memory per row
_IN_DENSE_SUM = 3  # dense matrices that a sum over row chunks keeps at once
_SPARSE_BELOW = 0.1  # non-zeros of the Gram matrix below which its product with scores is faster (benchmarks/gram.py)
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

    def apply(self, scores: Array) -> Array:
        """Scores (b, m) → scores @ W (b, m), in the scores' own array namespace."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseGramSquared:
    """Stored as one array."""

    values: Array  # (m, m)

    def apply(self, scores: Array) -> Array:
        if len(scores) == 1 and not is_torch_array(scores):  # W is symmetric; for a single row BLAS would copy it first
            return (self.values @ scores[0])[None, :]
        return scores @ self.values


@dataclass(frozen=True, slots=True, eq=False)
class SparseGramSquared:
    """Stored without zeros."""

    values: Any  # (m, m), scipy CSR or torch CSR

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
    limit, dtype = memory_limit or MEMORY_LIMIT, np.dtype(dtype)
    with memory_for(f"compute the {taken} squared Gram matrix, which memory_limit={limit:g} allows"):
        if taken == "dense":
            return DenseGramSquared(dense_square(features, dtype, n_jobs))
        if taken == "sparse":
            return SparseGramSquared(sparse_square(features, dtype, limit=limit))
        return low_rank_gram_squared(features, dtype=dtype, memory_limit=limit)


def choose_form(
    features: Features, *, dtype: Any = np.float64, memory_limit: float | None = None, on_device: bool = False
) -> GramChoice:
    """The exact form with the faster product, or the smaller form if the faster one takes more than a gibibyte.

    It has to fit into the limit, 8 GB by default, with its working memory; otherwise the other exact form is tried,
    and then the low-rank form. The size of the sparse form is estimated from a sample of the features; of features
    in memory, the non-zeros are counted before the form is chosen or all forms are refused. On a device the faster
    form is used at any size. Dense features have no sparse form.
    """
    dtype, m, limit = np.dtype(dtype), features.shape[1], memory_limit or MEMORY_LIMIT
    share = _share_of_nonzeros(features)
    needed: dict[Form, float] = {"dense": dense_bytes(features, dtype)}
    order: list[Form] = ["dense"]
    if not isinstance(features, np.ndarray):
        needed["sparse"] = sparse_bytes(features, share * m * m, dtype)
        order = ["sparse", "dense"] if share < _SPARSE_BELOW else ["dense", "sparse"]
    reason = f"{share:.0%} of the feature pairs occur together, and it fits into memory"
    fastest, smallest = order[0], min(order, key=lambda form: needed[form])
    if needed[fastest] > max(_SPACIOUS, needed[smallest]) and not on_device:
        reason = f"the {fastest} form takes {_in_words(needed[fastest])}, more than the {smallest} one"
        order.reverse()
    for form in order:
        if form == "sparse" and needed[form] <= limit and sparse.issparse(features):
            needed[form] = sparse_bytes(features, float(count_nonzeros(features)), dtype)
        if needed[form] <= limit:
            return GramChoice(form, reason)
        reason = f"the {form} form takes {_in_words(needed[form])}, over memory_limit ({_in_words(limit)})"
    needed["low rank"] = low_rank_bytes(features, RANKS[0], dtype)
    if needed["low rank"] > limit:
        if sparse.issparse(features) and needed["sparse"] < needed["low rank"]:  # this may be an estimate
            needed["sparse"] = sparse_bytes(features, float(count_nonzeros(features)), dtype)
            if needed["sparse"] <= limit:
                return GramChoice("sparse", f"no other form fits into memory_limit ({_in_words(limit)})")
        raise ParameterError(
            "memory_limit",
            f"is {_in_words(limit)} but the squared Gram matrix of {m} features takes at least "
            f"{_in_words(_rounded_up(min(needed.values())))}; raise it, compute in float32, or remove features first, "
            "for example by variance.",
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
    if not in_memory(features):
        return _IN_DENSE_SUM * matrix + 3 * min(SLAB_BYTES, matrix)
    if quicker_by_pairs(features):
        return matrix + _bytes_by_column(features, dtype)
    n, m = features.shape
    return float(matrix + _copy_bytes(features, dtype) + 2.0 * min(SLAB_BYTES, n * m * dtype.itemsize))


def sparse_bytes(features: Features, n_nonzeros: float, dtype: np.dtype[Any]) -> float:
    """Most memory, in bytes, for computing the sparse form with this number of non-zeros."""
    m = features.shape[1]
    index_bytes = 4 if n_nonzeros <= np.iinfo(np.int32).max else 8
    matrix = n_nonzeros * (dtype.itemsize + index_bytes) + float(_ROW_BYTES * m)
    if not in_memory(features):
        return IN_SPARSE_SUM * matrix
    return matrix + _bytes_by_column(features, dtype)


def count_nonzeros(features: Sparse) -> int:
    """Number of non-zeros of YᵀY: ordered pairs of features that occur together, each with itself included."""
    ones = np.ones(features.nnz, dtype=np.float32)
    pattern = sparse.csr_array((ones, features.indices, features.indptr), shape=features.shape)
    by_feature = sparse.csr_array(pattern.T)
    return sum((by_feature[start : start + _ROWS] @ pattern).nnz for start in range(0, features.shape[1], _ROWS))


def _bytes_by_column(features: Sparse, dtype: np.dtype[Any]) -> float:
    """Memory of the features by column, and by row with sorted indices, besides the features themselves."""
    by_column = features.nnz * (dtype.itemsize + features.indices.itemsize) + float(_ROW_BYTES * sum(features.shape))
    return float(by_column * (1 if features.has_sorted_indices else 2) + _copy_bytes(features, dtype))


def low_rank_bytes(features: Features, rank: int, dtype: np.dtype[Any]) -> float:
    """Most memory, in bytes, for computing a low-rank form."""
    n, m = features.shape
    width = min(min(rank, n) + OVERSAMPLES, m)
    factors = float(_COPIES * m * width * dtype.itemsize)
    rows = getattr(features, "nnz", 0) * (dtype.itemsize + 8.0) + n * width * dtype.itemsize
    return factors + _copy_bytes(features, dtype) + float(min(3 * SLAB_BYTES, rows))


def _copy_bytes(features: Features, dtype: np.dtype[Any]) -> float:
    """Bytes of a copy of the features in this float type; 0 if they have this type, or come in chunks."""
    if not in_memory(features) or features.dtype == dtype:
        return 0.0
    if sparse.issparse(features):
        return float(features.nnz * (dtype.itemsize + features.indices.itemsize) + features.indptr.nbytes)
    return float(features.size * dtype.itemsize)


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
