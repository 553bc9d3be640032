"""The default fit, stage by stage, on Cora and at the size of BlogCatalog: time and memory of a process of its own."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator

from benchmarks.measure import Measurement, peak_gigabytes
from benchmarks.networks import blogcatalog
from blockselect import AttributedGraph, BlockModelSelector, load_cora


def run() -> Iterator[Measurement]:
    for name, load, limit in (("Cora", load_cora, 20), ("BlogCatalog", blogcatalog, 180)):
        spent = _in_fresh_process(load)
        breakdown = ", ".join(f"{stage} {taken:.1f} s" for stage, taken in spent.items())
        yield Measurement(f"{name} default fit", sum(spent.values()), limit, breakdown, unit="s")
    yield Measurement(
        "BlogCatalog default fit", peak_gigabytes(fit_default), 1.5, "peak of a process of its own", unit="GB"
    )


def stages(load: Callable[[], AttributedGraph]) -> dict[str, float]:
    """Seconds of each stage of a fit, from its first report to that of the next."""
    graph = load()
    reached: dict[str, float] = {"checks": time.perf_counter()}
    BlockModelSelector(64, random_state=0).fit(
        graph.features,
        adjacency=graph.adjacency,
        progress=lambda stage, done, total: reached.setdefault(stage, time.perf_counter()),
    )
    ends = [*list(reached.values())[1:], time.perf_counter()]
    return {stage: end - start for (stage, start), end in zip(reached.items(), ends, strict=True)}


def _in_fresh_process(load: Callable[[], AttributedGraph]) -> dict[str, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(stages, (load,))


def fit_default() -> None:
    stages(blogcatalog)
