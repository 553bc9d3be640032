"""Features of planted networks: informative, redundant, noise and decoys, drawn one column at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, get_index_dtype

from blockselect.utils.arrays import FloatArray, IntArray, Sparse

VALUES = ("binary", "counts")
_CELLS = 2**28  # in larger matrices only the non-zero values are drawn


@dataclass(frozen=True, slots=True)
class FeaturePlan:
    """How many features of each role to draw, and how."""

    n_informative: int
    n_redundant: int
    n_noise: int
    n_decoys: int
    signal: float  # ratio of a feature's rate in its home blocks to its rate elsewhere
    frequency: tuple[float, float]  # range of the rate outside the home blocks
    copy_noise: float  # share of the nodes that swap their values in a copy
    values: str  # one of VALUES


class Column(NamedTuple):
    """The non-zero values of a feature."""

    nodes: NDArray[Any]  # ascending
    values: NDArray[Any]


def draw_features(
    blocks: IntArray, decoy_blocks: IntArray, plan: FeaturePlan, rng: np.random.Generator
) -> tuple[Sparse, NDArray[np.str_], IntArray]:
    """Draw features (n, m) in random order, their roles (m,), and the columns that they copy, or −1 (m,)."""
    n_nodes, n_blocks = len(blocks), int(blocks.max()) + 1
    n_features = plan.n_informative + plan.n_redundant + plan.n_noise + plan.n_decoys
    draw = (_AllNodes if n_nodes * n_features <= _CELLS else _NonZeros)(n_nodes, plan, rng)
    own, decoy = draw.partition(blocks), draw.partition(decoy_blocks)
    roles: list[str] = []
    sources: list[int] = []
    columns: list[Column] = []

    def add(role: str, column: Column, copied_from: int = -1) -> None:
        roles.append(role)
        sources.append(copied_from)
        columns.append(column)

    for first in range(plan.n_informative):
        original = len(columns)
        add("informative", draw.follow(_rates(n_blocks, first, plan, rng), own))
        for _ in range(first, plan.n_redundant, plan.n_informative):  # copies are spread evenly
            add("redundant", draw.copy(columns[original]), original)
    for first in range(plan.n_noise):
        # Noise consists of informative values at random nodes, so that its values do not reveal it.
        add("noise", draw.scatter(draw.follow(_rates(n_blocks, first, plan, rng), own)))
    for first in range(plan.n_decoys):
        add("decoy", draw.follow(_rates(n_blocks, first, plan, rng), decoy))

    order = rng.permutation(n_features)
    starts = np.concatenate([[0], np.cumsum([len(columns[at].nodes) for at in order])])
    kind = get_index_dtype(maxval=max(starts[-1], n_nodes))
    rows = np.concatenate([columns[at].nodes for at in order], dtype=kind)
    values = np.concatenate([columns[at].values for at in order], dtype=np.float64)
    columns.clear()  # before the next copy is made
    features = csc_array((values, rows, starts.astype(kind)), shape=(n_nodes, n_features)).tocsr()
    source = np.array(sources)[order]
    return features, np.array(roles)[order], np.where(source < 0, -1, np.argsort(order)[source])


def _rates(n_blocks: int, first: int, plan: FeaturePlan, rng: np.random.Generator) -> FloatArray:
    """Draw the rate of a feature in each block (k,), higher in its home blocks, which include `first` modulo k."""
    n_homes = rng.integers(1, max(n_blocks // 2, 1), endpoint=True)
    # Each block is home to one feature before any block is home to a second.
    homes = (first + np.append(0, 1 + rng.permutation(n_blocks - 1)[: n_homes - 1])) % n_blocks
    elsewhere = np.exp(rng.uniform(*np.log(plan.frequency)))
    rates: FloatArray = elsewhere * np.where(np.isin(np.arange(n_blocks), homes), plan.signal, 1.0)
    return rates


@dataclass(frozen=True)
class _AllNodes:
    """Draws one value per node, zeros included."""

    n_nodes: int
    plan: FeaturePlan
    rng: np.random.Generator

    def partition(self, blocks: IntArray) -> Any:
        """Return the blocks in the form that `follow` expects."""
        return blocks

    def follow(self, rates: FloatArray, blocks: Any) -> Column:
        """Draw a feature with these rates in the blocks; it has at least one non-zero value."""
        of_node = rates[blocks]
        binary = self.plan.values == "binary"
        values = self.rng.random(self.n_nodes) < of_node if binary else self.rng.poisson(of_node)
        if not values.any():
            values[self.rng.choice(np.flatnonzero(of_node == rates.max()))] = 1
        return _non_zeros(values)

    def copy(self, column: Column) -> Column:
        """Copy a feature; some of the nodes, zeros included, exchange their values."""
        original = self._dense(column)
        swapped = np.flatnonzero(self.rng.random(self.n_nodes) < self.plan.copy_noise)
        values = original.copy()
        values[swapped] = original[self.rng.permutation(swapped)]
        return _non_zeros(values)

    def scatter(self, column: Column) -> Column:
        """Assign the values of a feature to random nodes."""
        return _non_zeros(self.rng.permutation(self._dense(column)))

    def _dense(self, column: Column) -> NDArray[Any]:
        values = np.zeros(self.n_nodes, dtype=column.values.dtype)
        values[column.nodes] = column.values
        return values


class _NonZeros(_AllNodes):
    """Draws only the non-zero values, from the same distributions: first how many nodes have one, then which nodes."""

    def partition(self, blocks: IntArray) -> list[NDArray[np.int32]]:
        """Return the nodes of each block."""
        return [np.flatnonzero(blocks == block).astype(np.int32) for block in range(int(blocks.max()) + 1)]

    def follow(self, rates: FloatArray, blocks: Any) -> Column:
        parts = [self._in_block(nodes, float(rate)) for nodes, rate in zip(blocks, rates, strict=True)]
        nodes, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        if not len(nodes):
            return Column(self.rng.choice(blocks[int(np.argmax(rates))], size=1), np.ones(1, dtype=np.int32))
        return _ascending(nodes, values)

    def copy(self, column: Column) -> Column:
        nodes, values = column
        swaps = self.rng.random(len(nodes)) < self.plan.copy_noise
        n_swaps = int(swaps.sum())
        n_zeros = int(self.rng.binomial(self.n_nodes - len(nodes), self.plan.copy_noise))  # zeros that are swapped too
        # Some swapped values go to nodes that gave up a value in the swap, the others to nodes that had zero.
        n_back = int(self.rng.hypergeometric(n_swaps, n_zeros, n_swaps)) if n_swaps else 0
        back = nodes[swaps][sample(n_swaps, n_back, self.rng)]
        free = sample(self.n_nodes - len(nodes), n_swaps - n_back, self.rng)  # indices among the nodes that had zero
        free = free + np.searchsorted(nodes - np.arange(len(nodes)), free, side="right")
        return _ascending(
            np.concatenate([nodes[~swaps], back, free.astype(nodes.dtype)]),
            np.concatenate([values[~swaps], self.rng.permutation(values[swaps])]),
        )

    def scatter(self, column: Column) -> Column:
        nodes = sample(self.n_nodes, len(column.nodes), self.rng).astype(np.int32)
        return _ascending(nodes, self.rng.permutation(column.values))

    def _in_block(self, nodes: NDArray[Any], rate: float) -> Column:
        if self.plan.values == "binary":
            count = self.rng.binomial(len(nodes), rate)
            return Column(nodes[sample(len(nodes), count, self.rng)], np.ones(count, dtype=np.int32))
        # The sum of independent Poisson counts is Poisson, and each unit of it is equally likely to fall on any node.
        units = self.rng.integers(len(nodes), size=self.rng.poisson(len(nodes) * rate))
        places, counts = np.unique(units, return_counts=True)
        return Column(nodes[places], counts.astype(np.int32))


def sample(population: int, count: int, rng: np.random.Generator) -> IntArray:
    """Draw distinct numbers below `population`, in no particular order."""
    return rng.choice(population, size=count, replace=False, shuffle=False) if count else np.zeros(0, dtype=np.int64)


def _non_zeros(values: NDArray[Any]) -> Column:
    nodes = np.flatnonzero(values)
    return Column(nodes.astype(np.int32), values[nodes].astype(np.int32))


def _ascending(nodes: NDArray[Any], values: NDArray[Any]) -> Column:
    order = np.argsort(nodes)
    return Column(nodes[order], values[order])
