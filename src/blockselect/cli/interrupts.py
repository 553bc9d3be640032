"""Ctrl-C, SIGTERM, SIGHUP: end the process at once while nothing is half-done, and unwind it while a command works."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType

MESSAGES: dict[int, str] = {signal.SIGINT: "interrupted.", signal.SIGTERM: "terminated."}
"""Signal → what is said of it."""
if hasattr(signal, "SIGHUP"):  # pragma: no branch (not on Windows)
    MESSAGES[signal.SIGHUP] = "hung up."


class Stopped(KeyboardInterrupt):
    """A signal that ends the command; what catches Ctrl-C to clear up catches this."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(MESSAGES[number])
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """As shells count: 128 and the number of the signal."""
    return 128 + getattr(stop, "number", signal.SIGINT)


def message(stop: KeyboardInterrupt) -> str:
    return MESSAGES[getattr(stop, "number", signal.SIGINT)]


def end_at_once() -> None:
    """For imports and the end of a process, where an exception would show up as a traceback or be swallowed."""
    for number in MESSAGES:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a background job may ignore Ctrl-C, nohup ignores SIGHUP
            signal.signal(number, _end)


def unwind() -> None:
    """For work: raise `Stopped`, so that files and processes are cleared away. Undoes `end_at_once` alone."""
    for number in MESSAGES:
        if signal.getsignal(number) is _end:
            signal.signal(number, _raise)


def _end(number: int, frame: FrameType | None) -> None:  # pragma: no cover (ends before anything can be recorded)
    with suppress(OSError):  # stderr may be closed
        os.write(2, f"{MESSAGES[number]}\n".encode())
    os._exit(128 + number)


def _raise(number: int, frame: FrameType | None) -> None:
    # What stops a process often comes twice, to it and to its group: the second must not break the clearing up.
    # Ctrl-C is pressed by a person, who may press it again.
    for other in MESSAGES:
        if other != signal.SIGINT and signal.getsignal(other) is _raise:
            signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)
