"""What a slow command is doing, on stderr. This module is light, so that it speaks while the others are imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread


class Waiting:
    """Says what is being done if the command takes longer than a second: a line per stage, and a dot per second."""

    def __init__(self, patience: float = 1.0) -> None:
        self.patience = patience  # seconds until the first line, and between two dots
        self._doing, self._shown, self._is_slow = "loading blockselect", "", False  # shown: the line that is not ended
        self._lock, self._ended = Lock(), Event()

    def begin(self) -> None:
        if not {"--quiet", "--help", "--version"} & {*sys.argv}:  # help and versions come in a moment
            Thread(target=self._keep_speaking, daemon=True).start()

    def now(self, doing: str) -> None:
        """Another stage begins."""
        with self._lock:
            if doing != self._doing:
                self._doing = doing
                if self._is_slow:
                    self._end_line()
                    self._show(f"{doing} ...")

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Something else is written on a line of its own."""
        with self._lock:
            self._end_line()
            yield

    def end(self) -> None:
        """Say no more: the command has ended, or shows its result or a bar."""
        with self._lock:
            self._ended.set()
            self._is_slow = False
            self._end_line()

    @property
    def line_end(self) -> str:
        """What ends the line; on a terminal, what comes next replaces it."""
        if not self._shown:
            return ""
        return f"\r{' ' * len(self._shown)}\r" if sys.stderr.isatty() else "\n"

    def _keep_speaking(self) -> None:
        while not self._ended.wait(self.patience):
            with self._lock:
                if not self._ended.is_set():
                    self._is_slow = True
                    self._show("." if self._shown else f"{self._doing} ...")

    def _end_line(self) -> None:
        self._show(self.line_end)
        self._shown = ""

    def _show(self, text: str) -> None:
        self._shown += text
        with suppress(OSError):  # stderr cannot be written
            print(text, end="", file=sys.stderr, flush=True)


waiting = Waiting()
