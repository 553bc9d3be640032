"""How the command fails: one line on stderr and exit code 2 for what the user can mend."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from blockselect.cli.extra import advice
from blockselect.cli.settings import option_of
from blockselect.errors import OutOfMemoryError, ParameterError

BAD_INPUT = 2
RAN_OUT = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EIO}


class Failure(Exception):  # noqa: N818  (what the user reads, not an error of the program)
    """Something the user can mend. Its message is all they see."""

    def format_message(self) -> str:
        return str(self)


def of_the_machine(error: OSError | MemoryError) -> str | None:
    """What to say of an error that may come at any time: memory, open files or the disk ran out. None of any other."""
    if isinstance(error, MemoryError) or error.errno in RAN_OUT:
        return _reason(error)
    return None


@contextmanager
def expecting_bad_input() -> Iterator[None]:
    """Turn what bad files, values and devices raise into a `Failure`, which names options rather than parameters."""
    try:
        yield
    # RuntimeError: torch's way to refuse a device, or to say that its memory is full.
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        raise Failure(_reason(error)) from error


def one_line(message: str) -> str:
    return " ".join(message.split())


def _reason(error: Exception) -> str:
    if isinstance(error, ParameterError):
        return f"{option_of(error.parameter)} {error.problem}"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError):
        asked = error.__cause__ if isinstance(error, OutOfMemoryError) else error
        return f"not enough memory ({str(asked) or 'no size given'}); drop features first (by variance, say)."
    return (isinstance(error, ImportError) and advice(error)) or str(error)
