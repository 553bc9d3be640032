"""Time per stage and peak memory of BlockModelSelector on the available real networks, each in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Measurement
from benchmarks.networks import at_hand

LIMITS = {"Cora": 2, "BlogCatalog": 9, "photo": 12}  # seconds on two otherwise idle cores
_PEAKS = {"BlogCatalog": 1.5}  # GB


def run() -> Iterator[Measurement]:
    for name in at_hand():
        spent, in_all, peak = measure(name)
        breakdown = ", ".join(f"{stage} {taken:.2f} s" for stage, taken in spent.items())
        yield Measurement(f"{name}", in_all, LIMITS[name], breakdown, unit="s", peak=peak)
        if name in _PEAKS:
            yield Measurement(f"{name} peak memory", peak, _PEAKS[name], "the whole process", unit="GB")


def measure(name: str) -> tuple[dict[str, float], float, float]:
    """Seconds of each stage, total seconds, and peak memory, for the fastest of three fits."""
    call = f"from benchmarks import fit; fit.fit({name!r})"
    result = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, check=True)
    spent, in_all, peak = json.loads(result.stdout.splitlines()[-1])
    return spent, in_all, peak


def fit(name: str, repeats: int = 3) -> None:
    """Fit BlockModelSelector and print the result for `measure`."""
    import time

    from benchmarks.scale import Stages, peak_gigabytes
    from blockselect import BlockModelSelector

    graph = at_hand()[name]
    BlockModelSelector(64, n_jobs=2, random_state=0).fit(graph.features, adjacency=graph.adjacency)  # loads all code
    best = float("inf")
    for _ in range(repeats):
        stages = Stages(quiet=True)
        with stages.watch():
            start = time.perf_counter()
            BlockModelSelector(64, n_jobs=2, random_state=0).fit(graph.features, adjacency=graph.adjacency)
            taken = time.perf_counter() - start
        if taken < best:
            best, spent = taken, stages.seconds
    print(json.dumps([spent, best, peak_gigabytes()]))
