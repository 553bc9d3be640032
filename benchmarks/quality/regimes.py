"""REGIMES: kinds of planted networks, as the settings that differ from the defaults of the generator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from blockselect.datasets.planted import PlantedNetwork, make_attributed_blocks
from blockselect.utils.parameters import look_up

_STRUCTURES: dict[str, dict[str, Any]] = {
    "assortative": {"structure": "assortative"},
    "disassortative": {"structure": "disassortative"},
    "core-periphery": {"structure": "core-periphery"},
    "sparse": {"structure": "assortative", "mean_degree": 3.5},
}
REGIMES: dict[str, dict[str, Any]] = {
    **_STRUCTURES,
    **{f"{name}, counts": {**regime, "values": "counts"} for name, regime in _STRUCTURES.items()},
}
"""All regimes by name, in the order of the tables. Features are binary unless a regime specifies counts."""


@dataclass(frozen=True, slots=True)
class PlantedSizes:
    """The numbers of nodes, blocks and features of every planted network."""

    n_nodes: int
    n_blocks: int
    n_informative: int
    n_redundant: int
    n_noise: int
    n_decoys: int


def find_regime(name: str) -> dict[str, Any]:
    """The settings of the generator for this regime; the error for an unknown name suggests the closest."""
    return look_up(name, REGIMES, what="regime")


def plant(regime: str, sizes: PlantedSizes, seed: int) -> PlantedNetwork:
    """Plant one network of a regime."""
    return make_attributed_blocks(**asdict(sizes), **find_regime(regime), random_state=seed)
