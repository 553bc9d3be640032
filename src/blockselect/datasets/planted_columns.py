"""Features drawn around planted blocks: informative, redundant, noise and decoys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, get_index_dtype

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.datasets.planted_holders import Holders, holders_by_block, scattered, swapped_copy

_CELLS = 2**28  # values drawn for all nodes, zeros included; beyond, only those that are not zero are drawn

# How the values of a feature come from the rate that each node has for it.
VALUES: dict[str, Callable[[FloatArray, np.random.Generator], NDArray[Any]]] = {
    "binary": lambda rates, rng: rng.random(len(rates)) < rates,
    "counts": lambda rates, rng: rng.poisson(rates),
}


@dataclass(frozen=True, slots=True)
class FeaturePlan:
    """How many features of each role to draw, and how."""

    n_informative: int
    n_redundant: int
    n_noise: int
    n_decoys: int
    signal: float  # rate in a feature's home blocks over its rate elsewhere
    frequency: tuple[float, float]  # range of the rate elsewhere
    copy_noise: float  # share of the nodes that swap their values in a copy
    values: str  # a key of VALUES

    @property
    def n_features(self) -> int:
        return self.n_informative + self.n_redundant + self.n_noise + self.n_decoys


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFeatures:
    """Features in random order with what they are."""

    features: Sparse  # (n, m)
    roles: NDArray[np.str_]  # (m,)
    copied_from: IntArray  # (m,)


def draw_features(
    blocks: IntArray, decoy_blocks: IntArray, plan: FeaturePlan, rng: np.random.Generator
) -> DrawnFeatures:
    """Draw the features of a plan, one column at a time, and shuffle the columns."""
    kind_of_draw = _OfAllNodes if len(blocks) * plan.n_features <= _CELLS else _OfHolders
    drawn = list(_columns(kind_of_draw(len(blocks), plan, rng), blocks, decoy_blocks, plan, rng))
    roles, copied_from = [role for role, _, _ in drawn], np.array([copied for _, copied, _ in drawn])
    columns = [column for _, _, column in drawn]
    order = rng.permutation(len(drawn))
    starts = np.concatenate([[0], np.cumsum([len(columns[at].nodes) for at in order])])
    kind = get_index_dtype(maxval=max(starts[-1], len(blocks)))
    rows = np.concatenate([columns[at].nodes for at in order], dtype=kind)
    values = np.concatenate([columns[at].values for at in order], dtype=np.float64)
    del drawn, columns
    by_feature = csc_array((values, rows, starts.astype(kind)), shape=(len(blocks), len(order)))
    source = copied_from[order]
    return DrawnFeatures(
        features=by_feature.tocsr(),
        roles=np.array(roles)[order],
        copied_from=np.where(source < 0, -1, np.argsort(order)[source]),
    )


class _Draw(Protocol):
    """How a column is drawn; its rates in the blocks are those of `_rates`."""

    def follow(self, rates: FloatArray, blocks: IntArray) -> Holders: ...

    def copy(self, column: Holders) -> Holders: ...

    def scatter(self, column: Holders) -> Holders: ...


def _columns(
    draw: _Draw, blocks: IntArray, decoy_blocks: IntArray, plan: FeaturePlan, rng: np.random.Generator
) -> Iterator[tuple[str, int, Holders]]:
    """Role, column copied (or -1) and values of each feature; copies come right after their original."""
    n_blocks = int(blocks.max()) + 1
    drawn = 0
    for first in range(plan.n_informative):
        original = drawn
        column = draw.follow(_rates(n_blocks, first, plan, rng), blocks)
        yield "informative", -1, column
        n_copies = len(range(first, plan.n_redundant, plan.n_informative))  # copies are shared out evenly
        for _ in range(n_copies):
            yield "redundant", original, draw.copy(column)
        drawn += 1 + n_copies
    for first in range(plan.n_noise):
        # Informative values assigned at random: by its values alone, noise looks like the rest.
        yield "noise", -1, draw.scatter(draw.follow(_rates(n_blocks, first, plan, rng), blocks))
    for first in range(plan.n_decoys):
        yield "decoy", -1, draw.follow(_rates(n_blocks, first, plan, rng), decoy_blocks)


def _rates(n_blocks: int, first: int, plan: FeaturePlan, rng: np.random.Generator) -> FloatArray:
    """Rate in each block, higher in the home blocks: block `first`, counted around, and perhaps some more. (k,)"""
    n_homes = rng.integers(1, max(n_blocks // 2, 1), endpoint=True)
    # Going around the blocks gives each of them a feature of its own before any gets a second.
    homes = (first + np.append(0, 1 + rng.permutation(n_blocks - 1)[: n_homes - 1])) % n_blocks
    elsewhere = np.exp(rng.uniform(*np.log(plan.frequency)))
    rates: FloatArray = elsewhere * np.where(np.isin(np.arange(n_blocks), homes), plan.signal, 1.0)
    return rates


class _OfAllNodes:
    """A value is drawn for every node, zeros included."""

    def __init__(self, n_nodes: int, plan: FeaturePlan, rng: np.random.Generator) -> None:
        self._n_nodes, self._plan, self._rng = n_nodes, plan, rng

    def follow(self, rates: FloatArray, blocks: IntArray) -> Holders:
        column = VALUES[self._plan.values](rates[blocks], self._rng)
        if not column.any():  # an empty feature could not be found
            column[self._rng.choice(np.flatnonzero(rates[blocks] == rates.max()))] = 1
        return _without_zeros(column)

    def copy(self, column: Holders) -> Holders:
        """Some nodes swap their values, so that the values as a whole stay the same."""
        original, copy = self._all(column), self._all(column)
        swapped = np.flatnonzero(self._rng.random(self._n_nodes) < self._plan.copy_noise)
        copy[swapped] = original[self._rng.permutation(swapped)]
        return _without_zeros(copy)

    def scatter(self, column: Holders) -> Holders:
        return _without_zeros(self._rng.permutation(self._all(column)))

    def _all(self, column: Holders) -> NDArray[Any]:
        values = np.zeros(self._n_nodes, dtype=column.values.dtype)
        values[column.nodes] = column.values
        return values


class _OfHolders:
    """Only values that are not zero are drawn."""

    def __init__(self, n_nodes: int, plan: FeaturePlan, rng: np.random.Generator) -> None:
        self._n_nodes, self._plan, self._rng = n_nodes, plan, rng
        self._seen: tuple[IntArray, list[NDArray[np.int32]]] | None = None  # a partition and the members of its blocks

    def follow(self, rates: FloatArray, blocks: IntArray) -> Holders:
        members = self._members(blocks)
        column = holders_by_block(members, rates, self._plan.values, self._rng)
        if len(column.nodes):
            return column
        return Holders(self._rng.choice(members[int(np.argmax(rates))], size=1), np.ones(1, dtype=np.int32))

    def copy(self, column: Holders) -> Holders:
        return swapped_copy(column, self._n_nodes, self._plan.copy_noise, self._rng)

    def scatter(self, column: Holders) -> Holders:
        return scattered(column, self._n_nodes, self._rng)

    def _members(self, blocks: IntArray) -> list[NDArray[np.int32]]:
        if self._seen is None or self._seen[0] is not blocks:
            found = [np.flatnonzero(blocks == block).astype(np.int32) for block in range(int(blocks.max()) + 1)]
            self._seen = blocks, found
        return self._seen[1]


def _without_zeros(column: NDArray[Any]) -> Holders:
    nodes = np.flatnonzero(column)
    return Holders(nodes.astype(np.int32), column[nodes].astype(np.int32))
