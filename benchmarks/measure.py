"""Measurements: the best time of several calls, and the peak memory of a separate process."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Measurement:
    what: str
    value: float
    limit: float
    how: str
    at_most: bool = True  # whether the limit is an upper limit
    unit: str = "×"
    peak: float | None = None  # GB, in a separate process

    @property
    def measured(self) -> str:
        return f"{self.value:,.3g} {self.unit}".rstrip()

    @property
    def bound(self) -> str:
        if self.limit == float("inf"):
            return ""  # no limit, only compared with the stored value
        return f"{'≤' if self.at_most else '≥'} {self.limit:,.3g} {self.unit}".rstrip()

    @property
    def met(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    @property
    def verdict(self) -> str:
        return "yes" if self.met else "NO"


def seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """Best wall time of several calls, after a warm-up call."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def interleaved_ratio(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 7) -> float:
    """Ratio of the best times of two functions, run in turn so that a busy machine slows both."""
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
    """Peak resident memory of a new process that runs the function, including its imports."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return float(pool.apply(_peak_of, (function,)))


def _peak_of(function: Callable[[], Any]) -> float:
    function()
    peak = peak_memory()
    return float("nan") if peak is None else peak / 1e9


def peak_memory() -> int | None:
    """Peak memory of this process so far, in bytes, or None if the system does not report it."""
    if STATUS.exists():  # because ru_maxrss of a new process starts at the memory of its parent
        kilobytes = next(line.split()[1] for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) * 1024
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
