"""Trials on real networks: the selections of each variant and rival, and the clusterings that evaluate them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.quality.quality_config import QualityConfig
from benchmarks.quality.references import reference_rows, reference_trials
from benchmarks.quality.selected import selected_by_rank, taken
from benchmarks.quality.variants import find_variant, selector_of
from blockselect.datasets.catalogue import find_dataset
from blockselect.registry import find_method, make_selector
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.experiments import GRID, rank_candidates
from blockselect.reproduction.networks import classes, n_classes, network, network_trial, published_block_models
from blockselect.reproduction.selections import clustering_trials
from blockselect.reproduction.store import Row

NAME = "quality-networks"
VARIANT, RIVAL, GRID_KIND, REFERENCE = "variant", "rival", "grid", "reference"  # kinds of trials
PAPERS = "bmgufs"  # computed from the grid, as in the reproduction
_IDENTITY = ("dataset", "kind", "method", "arguments", "seed", "asked_for")


def trials(config: QualityConfig, rows: list[Row]) -> list[Trial]:
    found = []
    for name in config.protocol.datasets:
        found += [*_variant_trials(name, config), *_rival_trials(name, config), *_grid_trials(name, config)]
        found += _reference_trials(name, config)
    asked = {_identity(trial.settings) for trial in found}
    ours = [row for row in rows if _identity(row) in asked]  # the folder may contain variants from earlier runs
    return found + clustering_trials(ours, config.protocol)


def is_random(method: str) -> bool:
    """Whether a registered method has a seed."""
    return "random_state" in find_method(method).selector._get_param_names()


def select_by_variant(name: str, arguments: str, asked_for: int, tops: Sequence[int], seed: int) -> list[Row]:
    """Fit once, for the largest number of features; its ranking gives the selections of all smaller numbers."""
    graph = network(name)
    selector = selector_of(arguments, asked_for, n_blocks=n_classes(name), seed=seed)
    selector.fit(graph.features, adjacency=graph.adjacency)
    return [taken(selected_by_rank(selector), top) for top in tops]


def select_by_method(name: str, method: str, tops: Sequence[int], seed: int) -> list[Row]:
    """Rank once with a rival, which is given the number of classes, as in the reproduction."""
    selector = make_selector(method, max(tops), n_blocks=n_classes(name), random_state=seed)
    selector.fit(network(name).features, adjacency=network(name).adjacency)
    return [taken(selected_by_rank(selector), top) for top in tops]


def select_reference(name: str, method: str, tops: Sequence[int], seed: int) -> list[Row]:
    return reference_rows(method, network(name).features, classes(name), tops, seed)


def _variant_trials(name: str, config: QualityConfig) -> list[Trial]:
    tops = _feasible_tops(name, config)
    found = []
    for method in config.variants:
        for seed in config.candidate_seeds:
            fit = {"arguments": find_variant(method).text, "seed": seed, "asked_for": max(tops)}
            identity = {"dataset": name, "kind": VARIANT, "method": method, **fit}
            found.append(Trial(NAME, identity, partial(select_by_variant, name=name, tops=tops, **fit)))
    return found


def _rival_trials(name: str, config: QualityConfig) -> list[Trial]:
    tops = _feasible_tops(name, config)
    found = []
    for method in config.methods:
        if method == PAPERS:
            continue
        for seed in config.candidate_seeds if is_random(method) else config.candidate_seeds[:1]:
            identity = {"dataset": name, "kind": RIVAL, "method": method, "seed": seed}
            found.append(Trial(NAME, identity, partial(select_by_method, name, method, tops, seed)))
    return found


def _reference_trials(name: str, config: QualityConfig) -> list[Trial]:
    tops = _feasible_tops(name, config)
    return [
        Trial(
            NAME,
            {"dataset": name, "kind": REFERENCE, "method": method, "seed": seed},
            partial(select_reference, name, method, tops, seed),
        )
        for method, seed in reference_trials()
    ]


def _grid_trials(name: str, config: QualityConfig) -> list[Trial]:
    """The paper's grid of candidates × sparsities; published block models do not depend on the seed."""
    published = published_block_models(name) is not None
    return [
        network_trial(
            NAME,
            name,
            rank_candidates,
            replace(config.protocol, seed=seed),
            kind=GRID_KIND,
            method=GRID,
            seed=seed,
        )
        for seed in (config.candidate_seeds[:1] if published else config.candidate_seeds)
    ]


def _feasible_tops(name: str, config: QualityConfig) -> list[int]:
    return [top for top in config.protocol.tops if top <= find_dataset(name).counts.features]


def _identity(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(settings.get(name) for name in _IDENTITY)
