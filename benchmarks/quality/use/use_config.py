"""UseConfig: the networks, methods, numbers of features and seeds of a measurement, and how selections are judged."""

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
HIDDEN = 0  # seed of the links that are hidden: the same for all
LIMIT = 300.0


@dataclass(frozen=True, slots=True)
class UseConfig:
    """What is measured; `device` and `limit` change neither rows nor which there are, but for rivals that are late."""

    networks: Sequence[str] = JUDGED
    rivals: Sequence[str] = RIVALS  # names in SELECTORS
    tops: tuple[int, ...] = TOPS  # numbers of features
    n_seeds: int = SEEDS  # of the default
    n_rival_seeds: int = 1  # of rivals that are random
    n_runs: int = RUNS  # of every protocol
    n_init: int = INIT  # starts of K-means in a run
    limit: float = LIMIT  # seconds that a rival may take
    device: str | None = None  # a torch device; None: the protocols of the library

    @property
    def marks(self) -> dict[str, Any]:
        """All that rows depend on besides their trials."""
        return {"n_runs": self.n_runs, "n_init": self.n_init, "version": __version__}
