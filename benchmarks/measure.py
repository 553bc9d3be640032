"""How things are measured: best of several, and peak memory in a process of its own."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Measurement:
    what: str
    value: float
    limit: float
    how: str
    at_most: bool = True  # else at least
    unit: str = "×"

    @property
    def measured(self) -> str:
        return f"{self.value:,.3g} {self.unit}"

    @property
    def goal(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.limit:,.3g} {self.unit}"

    @property
    def verdict(self) -> str:
        return "yes" if (self.value <= self.limit) == self.at_most or self.value == self.limit else "NO"


def seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """Best wall time of several calls, after one that warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def interleaved_ratio(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 7) -> float:
    """Ratio of best times, the two taking turns so that a busy machine slows both."""
    ours()
    theirs()
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for i, function in enumerate((ours, theirs)):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best[0] / best[1]


def peak_gigabytes(function: Callable[[], Any]) -> float:
    """Peak resident memory of a fresh process that runs the function, its imports included."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return float(pool.apply(_peak_of, (function,)))


def _peak_of(function: Callable[[], Any]) -> float:
    function()
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss of a new process begins at what its parent held when it started it
        kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) * 1024 / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
