"""Entry point of the command `blockselect`. It imports little, so that Ctrl-C works from the start."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from blockselect.cli.failure import complain
from blockselect.cli.signals import end_at_once
from blockselect.cli.waiting import waiting


def main() -> None:
    """Run the command with the arguments of this process."""
    end_at_once()
    open_closed_streams()
    waiting.begin()
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files; Matplotlib cannot be imported with an unknown backend
    # If a signal ends workers, joblib's resource tracker may warn of leaks although everything was cleaned up.
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), quiet]))
    try:
        try:
            from blockselect.cli.commands import app
        except ModuleNotFoundError as error:
            sys.exit(complain(error))
        app()
    finally:
        waiting.end()
        end_at_once()


def open_closed_streams() -> None:
    """Reopen closed standard streams, so that files opened later do not get their descriptors.

    Text written to a closed stderr is lost. Writing to a closed stdout is an error, because results would be lost.
    Characters that stdout cannot encode are escaped.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest free descriptor, which is `number`
    if sys.stdout is None:
        sys.stdout = _text_stream(1)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as Python does for stderr
    if sys.stderr is None:
        sys.stderr = _text_stream(2)


def _text_stream(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


if __name__ == "__main__":
    main()
