"""Features drawn around planted blocks: informative, redundant, noise and decoys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, get_index_dtype

from blockselect.arrays import FloatArray, IntArray, Sparse

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
    roles, copied_from, indices, data = [], [], [], []
    for role, copied, column in _columns(blocks, decoy_blocks, plan, rng):
        rows = np.flatnonzero(column)
        roles.append(role)
        copied_from.append(copied)
        indices.append(rows)
        data.append(column[rows])
    order = rng.permutation(len(roles))
    starts = np.concatenate([[0], np.cumsum([len(indices[at]) for at in order])])
    values = np.concatenate([data[at] for at in order]).astype(np.float64)
    rows = np.concatenate([indices[at] for at in order])
    kind = get_index_dtype(maxval=max(starts[-1], len(blocks)))
    source = np.array(copied_from)[order]
    return DrawnFeatures(
        features=csc_array((values, rows.astype(kind), starts.astype(kind)), shape=(len(blocks), len(order))).tocsr(),
        roles=np.array(roles)[order],
        copied_from=np.where(source < 0, -1, np.argsort(order)[source]),
    )


def _columns(
    blocks: IntArray, decoy_blocks: IntArray, plan: FeaturePlan, rng: np.random.Generator
) -> Iterator[tuple[str, int, NDArray[Any]]]:
    """Role, column copied (or -1) and values of each feature; copies come right after their original."""
    drawn = 0
    for first in range(plan.n_informative):
        original = drawn
        column = _follow(blocks, first, plan, rng)
        yield "informative", -1, column
        n_copies = len(range(first, plan.n_redundant, plan.n_informative))  # copies are shared out evenly
        for _ in range(n_copies):
            yield "redundant", original, _noisy_copy(column, plan.copy_noise, rng)
        drawn += 1 + n_copies
    for first in range(plan.n_noise):
        # Informative values assigned at random: by its values alone, noise looks like the rest.
        yield "noise", -1, rng.permutation(_follow(blocks, first, plan, rng))
    for first in range(plan.n_decoys):
        yield "decoy", -1, _follow(decoy_blocks, first, plan, rng)


def _follow(blocks: IntArray, first: int, plan: FeaturePlan, rng: np.random.Generator) -> NDArray[Any]:
    """A feature more frequent in its home blocks: block `first`, counted around, and perhaps some more."""
    n_blocks = int(blocks.max()) + 1
    n_homes = rng.integers(1, max(n_blocks // 2, 1), endpoint=True)
    # Going around the blocks gives each of them a feature of its own before any gets a second.
    homes = (first + np.append(0, 1 + rng.permutation(n_blocks - 1)[: n_homes - 1])) % n_blocks
    elsewhere = np.exp(rng.uniform(*np.log(plan.frequency)))
    at_home = np.isin(np.arange(n_blocks), homes)[blocks]
    column = VALUES[plan.values](elsewhere * np.where(at_home, plan.signal, 1.0), rng)
    if not column.any():
        column[rng.choice(np.flatnonzero(at_home))] = 1  # an empty feature could not be found
    return column


def _noisy_copy(column: NDArray[Any], copy_noise: float, rng: np.random.Generator) -> NDArray[Any]:
    """A copy in which some nodes swapped their values, so that the values as a whole stay the same."""
    copy = column.copy()
    swapped = np.flatnonzero(rng.random(len(column)) < copy_noise)
    copy[swapped] = column[rng.permutation(swapped)]
    return copy
