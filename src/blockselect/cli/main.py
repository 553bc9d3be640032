"""The entry of the command `blockselect`: light, so that Ctrl-C and a missing package are answered from the start."""

from __future__ import annotations

import os
import sys

from blockselect.cli.interrupts import end_at_once


def main() -> None:
    """Run the command with the arguments of this process."""
    end_at_once()
    from blockselect.cli.extra import advice
    from blockselect.cli.streams import open_closed_streams, say

    open_closed_streams()
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files; Matplotlib refuses to load under a name it does not know
    # Of workers that a signal ends, joblib's tracker of semaphores may complain after all has been removed.
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), quiet]))
    try:
        from blockselect.cli.commands import app
    except ModuleNotFoundError as error:
        message = advice(error)
        if message is None:
            raise
        say(f"error: {message}")
        sys.exit(2)
    try:
        app()
    finally:
        end_at_once()


if __name__ == "__main__":
    main()
