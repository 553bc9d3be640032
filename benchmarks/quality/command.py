"""What the commands that measure share: lines of progress, files in a folder, a limit of time."""

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
    """Files by their paths in a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def progress_lines() -> TrialProgress:
    """A line now and then on how far the trials are."""
    last = time.monotonic()

    def report(done: int, known: int) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            print(f"{done} of {known} trials", file=sys.stderr)

    return report


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
