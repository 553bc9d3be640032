"""Helpers for the commands: showing progress, writing files, and limiting time."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from blockselect.reproduction.engine import TrialProgress

LINE_EVERY = 30.0  # seconds between lines of progress


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, given as a mapping from path within the folder to content."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def progress_lines() -> TrialProgress:
    """A callback that prints the number of finished trials from time to time."""
    last = time.monotonic()

    def report(done: int, known: int) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            print(f"{done} of {known} trials", file=sys.stderr)

    return report


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if the code takes longer, once it returns to Python; works only in the main thread."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
