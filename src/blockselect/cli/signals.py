"""Signal handlers: Ctrl-C and other signals end the command with one line on stderr."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from blockselect.cli.failure import say
from blockselect.cli.waiting import waiting

AGAIN = 0.01  # seconds until a signal is repeated
MESSAGES: dict[int, str] = {signal.SIGINT: "interrupted.", signal.SIGTERM: "terminated."}
"""Signal → the message that is printed when it ends the command."""
if hasattr(signal, "SIGHUP"):  # pragma: no branch (not on Windows)
    MESSAGES[signal.SIGHUP] = "hung up."


def end_at_once() -> None:
    """Let signals end the process immediately.

    This is used during imports and while the process exits, where an exception would print a traceback or be swallowed.
    """
    for number in MESSAGES:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a background job may ignore Ctrl-C, nohup ignores SIGHUP
            signal.signal(number, _end)


def begin_work() -> None:
    """Let signals raise `KeyboardInterrupt`, so that files and processes are cleaned up.

    Every command calls this after its imports. Only handlers set by `end_at_once` are replaced.
    """
    for number in MESSAGES:
        if signal.getsignal(number) is _end:
            signal.signal(number, _raise)
            sys.unraisablehook = _raise_again


def stopped(stop: KeyboardInterrupt) -> int:
    """Print which signal stopped the command, and return the usual exit code: 128 plus the number of the signal."""
    number = stop.args[0] if stop.args else signal.SIGINT
    say(MESSAGES[number])
    return 128 + int(number)


def _end(number: int, frame: FrameType | None) -> None:  # pragma: no cover (ends before coverage is recorded)
    os.write(2, f"{waiting.line_end}{MESSAGES[number]}\n".encode())
    os._exit(128 + number)


def _raise(number: int, frame: FrameType | None) -> None:
    # SIGTERM and SIGHUP often arrive twice, once for the process and once for its group; the second one must not
    # interrupt the cleanup. A second Ctrl-C may.
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def _raise_again(swallowed: sys.UnraisableHookArgs) -> None:
    """Repeat a signal that arrived in a finaliser (`__del__`, weak reference), where Python discards exceptions."""
    if not isinstance(swallowed.exc_value, KeyboardInterrupt) or not hasattr(signal, "setitimer"):  # not on Windows
        sys.__unraisablehook__(swallowed)
        return
    number = swallowed.exc_value.args[0]
    signal.signal(number, _raise)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
