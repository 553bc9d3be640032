"""Ctrl-C: ends the process at once while nothing is half-done, and unwinds it while a command works."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130  # exit code: 128 + SIGINT
MESSAGE = "interrupted."


def end_at_once() -> None:
    """For imports and the end of a process, where a KeyboardInterrupt would show up as a traceback or be swallowed."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a background job may ignore Ctrl-C
        signal.signal(signal.SIGINT, _end)


def unwind() -> None:
    """For work: raise KeyboardInterrupt, so that files and processes are cleared away. Undoes `end_at_once` alone."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, f"{MESSAGE}\n".encode())
    os._exit(INTERRUPTED)
