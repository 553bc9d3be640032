"""merge_blocks: the tree of the blocks, from pairwise mergers, and its levels from fine to coarse.

Each merger reduces the log-likelihood of the links in the degree-corrected block model,

    L = ½ Σ_ab w_ab log w_ab − Σ_a e_a log e_a + constant,

where w_ab is the link weight between blocks a and b, and e_a the sum of the degrees in block a. The two blocks whose
merger reduces it least are merged first. Blocks with hardly any links to other blocks would be merged arbitrarily, so
the log-likelihood of the features is added: Σ_l s_la log s_la − S_a log t_a for each block, where s_la is the sum of
feature l in block a, S_a the sum over the features in use, and t_a the total of all features in the block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blockselect.blockmodels.model import BlockModel
from blockselect.utils.arrays import FloatArray, IntArray

_TINY = float(np.finfo(np.float64).tiny)
_TIE = 1e-9  # relative difference below which the losses of two mergers count as equal
_FEWEST = 3  # smallest number of blocks of the coarsest level
COARSE = 9  # number of groups in the coarse level, if a level is close to it


@dataclass(frozen=True, slots=True, eq=False)
class BlockTree:
    """A block model and the tree of its blocks."""

    model: BlockModel
    linkage: FloatArray  # (k − 1, 4) see `merge_blocks`
    gains: FloatArray  # (m,) log-likelihood gain of each feature from the blocks, in nats, without penalty


def xlogx(x: Any) -> Any:
    """x log x; 0 (up to 1e-305) at 0 and for negative numbers, which are rounding errors."""
    positive = np.maximum(x, _TINY)
    return positive * np.log(positive)


def merge_blocks(weights: FloatArray, sizes: IntArray, sums: FloatArray, totals: FloatArray) -> FloatArray:
    """Merge two blocks at a time until one is left, always the two whose merger loses least log-likelihood.

    Among mergers whose losses are equal up to rounding, the one of the smallest blocks comes first.

    Parameters
    ----------
    weights : array of shape (k, k)
        Link weight between each pair of blocks, in units of one link; each link is counted from both ends.
    sizes : array of shape (k,)
        Number of nodes in each block.
    sums : array of shape (m, k)
        Sum of each feature in each block; without features, m is 0.
    totals : array of shape (k,)
        Total of all features in each block.

    Returns
    -------
    array of shape (k − 1, 4)
        A linkage matrix in the format of :mod:`scipy.cluster.hierarchy`: the numbers of the two merged blocks, the
        log-likelihood (nats) lost in this and all earlier mergers, and how many of the k blocks are merged. Step i
        creates block k + i.
    """
    k = len(weights)
    merging = _Merging(weights, sums, totals)
    number, n_leaves, n_nodes = list(range(k)), [1] * k, sizes.astype(np.float64)
    linkage, lost = np.zeros((k - 1, 4)), 0.0
    for step in range(k - 1):
        loss = merging.losses()
        first, second = _smallest(loss, n_nodes)
        lost += max(float(loss[first, second]), 0.0)
        n_nodes[first] += n_nodes[second]
        n_leaves[first] += n_leaves[second]
        linkage[step] = *sorted((number[first], number[second])), lost, n_leaves[first]
        number[first] = k + step
        merging.merge(first, second)
        n_nodes = np.delete(n_nodes, second)
        del number[second], n_leaves[second]
    return linkage


def groups_at(linkage: FloatArray, n_groups: int) -> IntArray:
    """The group of each block if the blocks are merged into `n_groups` groups, numbered by their first block: (k,)."""
    k = len(linkage) + 1
    members = {block: [block] for block in range(k)}
    for step, (first, second) in enumerate(linkage[: k - n_groups, :2].astype(int)):
        members[k + step] = members.pop(first) + members.pop(second)
    groups = np.empty(k, dtype=np.intp)
    for number, blocks in enumerate(sorted(members.values(), key=min)):
        groups[blocks] = number
    return groups


def numbers_of_groups(n_blocks: int) -> list[int]:
    """Number of groups at each level: all blocks, half as many, a quarter, …, but at least three."""
    numbers = [n_blocks]
    while numbers[-1] // 2 >= _FEWEST:
        numbers.append(numbers[-1] // 2)
    return numbers


def coarse_level(n_blocks: int) -> int:
    """Number of groups at the coarse level: about nine, and smaller than the number of blocks if possible."""
    finest, *coarser = numbers_of_groups(n_blocks)
    return min(coarser[::-1] or [finest], key=lambda number: abs(number - COARSE))


def leaf_order(linkage: FloatArray, sizes: IntArray) -> IntArray:
    """The order of the blocks along the tree: branches with more nodes first, then those with the lowest block."""
    k = len(linkage) + 1
    branches = {block: (-int(size), block, [block]) for block, size in enumerate(sizes)}
    for step, (first, second) in enumerate(linkage[:, :2].astype(int)):
        one, two = sorted((branches.pop(first), branches.pop(second)))
        branches[k + step] = (one[0] + two[0], min(one[1], two[1]), one[2] + two[2])
    return np.array(branches[2 * k - 2][2] if k > 1 else [0], dtype=np.intp)


def renumber_leaves(linkage: FloatArray, order: IntArray) -> FloatArray:
    """The tree if block order[i] gets number i; branches are sorted too, so that SciPy draws them in this order."""
    k = len(order)
    numbers = np.arange(2 * k - 1)
    numbers[order] = np.arange(k)
    first_leaf = np.arange(2 * k - 1)
    renumbered = linkage.copy()
    for step, pair in enumerate(numbers[linkage[:, :2].astype(int)]):
        renumbered[step, :2] = pair[np.argsort(first_leaf[pair])]
        first_leaf[k + step] = first_leaf[pair].min()
    return renumbered


def _smallest(losses: FloatArray, n_nodes: FloatArray) -> tuple[int, int]:
    """The positions of the two blocks to merge, the lower one first."""
    first, second = np.triu_indices(len(losses), 1)
    loss = losses[first, second]
    scale = max(float(np.abs(loss).max()), _TINY)
    least = np.flatnonzero(loss <= loss.min() + _TIE * scale)
    best = least[np.argmin(n_nodes[first[least]] + n_nodes[second[least]])]
    return int(first[best]), int(second[best])


class _Merging:
    """The remaining blocks, and the log-likelihood that merging each pair of them would lose."""

    def __init__(self, weights: FloatArray, sums: FloatArray, totals: FloatArray) -> None:
        self._weights: FloatArray = weights.astype(np.float64)
        self._sums, self._totals = sums.T.copy(), totals.astype(np.float64)
        k = len(weights)
        self._by_links: FloatArray = np.array(
            [_joint(row, self._weights).sum(axis=1) for row in self._weights]
        )  # over all others
        self._gains = self._feature_gain(self._sums, self._totals)  # (k,)
        self._by_features: FloatArray = np.array([self._feature_losses(block) for block in range(k)])

    def losses(self) -> FloatArray:
        """Log-likelihood lost by merging each pair of blocks: (k, k); the diagonal has no meaning."""
        W = self._weights
        inside, degrees = W.diagonal(), W.sum(axis=1)
        with_others = self._by_links - _joint(inside[:, None], W) - _joint(W, inside[None, :])
        within = xlogx(inside[:, None] + inside + 2 * W) - xlogx(inside)[:, None] - xlogx(inside) - 2 * xlogx(W)
        change = with_others + within / 2 - _joint(degrees[:, None], degrees[None, :])
        losses: FloatArray = self._by_features - change
        return losses

    def merge(self, first: int, second: int) -> None:
        """Merge block `second` into block `first`."""
        for column in (first, second):
            self._by_links -= _joint(self._weights[:, column, None], self._weights[None, :, column])
        self._weights[first] += self._weights[second]
        self._weights[:, first] += self._weights[:, second]
        W = self._weights = _without(second, self._weights)
        self._by_links, self._by_features = _without(second, self._by_links), _without(second, self._by_features)
        self._by_links += _joint(W[:, first, None], W[None, :, first])
        self._by_links[first] = self._by_links[:, first] = _joint(W[first], W).sum(axis=1)
        self._sums[first] += self._sums[second]
        self._totals[first] += self._totals[second]
        self._sums, self._totals = np.delete(self._sums, second, axis=0), np.delete(self._totals, second)
        self._gains = np.delete(self._gains, second)
        self._gains[first] = self._feature_gain(self._sums[[first]], self._totals[[first]])[0]
        self._by_features[first] = self._by_features[:, first] = self._feature_losses(first)

    def _feature_losses(self, block: int) -> FloatArray:
        together = self._feature_gain(self._sums + self._sums[block], self._totals + self._totals[block])
        losses: FloatArray = self._gains + self._gains[block] - together
        return losses

    @staticmethod
    def _feature_gain(sums: FloatArray, totals: FloatArray) -> FloatArray:
        """Σ_l s_l log s_l − S log t for each block: (k,)."""
        gain: FloatArray = xlogx(sums).sum(axis=1) - sums.sum(axis=1) * np.log(np.maximum(totals, _TINY))
        return gain


def _without(block: int, matrix: FloatArray) -> FloatArray:
    """The matrix without the row and the column of a block."""
    return np.delete(np.delete(matrix, block, axis=0), block, axis=1)


def _joint(one: FloatArray, other: FloatArray) -> FloatArray:
    """(p + q) log(p + q) − p log p − q log q."""
    joint: FloatArray = xlogx(one + other) - xlogx(one) - xlogx(other)
    return joint
