"""UseConfig: the networks, methods, numbers of features, seeds and runs of a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.networks import JUDGED
from benchmarks.quality.quality_config import RIVALS
from blockselect import __version__

TOPS = (16, 64, 128, 200, 600)
SEEDS = 3
RUNS = 20
INIT = 10
HIDDEN = 0  # seed of the held-out links, the same for all methods
LIMIT = 300.0


@dataclass(frozen=True, slots=True)
class UseConfig:
    """The settings of a measurement. Neither `device` nor `limit` affects the rows, except for rivals that time out."""

    networks: Sequence[str] = JUDGED
    rivals: Sequence[str] = RIVALS  # names in SELECTORS
    tops: tuple[int, ...] = TOPS  # numbers of features
    n_seeds: int = SEEDS  # seeds of BlockModelSelector
    n_rival_seeds: int = 1  # seeds of random rivals
    n_runs: int = RUNS  # runs per protocol
    n_init: int = INIT  # starts of K-means per run
    limit: float = LIMIT  # time limit of a rival, in seconds
    device: str | None = None  # a torch device; if None, the library's protocols run on the CPU

    @property
    def marks(self) -> dict[str, Any]:
        """Everything that determines the rows besides their trials."""
        return {"n_runs": self.n_runs, "n_init": self.n_init, "version": __version__}
