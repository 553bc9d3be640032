"""stdout and stderr that may be closed, full, or the end of a broken pipe."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from blockselect.wording import visible

FULL_OR_GONE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO}


def open_closed_streams() -> None:
    """Let no file that is opened later take the place of a closed stream, nor a letter that stdout lacks end the run.

    What is written to a closed stderr is lost; writing to a closed stdout fails, as results would be lost.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number: this one
    if sys.stdout is None:
        sys.stdout = _text(1)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        with suppress(OSError):
            sys.stdout.reconfigure(errors="backslashreplace")  # as Python has it for stderr
    if sys.stderr is None:
        sys.stderr = _text(2)


def say(message: str) -> None:
    """A line on stderr; where none can be written there is nobody to tell. Names in it may come from others."""
    with suppress(OSError):
        sys.stderr.write(f"{visible(message)}\n")
        sys.stderr.flush()


def stdout_problem(error: OSError) -> str | None:
    """What to say of an error that came from writing to stdout; None of any other."""
    if error.filename is not None or error.errno not in FULL_OR_GONE:
        return None
    return f"stdout: {error.strerror}; send it to another place, or write files with --out."


def drop_stdout() -> None:
    """Forget what is still to be written there, or Python complains of it at its end."""
    with suppress(OSError, ValueError):  # a stream that is no file has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _text(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
