"""Features: how much better blocks explain them than one rate does.

A feature's values are counts whose means are a node's total of all features times a rate: one for each block, or one
for all nodes. With the rates at their best, blocks beat a single rate by Σ_a s_a log(s_a T / t_a c) nats: s_a is the
feature's sum in a block, c over all nodes, t_a the block's total of all features, T over all nodes. The totals are
given, so blocks need not separate nodes with many features from nodes with few.

Few features vary as Poisson counts do, so the gain is divided by a feature's overdispersion φ, its variance in units
of its mean (quasi-likelihood; Wedderburn, 1974). The gain is homogeneous in the feature's values, so we divide these.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.consensus.link_likelihood import weights_by_block, xlogx
from blockselect.consensus.moves import Counts, Links, Tables
from blockselect.graphs.statistics import in_units

_ROUNDING = 64 * np.finfo(np.float64).eps  # of the terms: a gain below that is none
_TINY = float(np.finfo(np.float64).tiny)
_EQUAL = 1e-9  # values that differ by less, relatively, are the same but for rounding
_LEAST_DISPERSION = 1e-6  # a standard deviation of a thousandth of the mean: less is as good as constant


def as_counts(features: Features) -> Counts:
    """Features in units in which they vary as Poisson counts do, and each node's total of them.

    A feature adds to the totals in units of the mean of its non-zero values: all features weigh the same there.
    """
    least = features.min() if features.shape[1] else 0.0
    if least < 0:
        raise ValueError(
            f"a feature is {least:g} for some node; the block likelihood reads features as counts: "
            "shift or split signed features so that they are ≥ 0."
        )
    counts = sparse.csr_array(in_units(features))
    totals: FloatArray = counts.sum(axis=1)
    equal = bool((np.abs(counts.data - 1) < _EQUAL).all())  # in units of their mean, equal values are 1
    units = 1 / dispersions(counts, totals)
    counts.data *= units[counts.indices]
    return Counts(
        counts.indptr.astype(np.int64, copy=False),
        counts.indices.astype(np.int32, copy=False),
        counts.data,
        totals,
        units,
        equal,
    )


def dispersions(counts: Sparse, totals: FloatArray) -> FloatArray:
    """Variance of each feature around its single rate, over its mean: φ_l = Σ_i (x_il − t_i c_l / T)² / c_l, (m,).

    Near 1 for rare features that are 0 or 1. Pearson's statistic would divide each square by its own mean, and is the
    same where totals are; where they differ, rare features of nodes with few features would seem to vary most. This is
    the one used here: it makes the gain of blocks drawn at random (k − 1) / 2 on average.
    """
    sums: FloatArray = counts.sum(axis=0)
    rates = sums / max(totals.sum(), _TINY)
    squares: FloatArray = counts.power(2).sum(axis=0)
    residual = squares - 2 * rates * (counts.T @ totals) + rates**2 * float(np.sum(totals**2))
    floor = _LEAST_DISPERSION * np.maximum(sums, _TINY)
    varies: FloatArray = np.maximum(residual, floor) / np.maximum(sums, _TINY)
    return varies


def sums_by_block(counts: Counts, labels: IntArray, n_blocks: int) -> FloatArray:
    """Sum of each feature in each block: (m, k)."""
    cells = counts.indices * np.int64(n_blocks) + np.repeat(labels, np.diff(counts.indptr))
    m = len(counts.typical)
    return np.bincount(cells, counts.values, minlength=m * n_blocks).astype(np.float64).reshape(m, n_blocks)


def block_tables(links: Links, counts: Counts, labels: IntArray) -> Tables:
    """What links and features sum up to in the blocks of these labels (n,)."""
    k = int(labels.max()) + 1
    totals: FloatArray = np.bincount(labels, counts.totals, minlength=k).astype(np.float64)
    sums, typical = sums_by_block(counts, labels, k), counts.typical[:, None]
    entropies = xlogx(sums)
    join, leave = xlogx(sums + typical) - entropies, xlogx(sums - typical) - entropies
    return Tables(weights_by_block(links, labels, k), sums, entropies, join, leave, totals)


def feature_gains(sums: FloatArray, block_totals: FloatArray, entropies: FloatArray | None = None) -> FloatArray:
    """Log-likelihood of a rate for each block above that of a single rate, in nats, at least 0: (m,).

    Parameters
    ----------
    sums : array of shape (m, k)
        Of each feature in each block.
    block_totals : array of shape (k,)
        Of all features in each block.
    entropies : array of shape (m, k), optional
        s log s of the sums, where they are known.
    """
    entropies = xlogx(sums) if entropies is None else entropies
    column_sums = sums.sum(axis=1)  # (m,)
    by_block = entropies.sum(axis=1) - (sums * np.log(np.maximum(block_totals, _TINY))).sum(axis=1)
    single = xlogx(column_sums) - column_sums * np.log(max(block_totals.sum(), _TINY))
    gains = by_block - single
    return np.where(gains > _ROUNDING * np.abs(single), gains, 0.0)


def gains_by_block(sums: FloatArray, block_totals: FloatArray) -> FloatArray:
    """What each block adds to the gain of each feature that is more frequent there than elsewhere: (m, k), ≥ 0.

    s_a log(s_a T / t_a c) where that is above 0: the terms of `feature_gains`, of blocks that the feature marks.
    """
    expected = np.outer(sums.sum(axis=1), block_totals) / max(block_totals.sum(), _TINY)
    terms: FloatArray = xlogy(sums, np.maximum(sums, _TINY) / np.maximum(expected, _TINY))
    return np.where(terms > _ROUNDING * sums, terms, 0.0)
