"""What the commands that measure share: lines of progress, and files in a folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from blockselect.reproduction.agenda import Standing

LINE_EVERY = 30.0  # seconds between lines of progress


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Files by their paths in a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def progress_lines() -> Callable[[Standing], None]:
    """A line now and then on how far the trials are."""
    last = time.monotonic()

    def report(standing: Standing) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            left = "" if standing.seconds_left is None else f", about {standing.seconds_left / 60:.0f} minutes left"
            print(f"{standing.done} of {standing.known} trials{left}", file=sys.stderr)

    return report
