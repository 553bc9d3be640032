"""Trials of the panel: all methods on planted networks with all kinds of features."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.quality.command import time_limit
from benchmarks.quality.panel_networks import Cell, PanelNetwork, plant_cell
from benchmarks.quality.panel_tables import OURS
from blockselect import SignedSelector, __version__
from blockselect.base import ScoreSelector
from blockselect.registry import make_selector
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.store import Row

NAME = "panel"
ONLY_NON_NEGATIVE = (OURS, "bmgufs")  # signed features are passed through SignedSelector
DENSITIES = {"signed": (0.1, 1.0), "positive": (0.1, 1.0), "counts": (0.1, 1.0), "binary": (0.1, 0.9)}
MIDDLE = 0.5
SLOW = ("bmgufs", "ndfs", "ndfs-published", "mcfs", "udfs", "mmpop-logistic", "netfs", "lufs", "gfs", "adapt")
OTHER_REGIMES = ("disassortative", "core-periphery", "sparse")
LARGE = 10_000  # cells with at least this many nodes have only one network


@dataclass(frozen=True, slots=True)
class PanelConfig:
    """The cells, methods and networks to measure."""

    cells: Sequence[Cell]
    methods: Sequence[str]  # names in SELECTORS
    n_seeds: int  # networks per cell with fewer than LARGE nodes
    limit: float  # time limit of a rival, in seconds

    @property
    def marks(self) -> dict[str, Any]:
        return {"version": __version__}


def cells(*, full: bool) -> Iterator[Cell]:
    """Small networks of all kinds; `full` adds other densities, structures and sizes."""
    for kind, densities in DENSITIES.items():
        for density, n_blocks in itertools.product(densities, (4, 40)):
            yield Cell(kind, density, n_blocks, 2_000)
    if full:
        for kind in DENSITIES:
            yield Cell(kind, MIDDLE, 12, 2_000)
        for kind, regime in itertools.product(("binary", "positive"), OTHER_REGIMES):
            yield Cell(kind, DENSITIES[kind][0], 12, 2_000, regime)
        for kind, n_blocks in itertools.product(DENSITIES, (20, 40)):
            yield Cell(kind, DENSITIES[kind][0], n_blocks, 10_000)
        yield Cell("signed", 1.0, 40, 10_000)
        yield Cell("binary", 0.1, 40, 20_000)


def is_tried(method: str, cell: Cell) -> bool:
    """Slow methods run only on sparse features: on small networks with 40 blocks, and, if binary, on 10,000 nodes."""
    if method not in SLOW:
        return True
    sparse = cell.density == DENSITIES[cell.kind][0] and cell.regime == "assortative"
    return sparse and (cell.n_blocks == 40 if cell.n_nodes < LARGE else cell.kind == "binary" and cell.n_nodes == LARGE)


def trials(config: PanelConfig, rows: list[Row]) -> list[Trial]:
    del rows  # no trial depends on the rows of another
    found = []
    for cell in config.cells:
        for method in (name for name in config.methods if is_tried(name, cell)):
            for seed in range(config.n_seeds if cell.n_nodes < LARGE else 1):
                identity = {**asdict(cell), "method": method, "seed": seed}
                found.append(Trial(NAME, identity, partial(measure, cell, method, seed, config.limit)))
    return found


def measure(cell: Cell, method: str, seed: int, limit: float) -> list[Row]:
    """Select two features per block. Rivals are given the number of blocks; BlockModelSelector is not."""
    network = plant_cell(cell, seed)
    start = time.perf_counter()
    try:
        with nullcontext() if method == OURS else time_limit(limit):
            selected = np.flatnonzero(fitted(network, method, seed).support_)
    except (TimeoutError, ValueError, MemoryError) as error:
        return [{"error": " ".join(str(error).split()) or type(error).__name__}]
    scores = {"precision": network.precision(selected), "coverage": network.coverage(selected)}
    return [{**scores, "seconds": round(time.perf_counter() - start, 3)}]


def fitted(network: PanelNetwork, method: str, seed: int) -> ScoreSelector:
    n_blocks = None if method == OURS else network.n_blocks
    selector = make_selector(method, 2 * network.n_blocks, n_blocks=n_blocks, random_state=seed)
    if method in ONLY_NON_NEGATIVE and network.graph.features.min() < 0:
        selector = SignedSelector(selector)
    return selector.fit(network.graph.features, adjacency=network.graph.adjacency)
