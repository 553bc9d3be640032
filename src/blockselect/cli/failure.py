"""How the command fails: one line on stderr and exit code 2 for everything that the user can correct."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from blockselect.errors import OutOfMemoryError, ParameterError
from blockselect.extras import install_advice

BAD_INPUT = 2
EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EIO}
OPTION_OF = {
    "n_features_to_select": "--top",
    "n_features": "--top",
    "n_blocks": "--blocks",
    "max_blocks": "--max-blocks",
    "block_model": "--block-model",
    "n_candidates": "--candidates",
    "refine": "--refine",
    "binarize": "--binarize",
    "profile_ratio": "--profile-ratio",
    "sparsity": "--sparsity",
    "gradient": "--gradient",
    "max_iter": "--max-iter",
    "tol": "--tol",
    "device": "--device",
    "dtype": "--dtype",
    "memory_limit": "--memory-limit",
    "n_neighbors": "--neighbors",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "n_resamples": "--resamples",
    "adjacency": "--graph",
    "id_column": "--id-column",
    "drop": "--drop",
    "one_hot": "--one-hot",
}
"""Parameter in Python → the option that sets it, for messages."""


class Failure(Exception):  # noqa: N818  (a message for the user, not an error of the program)
    """A problem that the user can correct. The user sees its message and nothing else."""

    def format_message(self) -> str:
        return str(self)


def option_of(parameter: str) -> str:
    """The option that sets a parameter, or the parameter itself if no option does."""
    return OPTION_OF.get(parameter, parameter)


def by_options(message: str) -> str:
    """A warning of the library that begins with a parameter, with the option that sets it instead."""
    first, blank, rest = message.partition(" ")
    return f"{option_of(first)}{blank}{rest}"


@contextmanager
def expecting_bad_input() -> Iterator[None]:
    """Turn errors about files, values and devices into a `Failure` that names options instead of parameters."""
    try:
        yield
    # PyTorch raises RuntimeError for an invalid device and when the memory of a device is full.
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        raise Failure(_reason(error)) from error


def exhausted(error: OSError | MemoryError) -> str | None:
    """The message if memory, open files or disk space ran out, which can happen anywhere, and None otherwise."""
    if isinstance(error, MemoryError) or error.errno in EXHAUSTED:
        return _reason(error)
    return None


def one_line(message: str) -> str:
    """The message with every run of white space replaced by one blank."""
    return " ".join(message.split())


def _reason(error: Exception) -> str:
    if isinstance(error, ParameterError):
        return f"{option_of(error.parameter)} {error.problem}"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError):
        request = error.__cause__ if isinstance(error, OutOfMemoryError) else error
        return f"not enough memory ({str(request) or 'no size given'}); drop features first (by variance, say)."
    return (isinstance(error, ImportError) and install_advice(error)) or str(error)
