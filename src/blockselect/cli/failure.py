"""Error messages on one line of stderr, which name command-line options instead of library parameters."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from blockselect.cli.waiting import waiting
from blockselect.utils.errors import OutOfMemoryError
from blockselect.utils.extras import install_advice
from blockselect.utils.wording import visible

BAD_INPUT = 2  # exit code
STDOUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO}  # stdout is full, closed or broken
SAME_NAMES = (
    *("n_blocks", "block_model", "n_neighbors", "n_jobs", "n_resamples"),
    *("node_ids", "feature_names", "id_column", "label_attribute", "drop", "one_hot", "fill", "decimal", "transpose"),
    *("unknown_nodes", "weight"),
)
OPTION_OF = {
    "n_features_to_select": "--top",
    "n_features": "--top",
    "random_state": "--seed",
    "adjacency": "--graph",
    "header": "--no-header",
    **{name: f"--{name.removeprefix('n_').replace('_', '-')}" for name in SAME_NAMES},
}
"""Python parameter → the option that sets it."""


class Failure(Exception):  # noqa: N818  (a message for the user, not a program error)
    """A problem that the user can correct. Only its message is shown."""


def in_options(message: str) -> str:
    """Rewrite a library message with options instead of parameters, and without Python types.

    Only the first word, names with an underscore, and ``name=value`` are taken to be parameters, because other matches
    may be ordinary words.
    """
    message = re.sub(r"set_params\((.*?)\)", r"--set \1", message)
    message = _without_calls(re.sub(r"as_adjacency\(edges, (.*?)\)", r"\1", message))
    message = re.sub(rf"\b({'|'.join(OPTION_OF)})=(\[.*?\]|'.*?'|\".*?\"|[\w.]*\w)", _as_option, message)
    message = re.sub(r"(an int|a float) in the range ([\[(])(\S+), (\S+)[\])]", _range_in_words, message)
    message = re.sub(r"a str among {(.*?)}", lambda found: found[1].replace("'", ""), message)
    no_value = r"(None|an instance of '[^']+')"  # values that no option can take
    message = re.sub(rf"(,| or) {no_value}(?=,| or|\.)|(?<=must be ){no_value}(, | or )", "", message)
    message = message.replace("an array-like", "a file of labels").replace(", a sparse array or matrix", "")
    names = r"^\w+(?= )|(?<![\w'\"/.])[a-z]+(_[a-z]+)+(?![\w'\"/]|\.\w)"  # not in quotes or paths
    return re.sub(names, lambda found: OPTION_OF.get(found[0], found[0]), message)


def _without_calls(message: str) -> str:
    """Leave out advice that contains a Python call; the first clause, which states the problem, is always kept."""

    def is_call(text: str) -> bool:
        return re.search(r"\w\((?!s\))", text) is not None  # "node(s)" is not a call

    first, *others = re.split(r"(?<=\.) (?=[A-Z])", message)
    problem, *advice = first.removesuffix(".").split(", or ")
    clauses = [problem, *(clause for clause in advice if not is_call(clause))]
    end = "." if first.endswith(".") else ""
    return " ".join([", or ".join(clauses) + end, *(sentence for sentence in others if not is_call(sentence))])


def _as_option(found: re.Match[str]) -> str:
    option, value = OPTION_OF[found[1]], re.sub(r"^\[?['\"]?|['\"]?\]?$", "", found[2])
    if value == "True" or option == "--no-header":
        return option
    return f"{option} {'none' if value == 'False' else shlex.quote(value)}"


def _range_in_words(found: re.Match[str]) -> str:
    """Rewrite a scikit-learn range, such as "an int in the range [1, inf)", in words."""
    kind = "a whole number" if found[1] == "an int" else "a number"
    low, high = (end.removesuffix(".0") for end in found.group(3, 4))
    if high == "inf":
        return f"{kind} {'of at least' if found[2] == '[' else 'above'} {low}"
    if low == "-inf":
        return f"{kind} of at most {high}"
    return f"{kind} from {low} to {high}" if found[2] == "[" else f"{kind} between {low} and {high}"


def say(message: str) -> None:
    """Print one line on stderr, without control characters; do nothing if stderr is not writable."""
    with suppress(OSError), waiting.interrupted():
        print(visible(message), file=sys.stderr, flush=True)


def one_line(message: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(message.split())


@contextmanager
def expecting_bad_input() -> Iterator[None]:
    """Convert errors about files, values and devices to a `Failure` that names options instead of parameters."""
    try:
        yield
    # PyTorch raises RuntimeError for an invalid device and when the memory of a device is full.
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        raise Failure(_reason(error)) from error


def complain(error: Exception) -> int:
    """Print on one line an error that the user can correct, and return the exit code; re-raise any other error."""
    if hasattr(error, "format_message"):  # Typer's usage errors, whose class depends on its version
        message = error.format_message().replace("Value error, ", "")
    elif isinstance(error, OSError) and error.filename is None and error.errno in STDOUT_ERRORS:
        message = f"stdout: {error.strerror}; redirect the output elsewhere, or write files with --out."
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # otherwise Python complains about the unwritten text at exit
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
