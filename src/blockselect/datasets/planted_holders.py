"""Columns of large planted networks: how many nodes have a feature, then which, at the cost of the non-zeros alone.

The distributions are those of `planted_columns`, which draws a value for every node, zeros included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import FloatArray, IntArray

Members: TypeAlias = Sequence[NDArray[Any]]  # nodes of each block


class Holders(NamedTuple):
    """A column without its zeros."""

    nodes: NDArray[Any]  # those that have the feature, ascending
    values: NDArray[Any]


def holders_by_block(members: Members, rates: FloatArray, kind: str, rng: np.random.Generator) -> Holders:
    """Nodes that have a feature, whose rate in each block is given: (k,)."""
    parts = [_holders(nodes, float(rate), kind, rng) for nodes, rate in zip(members, rates, strict=True)]
    nodes, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    return _ascending(nodes, values)


def _holders(
    nodes: NDArray[Any], rate: float, kind: str, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    if kind == "binary":
        count = rng.binomial(len(nodes), rate)
        return nodes[_distinct(len(nodes), count, rng)], np.ones(count, dtype=np.int32)
    # Independent Poisson counts: their sum is Poisson, and each of it falls on any node.
    places, counts = np.unique(rng.integers(len(nodes), size=rng.poisson(len(nodes) * rate)), return_counts=True)
    return nodes[places], counts.astype(np.int32)


def scattered(column: Holders, n_nodes: int, rng: np.random.Generator) -> Holders:
    """The same values at nodes drawn at random."""
    nodes = _distinct(n_nodes, len(column.nodes), rng).astype(np.int32)
    return _ascending(nodes, rng.permutation(column.values))


def swapped_copy(column: Holders, n_nodes: int, copy_noise: float, rng: np.random.Generator) -> Holders:
    """A copy in which a share of the nodes, zeros among them, shuffled their values among themselves."""
    swaps = rng.random(len(column.nodes)) < copy_noise
    left, n_left = column.nodes[swaps], int(swaps.sum())
    n_zeros = int(rng.binomial(n_nodes - len(column.nodes), copy_noise))  # that take part as well
    n_back = int(rng.hypergeometric(n_left, n_zeros, n_left)) if n_left else 0  # values that fall on holders again
    taken = left[_distinct(n_left, n_back, rng)]
    nodes = np.concatenate([column.nodes[~swaps], taken, _others(column.nodes, n_nodes, n_left - n_back, rng)])
    return _ascending(nodes, np.concatenate([column.values[~swaps], rng.permutation(column.values[swaps])]))


def _others(nodes: NDArray[Any], n_nodes: int, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Distinct nodes that are not among these (ascending): the i-th free one stands after all holders before it."""
    free = _distinct(n_nodes - len(nodes), count, rng)
    before = nodes - np.arange(len(nodes))  # free nodes before each holder
    return (free + np.searchsorted(before, free, side="right")).astype(nodes.dtype)


def _distinct(population: int, count: int, rng: np.random.Generator) -> IntArray:
    """That many different numbers below `population`, in any order."""
    return rng.choice(population, size=count, replace=False, shuffle=False) if count else np.zeros(0, dtype=np.int64)


def _ascending(nodes: NDArray[Any], values: NDArray[Any]) -> Holders:
    order = np.argsort(nodes)
    return Holders(nodes[order], values[order])
