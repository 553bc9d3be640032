"""Node moves: each node to the block with the largest likelihood, one at a time; the objective never falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from blockselect.arrays import FloatArray, IntArray

_CELLS = 2**20  # numbers in work at once while all moves are tried


class Likelihood(Protocol):
    """What a sweep asks of each part of the objective."""

    def gains(self, nodes: slice, labels: IntArray) -> FloatArray:
        """Change by moving each of the nodes, now in the blocks `labels`, to each block: (b, k)."""
        ...

    def move(self, node: int, old: int, new: int) -> None:
        """Follow a node from one block to another."""
        ...


def sweep(
    labels: IntArray,
    parts: Sequence[tuple[float, Likelihood]],
    order: IntArray,
    *,
    least_gain: float,
    width: float,
) -> int:
    """Visit nodes in the given order and move each to its best block; returns how many moved.

    All moves are tried at once beforehand: a node that gains nothing then is not visited. Each move is tried again
    with the blocks as they have become, and made only if it gains more than `least_gain`. A block's last node stays.

    Parameters
    ----------
    labels : array of shape (n,)
        Block of each node; changed in place.
    parts : sequence of (weight, Likelihood)
        The objective is the weighted sum.
    order : array of node indices
        Who is visited, and when.
    least_gain : float
        Gains up to this are rounding.
    width : float
        Average non-zeros per node; sets how many nodes are tried at once.
    """
    sizes = np.bincount(labels)
    k = len(sizes)
    if k == 1:
        return 0
    step = max(1, int(_CELLS / (k * (k + width))))
    slices = [slice(start, min(start + step, len(labels))) for start in range(0, len(labels), step)]
    hopeful = np.concatenate([(_gains(parts, nodes, labels) > least_gain).any(axis=1) for nodes in slices])
    n_moves = 0
    for node in order[hopeful[order]]:
        old = labels[node]
        if sizes[old] == 1:
            continue
        gains = _gains(parts, slice(node, node + 1), labels)[0]
        new = int(gains.argmax())
        if gains[new] <= least_gain:
            continue
        for _, part in parts:
            part.move(node, old, new)
        labels[node] = new
        sizes[old] -= 1
        sizes[new] += 1
        n_moves += 1
    return n_moves


def _gains(parts: Sequence[tuple[float, Likelihood]], nodes: slice, labels: IntArray) -> FloatArray:
    """Weighted gains of every move of some nodes; staying gains 0. (b, k)"""
    current = labels[nodes]
    gains: FloatArray = np.zeros((len(current), 1))
    for weight, part in parts:
        gains = gains + weight * part.gains(nodes, current)
    gains[np.arange(len(current)), current] = 0.0
    return gains
