"""Node moves: each node moves to the block with the largest likelihood, one node at a time.

The moves are compiled (Numba), because each move changes the gains of the next one, so array operations do not apply. A
visit takes few logarithms, however many blocks there are: tables contain the gain of one more link between two blocks,
and of one more value of a feature in a block. These tables show the few blocks that suit the node best, and the exact
gain is computed only for those. The best of them is the new block if its exact gain is positive.

Most nodes no longer move after the first rounds. A node whose best other block is worse by many nats is visited again
only after so many of its neighbours have moved that this might have changed.
"""

from __future__ import annotations

from logging import getLogger
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blockselect.arrays import BoolArray, FloatArray, IntArray
from blockselect.compiled import compiled

N_EXACT = 3  # other blocks whose exact gains are compared
# Rough bounds on the change of a gain, in nats: by one link to a neighbour that has moved, and by all other moves.
NATS_PER_LINK, SURE = 2.0, 4.0
_TINY = float(np.finfo(np.float64).tiny)


_log = getLogger("blockselect")


class Links(NamedTuple):
    """A graph: CSR, weights as counts, without zeros."""

    indptr: IntArray  # (n + 1,)
    indices: IntArray
    weights: FloatArray
    loops: FloatArray  # (n,) weight of each node's self-loop
    degrees: FloatArray  # (n,)


class Counts(NamedTuple):
    """Features of all nodes, or of the nodes in a chunk of rows: CSR, without zeros."""

    indptr: IntArray  # (rows + 1,)
    indices: IntArray
    values: FloatArray
    totals: FloatArray  # (rows,) of all features
    typical: FloatArray  # (m,) mean of the non-zero values of each feature
    equal: bool  # whether the non-zero values of each feature are all the same
    first: int = 0  # the node of the first row


class Tables(NamedTuple):
    """Sums of links and features in each block; a sweep keeps them up to date."""

    weights: FloatArray  # (k, k) of the links, Fᵀ A F
    sums: FloatArray  # (m, k) of each feature in each block
    entropies: FloatArray  # (m, k) s log s of these sums s
    join: FloatArray  # (m, k) change of s log s if a node with a typical value joins the block
    leave: FloatArray  # (m, k) the same if such a node leaves the block
    totals: FloatArray  # (k,) total of all features in each block


@compiled
def _xlogx(x: float) -> float:
    return x * log(x) if x > _TINY else 0.0


@compiled
def sweep(
    labels: IntArray,
    order: IntArray,
    slack: FloatArray,
    links: Links,
    counts: Counts,
    tables: Tables,
    in_use: BoolArray,
    least_gain: float,
) -> int:
    """Visit nodes in the given order and move each to its best block; returns how many moved.

    The nodes in `order` must be those of the rows of `counts`. `labels`, `tables` and `slack` are changed in place. A
    move is made only if it gains more than `least_gain`, the rounding error. The last node of a block stays. `slack`
    (n,) contains the nats by which the best other block of each node is worse, minus what moved neighbours may have
    changed. Only nodes with a slack of at most 0 are visited.
    """
    w, sums, entropies, join, leave, t = tables
    k = len(w)
    sizes, log_t = np.zeros(k), np.empty(k)
    e, log_e = np.zeros(k), np.empty(k)  # sum of the degrees in each block
    z = np.zeros(k)  # total in each block of the features in use
    for node in range(len(labels)):
        sizes[labels[node]] += 1
    for feature in range(len(in_use)):
        if in_use[feature]:
            for block in range(k):
                z[block] += sums[feature, block]
    more = np.empty((k, k))  # gain of one more link of each block pair
    for a in range(k):
        for b in range(k):
            more[a, b] = _xlogx(w[a, b] + 1.0) - _xlogx(w[a, b])
            e[a] += w[a, b]
        log_e[a], log_t[a] = log(max(e[a], _TINY)), log(max(t[a], _TINY))
    to_blocks, of_features, rough = np.zeros(k), np.empty(k), np.empty(k)
    near = np.empty(k, dtype=np.int64)  # blocks of the neighbours
    n_moves = 0
    for node in order:
        old = labels[node]
        if slack[node] > 0 or sizes[old] == 1:
            continue
        loop, degree, t_node = links.loops[node], links.degrees[node], counts.totals[node - counts.first]
        begin, end = counts.indptr[node - counts.first], counts.indptr[node - counts.first + 1]  # of its features
        # Links to each block, without the self-loop.
        n_near = 0
        for at in range(links.indptr[node], links.indptr[node + 1]):
            neighbour = links.indices[at]
            if neighbour != node:
                block = labels[neighbour]
                if to_blocks[block] == 0:
                    near[n_near] = block
                    n_near += 1
                to_blocks[block] += links.weights[at]
        # By the tables: features, then links.
        for block in range(k):
            of_features[block] = 0.0
        leave_features, z_node = 0.0, 0.0
        for at in range(begin, end):
            feature = counts.indices[at]
            if in_use[feature]:
                z_node += counts.values[at]
                if counts.equal:
                    leave_features += leave[feature, old]
                    for block in range(k):
                        of_features[block] += join[feature, block]
                else:
                    share = counts.values[at] / counts.typical[feature]
                    for block in range(k):
                        of_features[block] += share * join[feature, block]
        for block in range(k):
            exposure = z_node * log_t[block] + (z[block] + z_node) * t_node / max(t[block] + t_node, _TINY)
            own = degree * (log_e[block] + 0.5 * degree / max(e[block] + degree, _TINY))
            rough[block] = of_features[block] - exposure - own
        for place in range(n_near):
            weight = to_blocks[near[place]]
            for block in range(k):
                rough[block] += weight * more[near[place], block]
        # What leaving the old block changes, whatever the new one.
        left = _xlogx(e[old]) - _xlogx(e[old] - degree)
        left += 0.5 * (_xlogx(w[old, old] - 2 * to_blocks[old] - loop) - _xlogx(w[old, old]))
        for place in range(n_near):
            c = near[place]
            if c != old:
                left += _xlogx(w[old, c] - to_blocks[c]) - _xlogx(w[old, c])
        if not counts.equal:
            for at in range(begin, end):
                feature = counts.indices[at]
                if in_use[feature]:
                    leave_features += _xlogx(sums[feature, old] - counts.values[at]) - entropies[feature, old]
        leave_features -= _weighted_log(z[old] - z_node, t[old] - t_node) - _weighted_log(z[old], t[old])
        left += leave_features
        # Exact gains of the best few other blocks.
        rough[old] = -np.inf
        new, gain = old, -np.inf
        for _ in range(min(N_EXACT, k - 1)):
            s = 0
            for block in range(1, k):
                if rough[block] > rough[s]:
                    s = block
            rough[s] = -np.inf
            there = to_blocks[s]
            exact = left + _xlogx(e[s]) - _xlogx(e[s] + degree)
            exact += 0.5 * (_xlogx(w[s, s] + 2 * there + loop) - _xlogx(w[s, s]))
            exact += _xlogx(w[old, s] - there + to_blocks[old]) - _xlogx(w[old, s] - there)
            for place in range(n_near):
                c = near[place]
                if c != old and c != s:
                    exact += _xlogx(w[s, c] + to_blocks[c]) - _xlogx(w[s, c])
            features = of_features[s]
            if not counts.equal:
                features = 0.0
                for at in range(begin, end):
                    feature = counts.indices[at]
                    if in_use[feature]:
                        features += _xlogx(sums[feature, s] + counts.values[at]) - entropies[feature, s]
            exact += features - (_weighted_log(z[s] + z_node, t[s] + t_node) - _weighted_log(z[s], t[s]))
            if exact > gain:
                new, gain = s, exact
        slack[node] = -gain - SURE
        if gain > least_gain:
            for place in range(n_near):
                c = near[place]
                w[old, c] -= to_blocks[c]
                w[c, old] -= to_blocks[c]
                w[new, c] += to_blocks[c]
                w[c, new] += to_blocks[c]
            w[old, old] -= loop
            w[new, new] += loop
            for block in (old, new):
                for place in range(n_near):
                    c = near[place]
                    more[block, c] = more[c, block] = _xlogx(w[block, c] + 1.0) - _xlogx(w[block, c])
            e[old] -= degree
            e[new] += degree
            z[old] -= z_node
            z[new] += z_node
            t[old] -= t_node
            t[new] += t_node
            for at in range(begin, end):
                feature, x = counts.indices[at], counts.values[at]
                sums[feature, old] -= x
                sums[feature, new] += x
                if counts.equal:  # one more and then one less is what it was
                    entropies[feature, old] += leave[feature, old]
                    entropies[feature, new] += join[feature, new]
                    join[feature, old] = -leave[feature, old]
                    leave[feature, new] = -join[feature, new]
                    leave[feature, old] = _xlogx(sums[feature, old] - x) - entropies[feature, old]
                    join[feature, new] = _xlogx(sums[feature, new] + x) - entropies[feature, new]
                else:
                    for block in (old, new):
                        total, typical = sums[feature, block], counts.typical[feature]
                        entropies[feature, block] = _xlogx(total)
                        join[feature, block] = _xlogx(total + typical) - entropies[feature, block]
                        leave[feature, block] = _xlogx(total - typical) - entropies[feature, block]
            for block in (old, new):
                log_e[block], log_t[block] = log(max(e[block], _TINY)), log(max(t[block], _TINY))
            for at in range(links.indptr[node], links.indptr[node + 1]):
                slack[links.indices[at]] -= NATS_PER_LINK * links.weights[at]
            labels[node] = new
            sizes[old] -= 1
            sizes[new] += 1
            n_moves += 1
        for place in range(n_near):
            to_blocks[near[place]] = 0.0
    return n_moves


@compiled
def _weighted_log(weight: float, x: float) -> float:
    """weight · log x; 0 if the weight is 0, and finite if x is 0 up to rounding."""
    return weight * log(max(x, _TINY)) if weight > 0 else 0.0


def announce_compilation() -> None:
    """Log that the first sweep takes some seconds if no compiled version is stored."""
    folder = sweep.stats.cache_path
    if folder is not None and not any(Path(folder).glob("moves.sweep-*.nbi")) and not sweep.signatures:
        _log.info("compiling node moves, which takes a few seconds once; the result is kept in %s", folder)
