"""The entry point of the command `blockselect`. It is light, so that Ctrl-C is answered from the start."""

from __future__ import annotations

import io
import os
import sys

from blockselect.cli.failure import complain, end_at_once


def main() -> None:
    """Run the command with the arguments of this process."""
    end_at_once()
    os.environ["MPLBACKEND"] = "agg"  # all pictures go to files; Matplotlib does not load with an unknown backend
    # joblib's semaphore tracker may complain about workers that a signal ended, although everything was removed.
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), quiet]))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for characters that its encoding lacks, as stderr does
    try:
        from blockselect.cli.commands import app
    except ModuleNotFoundError as error:
        sys.exit(complain(error))
    try:
        app()
    finally:
        end_at_once()


if __name__ == "__main__":
    main()
