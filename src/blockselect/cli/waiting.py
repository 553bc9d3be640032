"""Messages on stderr about what a slow command is doing. They start while other modules are still being imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread


class Waiting:
    """Messages that show what a command is doing if it takes over a second: a line per stage and a dot per second."""

    def __init__(self, patience: float = 1.0) -> None:
        self.patience = patience  # seconds until the first line, and between dots
        self._doing, self._shown, self._is_slow = "loading blockselect", "", False  # _shown: the unfinished line
        self._lock, self._ended = Lock(), Event()

    def begin(self) -> None:
        """Start the messages, unless the command line asks for quiet, help or the version."""
        if not {"--quiet", "--help", "--version"} & {*sys.argv}:  # help and versions are shown at once
            Thread(target=self._keep_speaking, daemon=True).start()

    def now(self, doing: str) -> None:
        """Begin another stage."""
        with self._lock:
            if doing != self._doing:
                self._doing = doing
                if self._is_slow:
                    self._end_line()
                    self._show(f"{doing} ...")

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """End the line, so that the caller can write other text on a line of its own."""
        with self._lock:
            self._end_line()
            yield

    def end(self) -> None:
        """Stop the messages, because the command has ended or shows its result or a progress bar."""
        with self._lock:
            self._ended.set()
            self._is_slow = False
            self._end_line()

    @property
    def line_end(self) -> str:
        """Text that ends the unfinished line or, on a terminal, erases it."""
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
        with suppress(OSError):  # stderr is not writable
            print(text, end="", file=sys.stderr, flush=True)


waiting = Waiting()
