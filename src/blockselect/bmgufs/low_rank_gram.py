"""The squared Gram matrix of low rank: the only approximate form of it, for features that no exact form has room for.

Y ≈ U Σ Vᵀ, Z = V Σ (m, q), and (W r)_l ≈ z_lᵀ (Zᵀ diag(r) Z) z_l + (W_ll − ‖z_l‖⁴) r_l. It takes m (q + 1) numbers. The
diagonal is exact: it is the largest entry of each row, and what a low rank loses of it is the feature's own part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from blockselect.arrays import Array, Features, FloatArray
from blockselect.graphs.row_sums import (
    OVERSAMPLES,
    copy_bytes,
    gram_rows,
    gram_times_bytes,
    principal_factor,
    squared_lengths,
    sum_over_rows,
)

RANKS = (64, 128, 256, 512)  # tried in this order, until the error is small enough
MAX_ERROR = 0.02  # of W r, relatively, for uniform r, on sampled features
_ERROR_SAMPLE = 64  # features
_WORTH = 0.8  # of the error with half the rank: if more is left, the larger rank is not worth its time
_COPIES = 5  # arrays of its size that a factor takes on the way


@dataclass(frozen=True, slots=True, eq=False)
class LowRankGramSquared:
    """Held as Z with YᵀY ≈ Z Zᵀ, and what that leaves of the diagonal."""

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


def low_rank_gram_squared(
    features: Features, *, rank: int | None = None, dtype: Any = np.float64, memory_limit: float | None = None
) -> LowRankGramSquared:
    """The form of low rank; by default of the smallest rank tried that keeps W r within 2 %, on sampled features.

    A product takes 4 m q² multiplications, so that twice the rank makes a descent four times as long: the first rank
    tried is 64, and where twice the rank hardly lowers the error, the spectrum is flat, and the smaller one is kept.
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
    """What a low rank takes at most while it is made."""
    n, m = features.shape
    width = min(min(rank, n) + OVERSAMPLES, m)
    factors = float(_COPIES * m * width * dtype.itemsize)
    return factors + copy_bytes(features, dtype) + gram_times_bytes(features, width, dtype)


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
