"""REGIMES: kinds of planted networks, by name; each as the generator makes it but for what is named here."""

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
"""Every regime by its name, the order of tables; binary features where nothing is said."""


@dataclass(frozen=True, slots=True)
class PlantedSizes:
    """What every planted network has."""

    n_nodes: int
    n_blocks: int
    n_informative: int
    n_redundant: int
    n_noise: int
    n_decoys: int


def find_regime(name: str) -> dict[str, Any]:
    """Settings of the generator in this regime.

    Raises
    ------
    ValueError
        With the names there are, and the closest.
    """
    return look_up(name, REGIMES, what="regime")


def plant(regime: str, sizes: PlantedSizes, seed: int) -> PlantedNetwork:
    """One network of a regime."""
    return make_attributed_blocks(**asdict(sizes), **find_regime(regime), random_state=seed)
