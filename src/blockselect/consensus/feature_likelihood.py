"""FeatureLikelihood: how much better blocks explain features than one rate does, and what moving a node changes.

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
from blockselect.consensus.link_likelihood import xlogx
from blockselect.graphs.convert import membership_matrix

_ROUNDING = 64 * np.finfo(np.float64).eps  # of the terms: a gain below that is none
_TINY = np.finfo(np.float64).tiny
_LEAST_DISPERSION = 1e-6  # a standard deviation of a thousandth of the mean: less is as good as constant


def in_units(features: Features) -> Features:
    """Each non-negative feature divided by the mean of its non-zero values, in double precision, dense or CSR as given.

    Zeros and ones stay as they are, and a feature's sum is the number of nodes that have it.
    """
    if not sparse.issparse(features):
        values: FloatArray = np.asarray(features, dtype=np.float64)
        return values / _means(values.sum(axis=0), np.count_nonzero(values, axis=0))
    scaled = sparse.csr_array(features, dtype=np.float64, copy=True)
    scaled.eliminate_zeros()
    n_holders = np.bincount(scaled.indices, minlength=scaled.shape[1])
    scaled.data /= _means(scaled.sum(axis=0), n_holders)[scaled.indices]
    return scaled


def _means(sums: FloatArray, n_holders: IntArray) -> FloatArray:
    """1 where nobody has the feature."""
    means: FloatArray = np.where(n_holders > 0, sums / np.maximum(n_holders, 1), 1.0)
    return means


def as_counts(features: Features) -> tuple[Sparse, FloatArray]:
    """Features in units in which they vary as Poisson counts do, (n, m), and each node's total of them, (n,).

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
    counts.data /= dispersions(counts, totals)[counts.indices]
    return counts, totals


def dispersions(counts: Sparse, totals: FloatArray) -> FloatArray:
    """Variance of each feature around its single rate, over its mean: φ_l = Σ_i (x_il − t_i c_l / T)² / c_l, (m,).

    Near 1 for rare features that are 0 or 1. Pearson's statistic would divide each square by its own mean, and is the
    same where totals are; where they differ, rare features of nodes with few features would seem to vary most. This is
    the one used here: it makes the gain of blocks drawn at random (k − 1) / 2 on average.
    """
    sums: FloatArray = counts.sum(axis=0)
    rates = sums / max(totals.sum(), _TINY)
    squares: FloatArray = counts.power(2).sum(axis=0)
    residual = squares - 2 * rates * (counts.T @ totals) + rates**2 * float(totals @ totals)
    floor = _LEAST_DISPERSION * np.maximum(sums, _TINY)
    varies: FloatArray = np.maximum(residual, floor) / np.maximum(sums, _TINY)
    return varies


def feature_gains(counts: Sparse, totals: FloatArray, labels: IntArray) -> FloatArray:
    """Log-likelihood of a rate for each block above that of a single rate, in nats, at least 0: (m,)."""
    F = membership_matrix(labels)
    sums = (F.T @ counts).toarray()  # (k, m)
    block_totals = np.maximum(F.T @ totals, _TINY)[:, None]  # (k, 1)
    column_sums = sums.sum(axis=0)  # (m,)
    by_block = (xlogx(sums) - xlogy(sums, block_totals)).sum(axis=0)
    single = xlogx(column_sums) - xlogy(column_sums, max(totals.sum(), _TINY))
    gains: FloatArray = by_block - single
    return np.where(gains > _ROUNDING * np.abs(single), gains, 0.0)


class FeatureLikelihood:
    """Log-likelihood gain of the features in use, under blocks that change one node at a time."""

    __slots__ = ("_block_totals", "_counts", "_sums", "_sums_log", "_taken_sums", "_taken_totals", "_totals")

    def __init__(self, counts: Sparse, totals: FloatArray, labels: IntArray) -> None:
        F = membership_matrix(labels)
        self._counts = counts  # (n, taken)
        self._totals = totals  # (n,) of all features, taken or not
        self._taken_totals: FloatArray = counts.sum(axis=1)  # (n,)
        self._sums: FloatArray = np.ascontiguousarray((F.T @ counts).toarray().T)  # (taken, k)
        self._sums_log: FloatArray = xlogx(self._sums)  # (taken, k) kept, as logarithms are most of the work
        self._taken_sums: FloatArray = self._sums.sum(axis=0)  # (k,)
        self._block_totals: FloatArray = F.T @ totals  # (k,)

    def gains(self, nodes: slice, labels: IntArray) -> FloatArray:
        """Gain in nats by moving each of some nodes, now in the blocks `labels`, to each block: (b, k)."""
        starts = self._counts.indptr[nodes.start : nodes.stop + 1]
        entries = slice(starts[0], starts[-1])
        values, columns = self._counts.data[entries], self._counts.indices[entries]
        blocks = np.repeat(labels, np.diff(starts))
        left = xlogx(self._sums[columns, blocks] - values) - self._sums_log[columns, blocks]
        change = xlogx(self._sums[columns] + values[:, None])  # (entries, k)
        change -= self._sums_log[columns]
        change += left[:, None]
        return _sum_rows(change, starts - starts[0]) - self._exposure_terms(nodes, labels)

    def _exposure_terms(self, nodes: slice, labels: IntArray) -> FloatArray:
        """Change of Σ_a (sum of the taken features in a) log (total of all features in a): (b, k)."""
        z, t = self._taken_sums, self._block_totals
        z_node, t_node = self._taken_totals[nodes], self._totals[nodes]
        joined = _weighted_log(z + z_node[:, None], t + t_node[:, None]) - _weighted_log(z, t)
        left = _weighted_log(z[labels] - z_node, t[labels] - t_node) - _weighted_log(z[labels], t[labels])
        terms: FloatArray = joined + left[:, None]
        return terms

    def move(self, node: int, old: int, new: int) -> None:
        """Follow a node from one block to another."""
        row = slice(*self._counts.indptr[node : node + 2])
        columns = self._counts.indices[row]
        for block, sign in ((old, -1), (new, 1)):
            sums = self._sums[columns, block] + sign * self._counts.data[row]
            self._sums[columns, block] = sums
            self._sums_log[columns, block] = xlogx(sums)
            self._taken_sums[block] += sign * self._taken_totals[node]
            self._block_totals[block] += sign * self._totals[node]


def _sum_rows(values: FloatArray, starts: IntArray) -> FloatArray:
    """Sums of the rows of `values` from each start up to the next: (b, k)."""
    if len(starts) == 2:  # one node, as in most calls: not worth a matrix
        return np.add.reduce(values, axis=0, keepdims=True)
    ones = sparse.csr_array(
        (np.ones(len(values)), np.arange(len(values)), starts), shape=(len(starts) - 1, len(values))
    )
    sums: FloatArray = ones @ values
    return sums


def _weighted_log(weight: FloatArray, x: FloatArray) -> FloatArray:
    """weight · log x, 0 where the weight is, and finite where x is 0 but for rounding."""
    product: FloatArray = np.maximum(weight, 0.0) * np.log(np.maximum(x, _TINY))
    return product
