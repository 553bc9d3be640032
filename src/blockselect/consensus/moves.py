"""Node moves: one after the other, nodes move to the block that gives the highest likelihood.

The moves are compiled with Numba, because each move changes the gains of the next one, which rules out array
operations. A visit to a node has three steps:

1. Score all blocks approximately. This takes few logarithms, however many blocks there are, because tables contain the
   gain from one more link between two blocks, and from one more value of a feature in a block.
2. Compute the exact gains of the few blocks with the highest scores, and choose the best of them.
3. If its gain is positive, move the node and update the tables.

After the first rounds, most nodes no longer move. A node whose best other block is many nats worse is visited again
only after enough of its neighbours have moved that another block may have become better.
"""

from __future__ import annotations

from logging import getLogger
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blockselect.consensus.likelihood import Counts, Links, Tables
from blockselect.utils.arrays import BoolArray, FloatArray, IntArray
from blockselect.utils.compiled import compiled, part_of_compiled

N_EXACT = 3  # number of other blocks whose exact gains are computed
# Approximate bounds on the change of a gain, in nats: per link to a neighbour that has moved, and from all other moves.
NATS_PER_LINK, NATS_BY_OTHERS = 2.0, 4.0
_TINY = float(np.finfo(np.float64).tiny)
_log = getLogger("blockselect")


class Rows(NamedTuple):
    """Features of all nodes, or of the nodes in a chunk of rows, as a CSR matrix without stored zeros."""

    indptr: IntArray  # (rows + 1,)
    indices: IntArray
    values: FloatArray
    first: int  # number of the node in the first row


class _Blocks(NamedTuple):
    """Quantities that follow from the labels and tables, kept up to date during a sweep; (k,) each unless noted."""

    sizes: FloatArray  # number of nodes
    degrees: FloatArray  # sum of the degrees
    log_degrees: FloatArray
    used_totals: FloatArray  # total of the features in use
    log_totals: FloatArray  # logarithm of the total of all features
    more: FloatArray  # (k, k) change of w log w from one more link between two blocks


class _Scores(NamedTuple):
    """Workspace of a visit: the node's links to each block, and the approximate score of each block; (k,) each."""

    links: FloatArray  # weight of the node's links to the block, without the self-loop; 0 between visits
    near: IntArray  # the first `n_near` entries are the blocks of the node's neighbours
    features: FloatArray  # change of s log s if the node's features join the block, from the tables
    rough: FloatArray  # approximate gain of joining the block, from the tables


class _State(NamedTuple):
    """Everything that a sweep reads and changes."""

    labels: IntArray  # (n,)
    links: Links
    counts: Counts
    in_use: BoolArray  # (m,) features that move nodes
    tables: Tables
    blocks: _Blocks
    scores: _Scores


class _Node(NamedTuple):
    """The node that is being visited."""

    block: int
    degree: float
    loop: float  # weight of its self-loop
    total: float  # sum of all its features
    used_total: float  # sum of its features in use
    begin: int  # its features are `rows.indices[begin:end]`
    end: int
    n_near: int  # number of different blocks among its neighbours
    leave: float  # change of s log s if its features leave the block, if `counts.equal`


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
    """Visit nodes in the given order and move each to its best block; return how many moved.

    `counts.matrix` must be of type `Rows` and contain the nodes in `order`. `labels`, `tables` and `slack` are changed
    in place. A node moves only if the gain exceeds `least_gain`, the rounding error. The last node of a block never
    moves. `slack` (n,) is a cautious estimate, in nats, of how much worse the best other block of each node is; moves
    of its neighbours reduce it. Only nodes with a slack of at most 0 are visited.
    """
    k = len(tables.weights)
    blocks = _blocks_of(labels, tables, in_use)
    scores = _Scores(np.zeros(k), np.empty(k, dtype=np.int64), np.empty(k), np.empty(k))
    state = _State(labels, links, counts, in_use, tables, blocks, scores)
    n_moves = 0
    for index in order:
        if slack[index] > 0 or blocks.sizes[labels[index]] == 1:
            continue
        node = _score(index, state)
        new, gain = _choose(node, state)
        slack[index] = -gain - NATS_BY_OTHERS
        if gain > least_gain:
            _move(node, new, state)
            for at in range(links.indptr[index], links.indptr[index + 1]):
                slack[links.indices[at]] -= NATS_PER_LINK * links.weights[at]
            labels[index] = new
            n_moves += 1
        for place in range(node.n_near):
            scores.links[scores.near[place]] = 0.0
    return n_moves


@compiled
def _blocks_of(labels: IntArray, tables: Tables, in_use: BoolArray) -> _Blocks:
    weights, sums, k = tables.weights, tables.sums, len(tables.weights)
    sizes, degrees, used_totals, more = np.zeros(k), np.zeros(k), np.zeros(k), np.empty((k, k))
    for node in range(len(labels)):
        sizes[labels[node]] += 1
    for feature in range(len(in_use)):
        if in_use[feature]:
            for block in range(k):
                used_totals[block] += sums[feature, block]
    for one in range(k):
        for two in range(k):
            more[one, two] = _xlogx(weights[one, two] + 1.0) - _xlogx(weights[one, two])
            degrees[one] += weights[one, two]
    blocks = _Blocks(sizes, degrees, np.empty(k), used_totals, np.empty(k), more)
    for block in range(k):
        _update_logs(block, tables, blocks)
    return blocks


@part_of_compiled
def _score(index: int, state: _State) -> _Node:
    """Look up a node; write its links to each block and its approximate gain from joining it to `state.scores`."""
    labels, links, counts, in_use, tables, blocks, scores = state
    rows, row, k, old = counts.matrix, index - counts.matrix.first, len(tables.weights), labels[index]
    to_blocks, near, by_features, rough = scores
    degree, total, begin, end = links.degrees[index], counts.totals[index], rows.indptr[row], rows.indptr[row + 1]
    n_near = 0
    for at in range(links.indptr[index], links.indptr[index + 1]):
        neighbour = links.indices[at]
        if neighbour != index:
            block = labels[neighbour]
            if to_blocks[block] == 0:
                near[n_near] = block
                n_near += 1
            to_blocks[block] += links.weights[at]
    for block in range(k):
        by_features[block] = 0.0
    used_total, leave, join = 0.0, 0.0, tables.join
    for at in range(begin, end):
        feature = rows.indices[at]
        if in_use[feature]:
            used_total += rows.values[at]
            if counts.equal:
                leave += tables.leave[feature, old]
                for block in range(k):
                    by_features[block] += join[feature, block]
            else:
                share = rows.values[at] / counts.typical[feature]
                for block in range(k):
                    by_features[block] += share * join[feature, block]
    for block in range(k):
        exposure = used_total * blocks.log_totals[block]
        exposure += (blocks.used_totals[block] + used_total) * total / max(tables.totals[block] + total, _TINY)
        own = degree * (blocks.log_degrees[block] + 0.5 * degree / max(blocks.degrees[block] + degree, _TINY))
        rough[block] = by_features[block] - exposure - own
    more = blocks.more
    for place in range(n_near):
        weight = to_blocks[near[place]]
        for block in range(k):
            rough[block] += weight * more[near[place], block]
    return _Node(old, degree, links.loops[index], total, used_total, begin, end, n_near, leave)


@part_of_compiled
def _choose(node: _Node, state: _State) -> tuple[int, float]:
    """The best of the few other blocks with the highest approximate scores, and the exact gain of moving there."""
    rough = state.scores.rough
    of_leaving = _gain_of_leaving(node, state)
    rough[node.block] = -np.inf
    best, gain = node.block, -np.inf
    for _ in range(min(N_EXACT, len(rough) - 1)):
        new = 0
        for block in range(1, len(rough)):
            if rough[block] > rough[new]:
                new = block
        rough[new] = -np.inf
        exact = _gain_of_joining(of_leaving, node, new, state)
        if exact > gain:
            best, gain = new, exact
    return best, gain


@part_of_compiled
def _gain_of_leaving(node: _Node, state: _State) -> float:
    """The part of the gain that does not depend on the new block: the gain from leaving the old block."""
    counts, tables, blocks, scores = state.counts, state.tables, state.blocks, state.scores
    old, w, to = node.block, tables.weights, scores.links
    gain = _xlogx(blocks.degrees[old]) - _xlogx(blocks.degrees[old] - node.degree)
    gain += 0.5 * (_xlogx(w[old, old] - 2 * to[old] - node.loop) - _xlogx(w[old, old]))
    for place in range(node.n_near):
        near = scores.near[place]
        if near != old:
            gain += _xlogx(w[old, near] - to[near]) - _xlogx(w[old, near])
    features = node.leave
    if not counts.equal:
        for at in range(node.begin, node.end):
            feature = counts.matrix.indices[at]
            if state.in_use[feature]:
                left = tables.sums[feature, old] - counts.matrix.values[at]
                features += _xlogx(left) - tables.s_log_s[feature, old]
    return gain + (features - _exposure(old, -node.used_total, -node.total, tables, blocks))


@part_of_compiled
def _gain_of_joining(gain: float, node: _Node, new: int, state: _State) -> float:
    """The gain of a whole move: `gain`, from leaving the old block, plus the gain from joining the new one."""
    counts, tables, blocks, scores = state.counts, state.tables, state.blocks, state.scores
    old, w, to = node.block, tables.weights, scores.links
    gain += _xlogx(blocks.degrees[new])
    gain -= _xlogx(blocks.degrees[new] + node.degree)
    gain += 0.5 * (_xlogx(w[new, new] + 2 * to[new] + node.loop) - _xlogx(w[new, new]))
    gain += _xlogx(w[old, new] - to[new] + to[old]) - _xlogx(w[old, new] - to[new])
    for place in range(node.n_near):
        near = scores.near[place]
        if near != old and near != new:
            gain += _xlogx(w[new, near] + to[near]) - _xlogx(w[new, near])
    features: float = scores.features[new]
    if not counts.equal:
        features = 0.0
        for at in range(node.begin, node.end):
            feature = counts.matrix.indices[at]
            if state.in_use[feature]:
                joined = tables.sums[feature, new] + counts.matrix.values[at]
                features += _xlogx(joined) - tables.s_log_s[feature, new]
    return gain + (features - _exposure(new, node.used_total, node.total, tables, blocks))


@part_of_compiled
def _exposure(block: int, used_total: float, total: float, tables: Tables, blocks: _Blocks) -> float:
    """Change of z log t of a block, with totals z of features in use and t of all, if they grow by these amounts."""
    z, t = blocks.used_totals[block], tables.totals[block]
    return _weighted_log(z + used_total, t + total) - _weighted_log(z, t)


@part_of_compiled
def _move(node: _Node, new: int, state: _State) -> None:
    """Update the tables and the blocks after a node has moved to a new block."""
    counts, tables, blocks, scores = state.counts, state.tables, state.blocks, state.scores
    old, w = node.block, tables.weights
    for place in range(node.n_near):
        near = scores.near[place]
        weight = scores.links[near]
        w[old, near] -= weight
        w[near, old] -= weight
        w[new, near] += weight
        w[near, new] += weight
    w[old, old] -= node.loop
    w[new, new] += node.loop
    for block, sign in ((old, -1.0), (new, 1.0)):
        for place in range(node.n_near):
            near = scores.near[place]
            blocks.more[block, near] = _xlogx(w[block, near] + 1.0) - _xlogx(w[block, near])
            blocks.more[near, block] = blocks.more[block, near]
        blocks.sizes[block] += sign
        blocks.degrees[block] += sign * node.degree
        blocks.used_totals[block] += sign * node.used_total
        tables.totals[block] += sign * node.total
        _update_logs(block, tables, blocks)
    for at in range(node.begin, node.end):
        _move_feature(counts.matrix.indices[at], counts.matrix.values[at], old, new, counts, tables)


@part_of_compiled
def _move_feature(feature: int, value: float, old: int, new: int, counts: Counts, tables: Tables) -> None:
    """Update the tables of one feature after a node with this value has moved."""
    sums, s_log_s, join, leave = tables.sums, tables.s_log_s, tables.join, tables.leave
    sums[feature, old] -= value
    sums[feature, new] += value
    if counts.equal:  # adding a value and removing it again cancel, which saves logarithms
        s_log_s[feature, old] += leave[feature, old]
        s_log_s[feature, new] += join[feature, new]
        join[feature, old] = -leave[feature, old]
        leave[feature, new] = -join[feature, new]
        leave[feature, old] = _xlogx(sums[feature, old] - value) - s_log_s[feature, old]
        join[feature, new] = _xlogx(sums[feature, new] + value) - s_log_s[feature, new]
        return
    typical = counts.typical[feature]
    for block in (old, new):
        s_log_s[feature, block] = _xlogx(sums[feature, block])
        join[feature, block] = _xlogx(sums[feature, block] + typical) - s_log_s[feature, block]
        leave[feature, block] = _xlogx(sums[feature, block] - typical) - s_log_s[feature, block]


@part_of_compiled
def _update_logs(block: int, tables: Tables, blocks: _Blocks) -> None:
    blocks.log_degrees[block] = log(max(blocks.degrees[block], _TINY))
    blocks.log_totals[block] = log(max(tables.totals[block], _TINY))


@part_of_compiled
def _xlogx(x: float) -> float:
    return x * log(x) if x > _TINY else 0.0


@part_of_compiled
def _weighted_log(weight: float, x: float) -> float:
    """weight · log x; 0 if the weight is 0, and finite if x is 0 up to rounding."""
    return weight * log(max(x, _TINY)) if weight > 0 else 0.0


def announce_compilation() -> None:
    """Log that the first sweep takes a few seconds, unless a compiled version is already stored."""
    folder = sweep.stats.cache_path
    if folder is not None and not any(Path(folder).glob("moves.sweep-*.nbi")) and not sweep.signatures:
        _log.info(
            "compiling node moves, which takes a few seconds the first time only; the result is kept in %s", folder
        )
