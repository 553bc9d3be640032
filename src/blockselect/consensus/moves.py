"""Node moves: each node to the block with the largest likelihood, one at a time; the objective never falls.

Compiled (Numba), since a move changes what the next one gains, so that moves cannot be made as array operations. Two
things keep a visit cheap. Links of a node are summed by block from its neighbours. What a feature gains by one more
node in a block depends on the feature and the block alone where all its non-zero values are equal, as those of binary
features are: it is kept in a table, so that a visit adds numbers and takes no logarithm for each value. Where values
differ, the table holds the gain of a mean value, and the move it suggests is made only if its exact gain is positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from blockselect.arrays import BoolArray, FloatArray, IntArray

_TINY = float(np.finfo(np.float64).tiny)


class Links(NamedTuple):
    """A graph: CSR, weights as counts, without zeros."""

    indptr: IntArray  # (n + 1,)
    indices: IntArray
    weights: FloatArray
    loops: FloatArray  # (n,) weight of each node's self-loop
    degrees: FloatArray  # (n,)


class Counts(NamedTuple):
    """Features: CSR, without zeros."""

    indptr: IntArray  # (n + 1,)
    indices: IntArray
    values: FloatArray
    totals: FloatArray  # (n,) of all features
    typical: FloatArray  # (m,) mean of the non-zero values of each feature
    equal: bool  # whether the non-zero values of each feature are all the same


class Rates(NamedTuple):
    """What a sweep keeps of the features in use, by block."""

    rows: IntArray  # (m,) row of each feature below, −1 where it is not in use
    sums: FloatArray  # (u, k) of each feature in each block
    join: FloatArray  # (u, k) gain, before exposure, of one more typical value
    leave: FloatArray  # (u, k) of one less
    of_node: FloatArray  # (n,) sum of each node's features in use
    of_block: FloatArray  # (k,) the same by block
    totals: FloatArray  # (k,) of all features


@njit(cache=True, nogil=True, inline="always")
def _xlogx(x: float) -> float:
    return x * np.log(x) if x > _TINY else 0.0


@njit(cache=True, nogil=True)
def sums_by_block(counts: Counts, labels: IntArray, n_features: int, n_blocks: int) -> FloatArray:
    """Sum of each feature in each block: (m, k)."""
    sums = np.zeros((n_features, n_blocks))
    for node in range(len(labels)):
        block = labels[node]
        for at in range(counts.indptr[node], counts.indptr[node + 1]):
            sums[counts.indices[at], block] += counts.values[at]
    return sums


@njit(cache=True, nogil=True)
def weights_by_block(links: Links, labels: IntArray, n_blocks: int) -> FloatArray:
    """Link weight of each pair of blocks, Fᵀ A F: (k, k)."""
    weights = np.zeros((n_blocks, n_blocks))
    for node in range(len(labels)):
        block = labels[node]
        for at in range(links.indptr[node], links.indptr[node + 1]):
            weights[block, labels[links.indices[at]]] += links.weights[at]
    return weights


@njit(cache=True, nogil=True)
def rates_of(counts: Counts, labels: IntArray, sums: FloatArray, in_use: BoolArray) -> Rates:
    """What a sweep needs of the features in use, from the sums of all features by block (m, k)."""
    n_features, k = sums.shape
    rows = np.full(n_features, -1, dtype=np.int64)
    n_rows = 0
    for feature in range(n_features):
        if in_use[feature]:
            rows[feature] = n_rows
            n_rows += 1
    kept = np.empty((n_rows, k))
    join = np.empty((n_rows, k))
    leave = np.empty((n_rows, k))
    for feature in range(n_features):
        row = rows[feature]
        if row >= 0:
            kept[row] = sums[feature]
            for block in range(k):
                _renew(kept, join, leave, row, block, counts.typical[feature])
    of_node, of_block, totals = np.zeros(len(labels)), np.zeros(k), np.zeros(k)
    for node in range(len(labels)):
        for at in range(counts.indptr[node], counts.indptr[node + 1]):
            if rows[counts.indices[at]] >= 0:
                of_node[node] += counts.values[at]
        of_block[labels[node]] += of_node[node]
        totals[labels[node]] += counts.totals[node]
    return Rates(rows, kept, join, leave, of_node, of_block, totals)


@njit(cache=True, nogil=True, inline="always")
def _renew(sums: FloatArray, join: FloatArray, leave: FloatArray, row: int, block: int, typical: float) -> None:
    """The table entries of one feature in one block, after its sum changed."""
    base = _xlogx(sums[row, block])
    join[row, block] = _xlogx(sums[row, block] + typical) - base
    leave[row, block] = _xlogx(sums[row, block] - typical) - base


@njit(cache=True, nogil=True)
def sweep(
    labels: IntArray,
    order: IntArray,
    links: Links,
    weights: FloatArray,
    counts: Counts,
    rates: Rates,
    feature_weight: float,
    least_gain: float,
    exact: bool,
) -> int:
    """Visit nodes in the given order and move each to its best block; returns how many moved.

    `labels`, `weights` (Fᵀ A F) and `rates` are changed in place. A move is made only if it gains more than
    `least_gain`, which is rounding. A block's last node stays. `exact` takes logarithms for every value instead of the
    tables, for features whose values differ.
    """
    k = len(weights)
    sizes = np.bincount(labels, minlength=k)
    block_degrees = weights.sum(axis=1)
    to_blocks, gains, of_features = np.empty(k), np.empty(k), np.empty(k)
    n_moves = 0
    for node in order:
        old = labels[node]
        if sizes[old] == 1:
            continue
        _sum_links(links, labels, node, to_blocks)
        _link_gains(gains, weights, block_degrees, to_blocks, old, links.loops[node], links.degrees[node])
        if feature_weight > 0:
            _feature_gains(of_features, counts, rates, node, old, exact)
            for block in range(k):
                gains[block] += feature_weight * of_features[block]
        gains[old] = 0.0
        new = int(np.argmax(gains))
        gain = gains[new]
        if gain > least_gain and feature_weight > 0 and not (exact or counts.equal):
            gain += feature_weight * _correction(counts, rates, node, old, new)
        if new == old or gain <= least_gain:
            continue
        _move_links(weights, block_degrees, to_blocks, old, new, links.loops[node], links.degrees[node])
        _move_features(counts, rates, node, old, new)
        labels[node] = new
        sizes[old] -= 1
        sizes[new] += 1
        n_moves += 1
    return n_moves


@njit(cache=True, nogil=True, inline="always")
def _sum_links(links: Links, labels: IntArray, node: int, to_blocks: FloatArray) -> None:
    """Link weight of a node to each block, without its self-loop."""
    to_blocks[:] = 0.0
    for at in range(links.indptr[node], links.indptr[node + 1]):
        neighbour = links.indices[at]
        if neighbour != node:
            to_blocks[labels[neighbour]] += links.weights[at]


@njit(cache=True, nogil=True, inline="always")
def _link_gains(
    gains: FloatArray, w: FloatArray, e: FloatArray, to_blocks: FloatArray, old: int, loop: float, degree: float
) -> None:
    """Change of ½ Σ w_ab log w_ab − Σ e_a log e_a by moving the node to each block; block pairs without a link of the
    node do not change."""
    k = len(w)
    own = to_blocks[old]
    leave = 0.0  # pairs of the old block with all others
    for c in range(k):
        if c != old and to_blocks[c] > 0:
            leave += _xlogx(w[old, c] - to_blocks[c]) - _xlogx(w[old, c])
    within_old = 0.5 * (_xlogx(w[old, old] - 2 * own - loop) - _xlogx(w[old, old]))
    degree_old = _xlogx(e[old] - degree) - _xlogx(e[old])
    for new in range(k):
        if new == old:
            continue
        there = to_blocks[new]
        gain = leave + within_old + 0.5 * (_xlogx(w[new, new] + 2 * there + loop) - _xlogx(w[new, new]))
        if there > 0:
            gain -= _xlogx(w[old, new] - there) - _xlogx(w[old, new])
        for c in range(k):
            if c != old and c != new and to_blocks[c] > 0:
                gain += _xlogx(w[new, c] + to_blocks[c]) - _xlogx(w[new, c])
        gain += _xlogx(w[old, new] - there + own) - _xlogx(w[old, new])
        gains[new] = gain - degree_old - _xlogx(e[new] + degree) + _xlogx(e[new])


@njit(cache=True, nogil=True, inline="always")
def _feature_gains(gains: FloatArray, counts: Counts, rates: Rates, node: int, old: int, exact: bool) -> None:
    """Change of Σ_l Σ_a s_la log (s_la / t_a) by moving the node to each block."""
    k = len(gains)
    gains[:] = 0.0
    leave = 0.0
    for at in range(counts.indptr[node], counts.indptr[node + 1]):
        row = rates.rows[counts.indices[at]]
        if row < 0:
            continue
        if exact:
            x = counts.values[at]
            leave += _xlogx(rates.sums[row, old] - x) - _xlogx(rates.sums[row, old])
            for block in range(k):
                gains[block] += _xlogx(rates.sums[row, block] + x) - _xlogx(rates.sums[row, block])
        elif counts.equal:
            leave += rates.leave[row, old]
            for block in range(k):
                gains[block] += rates.join[row, block]
        else:
            share = counts.values[at] / counts.typical[counts.indices[at]]
            leave += share * rates.leave[row, old]
            for block in range(k):
                gains[block] += share * rates.join[row, block]
    z, t = rates.of_block, rates.totals
    z_node, t_node = rates.of_node[node], counts.totals[node]
    leave -= _weighted_log(z[old] - z_node, t[old] - t_node) - _weighted_log(z[old], t[old])
    for block in range(k):
        exposure = _weighted_log(z[block] + z_node, t[block] + t_node) - _weighted_log(z[block], t[block])
        gains[block] += leave - exposure


@njit(cache=True, nogil=True, inline="always")
def _weighted_log(weight: float, x: float) -> float:
    """weight · log x, 0 where the weight is, and finite where x is 0 but for rounding."""
    return weight * np.log(max(x, _TINY)) if weight > 0 else 0.0


@njit(cache=True, nogil=True, inline="always")
def _correction(counts: Counts, rates: Rates, node: int, old: int, new: int) -> float:
    """Exact gain of one move by the features, less that by the tables."""
    difference = 0.0
    for at in range(counts.indptr[node], counts.indptr[node + 1]):
        feature, x = counts.indices[at], counts.values[at]
        row = rates.rows[feature]
        if row < 0:
            continue
        difference += _xlogx(rates.sums[row, old] - x) - _xlogx(rates.sums[row, old])
        difference += _xlogx(rates.sums[row, new] + x) - _xlogx(rates.sums[row, new])
        difference -= x / counts.typical[feature] * (rates.leave[row, old] + rates.join[row, new])
    return difference


@njit(cache=True, nogil=True, inline="always")
def _move_links(
    w: FloatArray, e: FloatArray, to_blocks: FloatArray, old: int, new: int, loop: float, degree: float
) -> None:
    for block in range(len(w)):
        w[old, block] -= to_blocks[block]
        w[block, old] -= to_blocks[block]
        w[new, block] += to_blocks[block]
        w[block, new] += to_blocks[block]
    w[old, old] -= loop
    w[new, new] += loop
    e[old] -= degree
    e[new] += degree


@njit(cache=True, nogil=True, inline="always")
def _move_features(counts: Counts, rates: Rates, node: int, old: int, new: int) -> None:
    rates.of_block[old] -= rates.of_node[node]
    rates.of_block[new] += rates.of_node[node]
    rates.totals[old] -= counts.totals[node]
    rates.totals[new] += counts.totals[node]
    for at in range(counts.indptr[node], counts.indptr[node + 1]):
        feature, x = counts.indices[at], counts.values[at]
        row = rates.rows[feature]
        if row < 0:
            continue
        rates.sums[row, old] -= x
        rates.sums[row, new] += x
        _renew(rates.sums, rates.join, rates.leave, row, old, counts.typical[feature])
        _renew(rates.sums, rates.join, rates.leave, row, new, counts.typical[feature])
