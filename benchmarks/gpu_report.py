"""Helpers of the GPU benchmark: a printed and saved report, timers that wait for the device, and stored files."""

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
    """The lines of the report, printed at once, and the checks that failed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failed: list[str] = []

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)

    def check(self, what: str, good: bool) -> None:
        self.say(f"- {'passed' if good else 'FAILED'}: {what}")
        if not good:
            self.failed.append(what)

    @contextmanager
    def written_to(self, path: Path) -> Iterator[None]:
        """Write the lines to a file, even after an error; exit with an error that lists the failed checks, if any."""
        try:
            yield
        finally:
            path.write_text("\n".join(self.lines) + "\n")
        sys.exit("; ".join(self.failed) or 0)


def stored_file(variable: str, name: str) -> Path | None:
    """The file that an environment variable names, or the file of that name in the folder that it names, or None."""
    path = Path(os.environ.get(variable, "missing"))
    path = path / name if path.is_dir() else path
    return path if path.is_file() else None


def now(device: str) -> float:
    """The current time in seconds, read once the device has finished its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(function: Callable[[], Any], device: str) -> float:
    """Median time of a call, including the work on the device, over about a second of calls after a warm-up call."""
    function()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < 1 and len(times) < 30):
        start = now(device)
        function()
        times.append(now(device) - start)
    return statistics.median(times)
