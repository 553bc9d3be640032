"""The command as a process: signals that end it, and standard streams that may be closed, full or broken."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import TextIO

from blockselect.wording import visible

MESSAGES: dict[int, str] = {signal.SIGINT: "interrupted.", signal.SIGTERM: "terminated."}
"""Signal → the message that is printed when it ends the command."""
if hasattr(signal, "SIGHUP"):  # pragma: no branch (not on Windows)
    MESSAGES[signal.SIGHUP] = "hung up."
STDOUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO}


class Stopped(KeyboardInterrupt):
    """A signal that ends the command. Code that catches Ctrl-C in order to clean up catches this too."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(MESSAGES[number])
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """The exit code that shells expect: 128 plus the number of the signal."""
    return 128 + getattr(stop, "number", signal.SIGINT)


def stop_message(stop: KeyboardInterrupt) -> str:
    """The message for a command that was stopped."""
    return MESSAGES[getattr(stop, "number", signal.SIGINT)]


def end_at_once() -> None:
    """Let signals end the process immediately.

    This is for imports and for the end of the process, where an exception would be shown as a traceback or swallowed.
    """
    for number in MESSAGES:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a background job may ignore Ctrl-C, nohup ignores SIGHUP
            signal.signal(number, _end)


def begin_work() -> None:
    """Let signals raise `Stopped` from now on, so that files and processes are cleaned up.

    Every command calls this once all its modules are imported. It changes only what `end_at_once` has set.
    """
    for number in MESSAGES:
        if signal.getsignal(number) is _end:
            signal.signal(number, _raise)


def _end(number: int, frame: FrameType | None) -> None:  # pragma: no cover (ends before anything can be recorded)
    with suppress(OSError):  # stderr may be closed
        os.write(2, f"{MESSAGES[number]}\n".encode())
    os._exit(128 + number)


def _raise(number: int, frame: FrameType | None) -> None:
    # SIGTERM and SIGHUP often arrive twice, once for the process and once for its group: the second one must not
    # interrupt the cleaning up. A person who presses Ctrl-C may press it again.
    for other in MESSAGES:
        if other != signal.SIGINT and signal.getsignal(other) is _raise:
            signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)


def open_closed_streams() -> None:
    """Reopen closed standard streams, so that no file that is opened later takes their place.

    Text that is written to a closed stderr is lost. Writing to a closed stdout fails, because results would be lost.
    Characters that the encoding of stdout lacks are escaped.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = _text_stream(1)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        with suppress(OSError):
            sys.stdout.reconfigure(errors="backslashreplace")  # Python does the same for stderr
    if sys.stderr is None:
        sys.stderr = _text_stream(2)


def say(message: str) -> None:
    """Print one line on stderr, without control characters; do nothing if stderr cannot be written."""
    with suppress(OSError):
        sys.stderr.write(f"{visible(message)}\n")
        sys.stderr.flush()


def stdout_problem(error: OSError) -> str | None:
    """The message for an error that came from writing to stdout, and None for every other error."""
    if error.filename is not None or error.errno not in STDOUT_ERRORS:
        return None
    return f"stdout: {error.strerror}; send it to another place, or write files with --out."


def drop_stdout() -> None:
    """Discard text that was not written yet; Python would complain about it at its end."""
    with suppress(OSError, ValueError):  # a stream that is not a file has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _text_stream(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
