"""How the command ends early: one line on stderr for everything that the user can correct, and for signals."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from blockselect.cli.waiting import waiting
from blockselect.utils.errors import OutOfMemoryError
from blockselect.utils.extras import install_advice
from blockselect.utils.wording import visible

BAD_INPUT = 2  # exit code
AGAIN = 0.01  # seconds until a signal is repeated
STDOUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO}  # full, closed or broken
MESSAGES: dict[int, str] = {signal.SIGINT: "interrupted.", signal.SIGTERM: "terminated."}
"""Signal → the message that is printed when it ends the command."""
if hasattr(signal, "SIGHUP"):  # pragma: no branch (not on Windows)
    MESSAGES[signal.SIGHUP] = "hung up."
NAMED_ALIKE = (
    *("n_blocks", "block_model", "n_neighbors", "n_jobs", "n_resamples"),
    *("id_column", "drop", "one_hot", "fill", "decimal", "transpose", "unknown_nodes", "weight"),
)
OPTION_OF = {
    "n_features_to_select": "--top",
    "n_features": "--top",
    "random_state": "--seed",
    "adjacency": "--graph",
    **{name: f"--{name.removeprefix('n_').replace('_', '-')}" for name in NAMED_ALIKE},
}
"""Parameter in Python → the option that sets it."""


class Failure(Exception):  # noqa: N818  (a message for the user, not an error of the program)
    """A problem that the user can correct. The user sees its message and nothing else."""


def in_options(message: str) -> str:
    """A message of the library with options instead of parameters, and without types of Python.

    Only the first word, names with an underscore and ``name=value`` are taken for parameters: others may be ordinary
    words.
    """
    message = re.sub(rf"\b({'|'.join([*OPTION_OF, 'header'])})=(\[.*?\]|'.*?'|\".*?\"|[\w.]*\w)", _as_option, message)
    message = re.sub(r"(an int|a float) in the range ([\[(])(\S+), (\S+)[\])]", _range_in_words, message)
    message = re.sub(r"a str among {(.*?)}", lambda found: found[1].replace("'", ""), message)
    no_value = r"(None|an instance of '[^']+')"  # of an option
    message = re.sub(rf"(,| or) {no_value}(?=,| or|\.)|(?<=must be ){no_value}(, | or )", "", message)
    message = message.replace("an array-like", "a file of labels").replace(", a sparse array or matrix", "")
    names = r"^\w+(?= )|(?<![\w'\"/.])[a-z]+(_[a-z]+)+(?![\w'\"/]|\.\w)"  # but no columns and no files
    return re.sub(names, lambda found: OPTION_OF.get(found[0], found[0]), message)


def _as_option(found: re.Match[str]) -> str:
    name, value = found[1], re.sub(r"^\[?['\"]?|['\"]?\]?$", "", found[2])
    if name == "header":
        return "--no-header"
    if value == "True":
        return OPTION_OF[name]
    return f"{OPTION_OF[name]} {'none' if value == 'False' else shlex.quote(value)}"


def _range_in_words(found: re.Match[str]) -> str:
    """A range as scikit-learn writes it, such as "an int in the range [1, inf)", in words."""
    kind = "a whole number" if found[1] == "an int" else "a number"
    low, high = (end.removesuffix(".0") for end in found.group(3, 4))
    if high == "inf":
        return f"{kind} {'of at least' if found[2] == '[' else 'above'} {low}"
    if low == "-inf":
        return f"{kind} of at most {high}"
    return f"{kind} from {low} to {high}" if found[2] == "[" else f"{kind} between {low} and {high}"


def say(message: str) -> None:
    """Print one line on stderr, without control characters; do nothing if stderr cannot be written."""
    with suppress(OSError), waiting.interrupted():
        print(visible(message), file=sys.stderr, flush=True)


def one_line(message: str) -> str:
    """The message with every run of white space replaced by one blank."""
    return " ".join(message.split())


@contextmanager
def expecting_bad_input() -> Iterator[None]:
    """Turn errors about files, values and devices into a `Failure` that names options instead of parameters."""
    try:
        yield
    # PyTorch raises RuntimeError for an invalid device and when the memory of a device is full.
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        raise Failure(_reason(error)) from error


def complain(error: Exception) -> int:
    """Print one line about an error that the user can correct and return the exit code; raise a bug again."""
    if hasattr(error, "format_message"):  # usage errors of Typer, whose class has moved between versions
        message = error.format_message()
    elif isinstance(error, OSError) and error.filename is None and error.errno in STDOUT_ERRORS:
        message = f"stdout: {error.strerror}; redirect the output elsewhere, or write files with --out."
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python would complain about the unwritten text at its end
    elif isinstance(error, Failure):
        message = str(error)
    elif isinstance(error, OSError | MemoryError):  # memory and disk space can run out anywhere
        message = _reason(error)
    else:
        message = install_advice(error) if isinstance(error, ImportError) else None
    if message is None:
        raise error
    say(f"error: {one_line(message)}")
    return BAD_INPUT


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError):
        request = error.__cause__ if isinstance(error, OutOfMemoryError) else error
        return f"not enough memory ({str(request) or 'no size given'}); drop features first (for example by variance)."
    return (isinstance(error, ImportError) and install_advice(error)) or in_options(str(error))


def end_at_once() -> None:
    """Let signals end the process immediately.

    This is for imports and for the end of the process, where an exception would be shown as a traceback or swallowed.
    """
    for number in MESSAGES:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a background job may ignore Ctrl-C, nohup ignores SIGHUP
            signal.signal(number, _end)


def begin_work() -> None:
    """Let signals raise `KeyboardInterrupt` from now on, so that files and processes are cleaned up.

    Every command calls this once all its modules are imported. It changes only what `end_at_once` has set.
    """
    for number in MESSAGES:
        if signal.getsignal(number) is _end:
            signal.signal(number, _raise)
            sys.unraisablehook = _raise_again


def stopped(stop: KeyboardInterrupt) -> int:
    """Say which signal stopped the command, and return the exit code that shells expect: 128 plus its number."""
    number = stop.args[0] if stop.args else signal.SIGINT
    say(MESSAGES[number])
    return 128 + int(number)


def _end(number: int, frame: FrameType | None) -> None:  # pragma: no cover (ends before anything can be recorded)
    os.write(2, f"{waiting.line_end}{MESSAGES[number]}\n".encode())
    os._exit(128 + number)


def _raise(number: int, frame: FrameType | None) -> None:
    # SIGTERM and SIGHUP often arrive twice, once for the process and once for its group: the second one must not
    # interrupt the cleaning up. A person who presses Ctrl-C may press it again.
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def _raise_again(swallowed: sys.UnraisableHookArgs) -> None:
    """Repeat a signal that arrived in a finaliser (`__del__`, weak reference), where Python drops every exception."""
    if not isinstance(swallowed.exc_value, KeyboardInterrupt) or not hasattr(signal, "setitimer"):  # Windows has none
        sys.__unraisablehook__(swallowed)
        return
    number = swallowed.exc_value.args[0]
    signal.signal(number, _raise)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
