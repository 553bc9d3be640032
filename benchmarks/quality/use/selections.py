"""Selections: what every method selects on every network, once with all links and once with some of them hidden."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.quality.command import time_limit
from benchmarks.quality.real_networks import RIVAL, VARIANT, is_random, taken
from benchmarks.quality.use.own import ABLATION, OWN, find, select
from benchmarks.quality.use.seen_networks import n_classes, network, seen
from benchmarks.quality.use.use_config import HIDDEN, UseConfig
from blockselect.evaluation.comparison import rank_features
from blockselect.registry import find_method
from blockselect.reproduction.trial import Row, Trial

NAME = "selections"
WAYS = {"own": OWN, "ablation": ABLATION}  # groups of our own ways, each made of one fit
_PER_ENTRY = 5e-7  # seconds of a fit for an entry of the feature matrix: they differ widely


def trials(config: UseConfig, rows: list[Row]) -> list[Trial]:
    del rows  # none follows from another
    found = []
    for name in config.networks:
        graph = network(name)
        tops = [top for top in config.tops if top < graph.n_features]
        cost = _PER_ENTRY * graph.n_nodes * graph.n_features
        for hidden in (None, HIDDEN):
            for settings in [*_own(config, hidden), *_rivals(config, hidden)]:
                identity = {"network": name, "hidden": hidden, "tops": str(tops), **settings}
                payload = {"name": name, "hidden": hidden, "tops": tops, "seed": settings["seed"]}
                if settings["kind"] == VARIANT:
                    payload["group"] = settings["group"]
                    found.append(Trial(NAME, identity, select_own, payload, 4 * cost))
                else:
                    payload |= {"method": settings["method"], "limit": config.limit}
                    found.append(Trial(NAME, identity, select_by_rival, payload, cost))
    return found


def reads_links(method: str) -> bool:
    """Whether hidden links change what a rival selects."""
    return find_method(method).guidance not in ("features", "none")


def select_own(name: str, hidden: int | None, tops: Sequence[int], seed: int, group: str) -> list[Row]:
    found = find(seen(name, hidden), seed)
    return [{"method": method, **taken(select(found, method, top), top)} for method in WAYS[group] for top in tops]


def select_by_rival(
    name: str, hidden: int | None, tops: Sequence[int], seed: int, method: str, limit: float
) -> list[Row]:
    """One ranking, told the number of classes, unless it takes too long."""
    try:
        with time_limit(limit):
            found = rank_features(method, seen(name, hidden), max(tops), n_classes(name), seed)
    except TimeoutError as late:
        return [{"error": str(late)}]
    selected = found.support.nonzero()[0]
    ranked = selected[found.ranking[selected].argsort()]
    return [taken(ranked, top) for top in tops]


def _own(config: UseConfig, hidden: int | None) -> list[Row]:
    groups = ["own", "ablation"] if config.ablation and hidden is None else ["own"]
    seeds = range(config.n_seeds)
    return [{"kind": VARIANT, "group": group, "seed": seed} for group in groups for seed in seeds]


def _rivals(config: UseConfig, hidden: int | None) -> list[Row]:
    return [
        {"kind": RIVAL, "method": method, "seed": seed}
        for method in config.rivals
        if hidden is None or reads_links(method)
        for seed in range(config.n_rival_seeds if is_random(method) else 1)
    ]
