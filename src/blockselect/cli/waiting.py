"""What a slow command is doing, on stderr. This module is light, so that it speaks while the others are imported."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Timer

PATIENCE = 1.0  # seconds until the first line: a quick command says nothing


class Waiting:
    """Says what is being done if the command takes longer than a second, one line per stage."""

    def __init__(self) -> None:
        self._doing, self._is_slow, self._timer = "loading blockselect", False, Timer(PATIENCE, self._lose_patience)
        self._timer.daemon = True

    def begin(self) -> None:
        if "--quiet" not in sys.argv:
            self._timer.start()

    def now(self, doing: str) -> None:
        """Another stage begins."""
        if doing != self._doing:
            self._doing = doing
            if self._is_slow:
                self._speak()

    def end(self) -> None:
        """Say no more: the command has ended, or a bar shows the progress."""
        self._timer.cancel()
        self._is_slow = False

    def _lose_patience(self) -> None:
        self._is_slow = True
        self._speak()

    def _speak(self) -> None:
        with suppress(OSError):  # stderr cannot be written
            # On a terminal, what comes next replaces the line.
            print(f"{self._doing} ...", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)


waiting = Waiting()
