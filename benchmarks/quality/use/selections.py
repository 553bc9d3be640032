"""Selections: what every method selects on every network, once with all links and once for each set of hidden ones."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.quality.real_networks import RIVAL, VARIANT, is_random, taken
from benchmarks.quality.use.own import ABLATION, OWN, find, select
from benchmarks.quality.use.seen_networks import n_classes, network, seen
from benchmarks.quality.use.use_config import UseConfig
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
        for hidden in (None, *config.seeds):
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


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, as soon as it is back in Python; in the main thread of a process."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _own(config: UseConfig, hidden: int | None) -> list[Row]:
    groups = ["own", "ablation"] if config.ablation and hidden is None else ["own"]
    seeds = config.seeds if hidden is None else [hidden]
    return [{"kind": VARIANT, "group": group, "seed": seed} for group in groups for seed in seeds]


def _rivals(config: UseConfig, hidden: int | None) -> list[Row]:
    if hidden is None:
        return [
            {"kind": RIVAL, "method": method, "seed": seed}
            for method in config.rivals
            for seed in (config.seeds if is_random(method) else [0])
        ]
    return [{"kind": RIVAL, "method": method, "seed": hidden} for method in config.rivals if reads_links(method)]
