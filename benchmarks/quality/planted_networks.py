"""Trials on planted networks: the precision of each variant and rival if as many features are selected as planted."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.quality.quality_config import QualityConfig
from benchmarks.quality.real_networks import RIVAL, VARIANT
from benchmarks.quality.regimes import PlantedSizes, plant
from benchmarks.quality.variants import find_variant, selector_of
from blockselect.base import ScoreSelector
from blockselect.registry import make_selector
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.store import Row

NAME = "quality-planted"


def trials(config: QualityConfig, rows: list[Row]) -> list[Trial]:
    found = []
    for regime in config.regimes:
        for seed in range(config.planted_seeds):
            network = {"regime": regime, "sizes": config.planted, "seed": seed}
            for method in config.variants:
                text = find_variant(method).text
                identity = {"regime": regime, "kind": VARIANT, "method": method, "arguments": text, "seed": seed}
                found.append(Trial(NAME, identity, partial(recover_by_variant, **network, arguments=text)))
            for method in config.methods:
                identity = {"regime": regime, "kind": RIVAL, "method": method, "seed": seed}
                found.append(Trial(NAME, identity, partial(recover_by_method, **network, method=method)))
    return found


def recover_by_variant(regime: str, sizes: PlantedSizes, arguments: str, seed: int) -> list[Row]:
    network = plant(regime, sizes, seed)
    n_planted = int(network.is_informative.sum())
    selector = selector_of(arguments, n_planted, n_blocks=network.n_blocks, seed=seed)
    selector.fit(network.features, adjacency=network.adjacency)
    return [{"precision": precision(selector, network.is_informative), "n_selected": int(selector.support_.sum())}]


def recover_by_method(regime: str, sizes: PlantedSizes, method: str, seed: int) -> list[Row]:
    """Select with a rival, which, unlike BlockModelSelector, is given the number of blocks."""
    network = plant(regime, sizes, seed)
    n_planted = int(network.is_informative.sum())
    selector = make_selector(method, n_planted, n_blocks=network.n_blocks, random_state=seed)
    selector.fit(network.features, adjacency=network.adjacency)
    return [{"precision": precision(selector, network.is_informative), "n_selected": int(selector.support_.sum())}]


def precision(selector: ScoreSelector, is_planted: np.ndarray) -> float:
    """Precision among the first p features, where p are planted: selected features first, then the others by rank."""
    order = np.lexsort((selector.ranking_, ~selector.support_))
    return float(is_planted[order[: is_planted.sum()]].mean())
