"""Selections of all methods on all networks, with all links and with some of them held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.quality.command import time_limit
from benchmarks.quality.real_networks import REFERENCE, RIVAL, VARIANT, is_random
from benchmarks.quality.references import reference_rows, reference_trials
from benchmarks.quality.selected import selected_by_rank, taken
from benchmarks.quality.use.seen_networks import n_classes, network, seen
from benchmarks.quality.use.use_config import HIDDEN, UseConfig
from benchmarks.quality.variants import DEFAULT
from blockselect import BlockModelSelector
from blockselect.evaluation.comparison import rank_by_method
from blockselect.registry import find_method
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.store import Row

NAME = "selections"


def trials(config: UseConfig, rows: list[Row]) -> list[Trial]:
    del rows  # no trial depends on the rows of another
    found = []
    for name in config.networks:
        tops = [top for top in config.tops if top < network(name).n_features]
        for hidden in (None, HIDDEN):
            for kind, method, seed in _methods(config, hidden):
                identity = {"network": name, "hidden": hidden, "tops": str(tops), "kind": kind, "method": method}
                run = partial(_SELECT[kind], name, hidden, tops, method, seed)
                if kind == RIVAL:
                    run = partial(run, limit=config.limit)
                found.append(Trial(NAME, {**identity, "seed": seed}, run))
    return found


def reads_links(kind: str, method: str) -> bool:
    """Whether the selection depends on the links."""
    return kind == VARIANT or (kind == RIVAL and find_method(method).guidance not in ("features", "none"))


def select_default(name: str, hidden: int | None, tops: Sequence[int], method: str, seed: int) -> list[Row]:
    """Fit once, for the largest number of features; its ranking gives the selections of all smaller numbers."""
    del method  # there is only one number of features
    graph = seen(name, hidden)
    selector = BlockModelSelector(max(tops), random_state=seed).fit(graph.features, adjacency=graph.adjacency)
    return [taken(selected_by_rank(selector), top) for top in tops]


def select_by_rival(
    name: str, hidden: int | None, tops: Sequence[int], method: str, seed: int, limit: float
) -> list[Row]:
    """Rank once with a rival, which is given the number of classes, unless it exceeds the time limit."""
    try:
        with time_limit(limit):
            ranked, _ = rank_by_method(method, seen(name, hidden), max(tops), n_classes(name), seed)
    except TimeoutError as late:
        return [{"error": str(late)}]
    return [taken(ranked, top) for top in tops]


def select_reference(name: str, hidden: int | None, tops: Sequence[int], method: str, seed: int) -> list[Row]:
    graph = seen(name, hidden)
    assert graph.classes is not None
    return reference_rows(method, graph.features, graph.classes, tops, seed)


_SELECT: dict[str, Callable[..., list[Row]]] = {
    VARIANT: select_default,
    RIVAL: select_by_rival,
    REFERENCE: select_reference,
}


def _methods(config: UseConfig, hidden: int | None) -> list[tuple[str, str, int]]:
    """Kind, method and seed of each selection; if links are held out, only for methods that use links."""
    every = [(VARIANT, DEFAULT, seed) for seed in range(config.n_seeds)]
    for method in config.rivals:
        every += [(RIVAL, method, seed) for seed in range(config.n_rival_seeds if is_random(method) else 1)]
    every += [(REFERENCE, method, seed) for method, seed in reference_trials()]
    return [(kind, method, seed) for kind, method, seed in every if hidden is None or reads_links(kind, method)]
