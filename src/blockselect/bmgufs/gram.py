"""GramSquared: the elementwise square of the Gram matrix of the features, as an operator (paper: (YᵀY)∘²).

It depends on neither the blocks nor the scores, so all solves on a data set share one matrix. It has one of three
forms, chosen for speed within a limit on memory:

- dense (m, m), with the fastest product if many features occur together;
- sparse, storing only the non-zeros, if few features occur together or the dense form is large;
- low rank, the only form that is an approximation (see `low_rank`).

Computing an exact form never allocates a second array of its size, and the memory needed is known in advance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from array_api_compat import is_torch_array
from scipy import sparse

from blockselect.bmgufs.gram_sums import (
    IN_SPARSE_SUM,
    SLAB_BYTES,
    copy_bytes,
    dense_square,
    meeting_counts,
    pair_counts,
    quicker_by_pairs,
    sparse_square,
)
from blockselect.bmgufs.low_rank import RANKS, LowRankGramSquared, low_rank_bytes, low_rank_gram_squared
from blockselect.rows.sums import in_memory, sum_over_rows
from blockselect.utils.arrays import Array, Features, Sparse
from blockselect.utils.errors import ParameterError, memory_for

MEMORY_LIMIT = 8e9  # bytes; the default on every machine
SPARSE_BELOW = 0.1  # share of non-zeros below which products of the sparse form are faster (benchmarks/gram.py)
_SPACIOUS = 2**30  # bytes up to which the faster form is used even if it is larger
_SAMPLE = 64  # columns from which the share of non-zeros is estimated
_ROW_BYTES = 64  # bytes of working memory per row
_IN_DENSE_SUM = 3  # dense matrices that a sum over row chunks keeps in memory at once

Form: TypeAlias = Literal["dense", "sparse", "low rank"]


class GramSquared(Protocol):
    """The symmetric matrix W (m, m), as the solver uses it."""

    def apply(self, scores: Array) -> Array:
        """Scores (b, m) @ W → (b, m), as an array of the same kind as the scores."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseGramSquared:
    """Stored as one array."""

    values: Array  # (m, m)

    def apply(self, scores: Array) -> Array:
        if len(scores) == 1 and not is_torch_array(scores):  # W is symmetric, and BLAS would copy it for a single row
            return (self.values @ scores[0])[None, :]
        return scores @ self.values


@dataclass(frozen=True, slots=True, eq=False)
class SparseGramSquared:
    """Stored without its zeros."""

    values: Any  # (m, m), scipy CSR or torch CSR

    def apply(self, scores: Array) -> Array:
        transposed = scores.T if is_torch_array(scores) else np.ascontiguousarray(scores.T)
        return (self.values @ transposed).T


def gram_squared(
    features: Features,
    *,
    form: Form | None = None,
    dtype: Any = np.float64,
    memory_limit: float = MEMORY_LIMIT,
    n_jobs: int | None = None,
) -> DenseGramSquared | SparseGramSquared | LowRankGramSquared:
    """Compute the elementwise square of the Gram matrix of the features, by default in the form from `choose_form`."""
    taken = form or choose_form(features, dtype=dtype, memory_limit=memory_limit).form
    dtype = np.dtype(dtype)
    with memory_for(f"compute the {taken} squared Gram matrix, which memory_limit={memory_limit:g} allows"):
        if taken == "dense":
            return DenseGramSquared(dense_square(features, dtype, n_jobs))
        if taken == "sparse":
            return SparseGramSquared(sparse_square(features, dtype, limit=memory_limit))
        return low_rank_gram_squared(features, dtype=dtype, memory_limit=memory_limit)


@dataclass(frozen=True, slots=True)
class GramChoice:
    """The form of the squared Gram matrix, and the reason for it."""

    form: Form
    reason: str


def choose_form(
    features: Features, *, dtype: Any = np.float64, memory_limit: float = MEMORY_LIMIT, on_device: bool = False
) -> GramChoice:
    """Choose the exact form with the faster product, or the smaller form if the faster one takes more than 1 GiB.

    The form must fit within the limit, including working memory; otherwise the other exact form is tried, and then the
    low-rank form. The size of the sparse form is estimated from a sample of the features. If the features are in
    memory, the non-zeros of the sparse form are counted before it is chosen and before all forms are rejected. On a
    device, the faster form is used at any size. Dense features have no sparse form.
    """
    dtype, m, share = np.dtype(dtype), features.shape[1], _share_of_nonzeros(features)
    needed: dict[Form, float] = {"dense": dense_bytes(features, dtype)}
    order: list[Form] = ["dense"]
    if not isinstance(features, np.ndarray):
        needed["sparse"] = sparse_bytes(features, share * m * m, dtype)
        order = ["sparse", "dense"] if share < SPARSE_BELOW else ["dense", "sparse"]
    reason = f"{share:.0%} of the feature pairs occur together, and it fits into memory"
    fastest, smallest = order[0], min(order, key=lambda form: needed[form])
    if needed[fastest] > max(_SPACIOUS, needed[smallest]) and not on_device:
        reason = f"the {fastest} form takes {_in_words(needed[fastest])}, more than the {smallest} one"
        order.reverse()
    for form in order:
        if form == "sparse" and needed[form] <= memory_limit and sparse.issparse(features):
            needed[form] = sparse_bytes(features, count_nonzeros(features), dtype)
        if needed[form] <= memory_limit:
            return GramChoice(form, reason)
        reason = f"the {form} form takes {_in_words(needed[form])}, over memory_limit ({_in_words(memory_limit)})"
    needed["low rank"] = low_rank_bytes(features, RANKS[0], dtype)
    if needed["low rank"] <= memory_limit:
        return GramChoice("low rank", reason)
    if sparse.issparse(features) and needed["sparse"] < needed["low rank"]:  # the former may be an estimate
        needed["sparse"] = sparse_bytes(features, count_nonzeros(features), dtype)
        if needed["sparse"] <= memory_limit:
            return GramChoice("sparse", f"no other form fits into memory_limit ({_in_words(memory_limit)})")
    raise ParameterError(
        "memory_limit",
        f"is {_in_words(memory_limit)} but the squared Gram matrix of {m} features takes at least "
        f"{_in_words(_rounded_up(min(needed.values())))}; raise it, compute in float32, or remove features first, "
        "for example by variance.",
    )


def _in_words(size: float) -> str:
    """A number of bytes as text, with two significant digits."""
    unit, name = next(((unit, name) for unit, name in ((1e9, "GB"), (1e6, "MB")) if size >= unit), (1e3, "kB"))
    return f"{float(f'{size / unit:.2g}'):g} {name}"


def _rounded_up(size: float) -> float:
    """The size rounded up to two significant digits, so that a limit of the size in the message is enough."""
    step = 10.0 ** (np.floor(np.log10(size)) - 1)
    return float(np.ceil(size / step) * step)


def _share_of_nonzeros(features: Features) -> float:
    """Share of non-zeros in the Gram matrix, estimated from a sample of rare and frequent features."""
    if isinstance(features, np.ndarray):
        return 1.0
    m = features.shape[1]
    most_first = np.argsort(-sum_over_rows(features, pair_counts), kind="stable")
    columns = np.sort(most_first[np.unique(np.linspace(0, m - 1, min(m, _SAMPLE)).astype(np.intp))])
    return float(sum_over_rows(features, meeting_counts, columns).nnz / (len(columns) * m))


def count_nonzeros(features: Sparse, rows_at_once: int = 256) -> int:
    """Number of non-zeros in YᵀY: ordered pairs of features that occur together, including each feature with itself."""
    ones = np.ones(features.nnz, dtype=np.float32)
    pattern = sparse.csr_array((ones, features.indices, features.indptr), shape=features.shape)
    by_feature = sparse.csr_array(pattern.T)
    starts = range(0, features.shape[1], rows_at_once)
    return sum((by_feature[start : start + rows_at_once] @ pattern).nnz for start in starts)


def dense_bytes(features: Features, dtype: np.dtype[Any]) -> float:
    """Peak memory, in bytes, for computing the dense form."""
    matrix: float = float(features.shape[1]) ** 2 * dtype.itemsize
    if not in_memory(features):
        return _IN_DENSE_SUM * matrix + 3 * min(SLAB_BYTES, matrix)
    if quicker_by_pairs(features):
        return matrix + _bytes_by_column(features, dtype)
    n, m = features.shape
    return float(matrix + copy_bytes(features, dtype) + 2.0 * min(SLAB_BYTES, n * m * dtype.itemsize))


def sparse_bytes(features: Features, n_nonzeros: float, dtype: np.dtype[Any]) -> float:
    """Peak memory, in bytes, for computing the sparse form with this number of non-zeros."""
    m = features.shape[1]
    index_bytes = 4 if n_nonzeros <= np.iinfo(np.int32).max else 8
    matrix = n_nonzeros * (dtype.itemsize + index_bytes) + float(_ROW_BYTES * m)
    if not in_memory(features):
        return IN_SPARSE_SUM * matrix
    return matrix + _bytes_by_column(features, dtype)


def _bytes_by_column(features: Sparse, dtype: np.dtype[Any]) -> float:
    """Memory, in bytes, for copies of the features by column and, if their indices are not sorted, by row."""
    by_column = features.nnz * (dtype.itemsize + features.indices.itemsize) + float(_ROW_BYTES * sum(features.shape))
    return float(by_column * (1 if features.has_sorted_indices else 2) + copy_bytes(features, dtype))
