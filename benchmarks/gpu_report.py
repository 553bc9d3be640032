"""Helpers of the GPU benchmark: lines that are printed and kept, times that wait for the device, stored files."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch


class Report:
    """Lines that are printed as they come, and one table."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failed: list[str] = []

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)

    def check(self, what: str, good: bool) -> None:
        self.say(f"- {'holds' if good else 'FAILS'}: {what}")
        if not good:
            self.failed.append(what)

    @contextmanager
    def written_to(self, path: Path) -> Iterator[None]:
        """Keep the lines in a file, whatever happens; exit with the checks that failed, if any."""
        try:
            yield
        finally:
            path.write_text("\n".join(self.lines) + "\n")
        sys.exit("; ".join(self.failed) or 0)


def stored_file(variable: str, name: str) -> Path | None:
    """A file of the folder that a variable of the environment names, or that file itself; None: not there."""
    path = Path(os.environ.get(variable, "missing"))
    path = path / name if path.is_dir() else path
    return path if path.is_file() else None


def now(device: str) -> float:
    """Seconds, once the device is done."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(function: Callable[[], Any], device: str) -> float:
    """Median wall time until the device is done, after a call that warms up; as many calls as fit into a second."""
    function()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < 1 and len(times) < 30):
        start = now(device)
        function()
        times.append(now(device) - start)
    return statistics.median(times)
