"""The low-rank approximation of (YᵀY)∘², used if no exact form fits into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import linalg, sparse

from blockselect.bmgufs.gram_sums import SLAB_BYTES, copy_bytes, gram_rows, gram_times
from blockselect.rows.sums import squared_lengths, sum_over_rows
from blockselect.utils.arrays import Array, Features, FloatArray

RANKS = (64, 128, 256, 512)  # tried in this order until the error is small
_MAX_ERROR = 0.02  # relative error of W r for uniform r on sampled features
_ERROR_SAMPLE = 64  # number of features from which the error is estimated
_USEFUL = 0.8  # a larger rank is used only if it reduces the error to this fraction or less
_OVERSAMPLES = 10  # additional vectors of the range finder
_COPIES = 5  # arrays as large as the factor that are needed to compute it


@dataclass(frozen=True, slots=True, eq=False)
class LowRankGramSquared:
    """Stored as Z, where YᵀY ≈ Z Zᵀ, and the rest of the diagonal: (W r)_l ≈ z_lᵀ (Zᵀ diag(r) Z) z_l + rest_l r_l.

    This takes m (q + 1) numbers. The diagonal is stored exactly, because it contains the largest entry of each row.
    """

    values: Array  # (m, q) Z
    rest: Array  # (m,) W_ll − ‖z_l‖⁴, at least 0

    def apply(self, scores: Array) -> Array:
        xp = array_namespace(scores)
        Z = self.values
        products = [xp.sum((Z @ (Z.T @ (r[:, None] * Z))) * Z, axis=1) for r in scores]
        return xp.stack(products) + self.rest * scores


def low_rank_gram_squared(
    features: Features,
    *,
    rank: int | None = None,
    ranks: Sequence[int] = RANKS,
    dtype: Any = np.float64,
    memory_limit: float = np.inf,
) -> LowRankGramSquared:
    """Compute the low-rank form; by default with the smallest rank whose error of W r is at most 2 %.

    A product takes 4 m q² multiplications, so with twice the rank a descent takes four times as long. If doubling the
    rank hardly reduces the error, the spectrum is flat, and the smaller rank is kept.
    """
    full, dtype = min(features.shape), np.dtype(dtype)
    lengths = sum_over_rows(features, squared_lengths)
    if rank is not None:
        return _of_rank(features, min(rank, full), dtype, lengths)
    first, *larger = [q for q in ranks if low_rank_bytes(features, q, dtype) <= memory_limit] or ranks[:1]
    gram = _of_rank(features, min(first, full), dtype, lengths)
    if first >= full:
        return gram
    error = low_rank_error(features, gram)
    for q in larger:
        if error <= _MAX_ERROR or gram.values.shape[1] == full:
            break
        candidate = _of_rank(features, min(q, full), dtype, lengths)
        before, error = error, low_rank_error(features, candidate)
        if error > _USEFUL * before:
            break
        gram = candidate
    return gram


def low_rank_bytes(features: Features, rank: int, dtype: np.dtype[Any]) -> float:
    """Peak memory, in bytes, for computing a low-rank form."""
    n, m = features.shape
    width = min(min(rank, n) + _OVERSAMPLES, m)
    factors = float(_COPIES * m * width * dtype.itemsize)
    rows = getattr(features, "nnz", 0) * (dtype.itemsize + 8.0) + n * width * dtype.itemsize
    return factors + copy_bytes(features, dtype) + float(min(3 * SLAB_BYTES, rows))


def low_rank_error(features: Features, gram: LowRankGramSquared) -> float:
    """‖W r − W_q r‖ / ‖W r‖ for uniform r and a sample of evenly spaced features."""
    m, Z = features.shape[1], gram.values
    sample = np.unique(np.linspace(0, m - 1, min(m, _ERROR_SAMPLE)).astype(np.intp))
    part: Any = sum_over_rows(features, gram_rows, sample)
    exact = np.asarray(part.power(2).sum(axis=1) if sparse.issparse(part) else (part**2).sum(axis=1)).ravel()
    approximate = np.sum((Z[sample] @ (Z.T @ Z)) * Z[sample], axis=1) + gram.rest[sample]
    return float(np.linalg.norm(exact - approximate) / max(np.linalg.norm(exact), np.finfo(np.float64).tiny))


def _of_rank(features: Features, rank: int, dtype: np.dtype[Any], lengths: FloatArray) -> LowRankGramSquared:
    """The form with this rank; `lengths` are the squared lengths of the features, which give the diagonal."""
    Z = principal_factor(features, rank, dtype)
    kept = np.einsum("lq,lq->l", Z, Z, dtype=np.float64)
    return LowRankGramSquared(Z, np.maximum(lengths**2 - kept**2, 0.0).astype(dtype))


def principal_factor(features: Features, rank: int, dtype: np.dtype[Any]) -> FloatArray:
    """Z (m, q) with YᵀY ≈ Z Zᵀ, by a randomised range finder that reads the features three times.

    Let G = YᵀY, Ω random vectors, and V an orthonormal basis of G² Ω. The projection of Y on the range of Y V has the
    Gram matrix G V (Vᵀ G V)⁻¹ Vᵀ G, as in a randomised singular value decomposition with two power iterations.
    """
    m = features.shape[1]
    V = np.random.default_rng(0).standard_normal((m, min(rank + _OVERSAMPLES, m))).astype(dtype)
    for _ in range(2):
        # NumPy's QR needs four copies of its input, SciPy's at most two.
        V = linalg.qr(sum_over_rows(features, gram_times, V), mode="economic", check_finite=False)[0]
    product = sum_over_rows(features, gram_times, V)  # G V
    values, axes = np.linalg.eigh(V.T @ product)
    kept = values > values[-1] * len(values) * np.finfo(dtype).eps
    half = product @ (axes[:, kept] / np.sqrt(values[kept]))
    _, principal = np.linalg.eigh(half.T @ half)
    return np.ascontiguousarray(half @ principal[:, ::-1][:, :rank])
