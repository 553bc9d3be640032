"""How the command fails: one line on stderr and exit code 2 for what the user can mend, 130 for Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

BAD_INPUT, INTERRUPTED = 2, 130


class Failure(Exception):  # noqa: N818  (what the user reads, not an error of the program)
    """Something the user can mend. Its message is all they see."""

    def format_message(self) -> str:
        return str(self)


@contextmanager
def expecting_bad_input() -> Iterator[None]:
    """Turn what bad files, values and devices raise into a `Failure`."""
    try:
        yield
    # RuntimeError: torch's way to refuse a device, or to say that its memory is full.
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        raise Failure(_reason(error)) from error


class OneLineGroup(TyperGroup):
    """A group of commands that shows every complaint as one line, Typer's own about options included."""

    def main(self, *args: Any, **extra: Any) -> Any:
        if not extra.get("standalone_mode", True):
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except Exception as error:
            # Typer's class of usage errors has moved between its versions; what it can do has not.
            message = getattr(error, "format_message", None)
            if message is None:
                raise
            _complain(message())
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _complain(message: str) -> NoReturn:
    typer.echo(f"error: {one_line(message)}", err=True)
    sys.exit(BAD_INPUT)


def one_line(message: str) -> str:
    return " ".join(message.split())


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}); try --dtype float32, or drop features first."
    return str(error)
