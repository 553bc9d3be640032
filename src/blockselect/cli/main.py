"""The entry point of the command `blockselect`. It is light, so that Ctrl-C is answered from the start."""

from __future__ import annotations

import os
import sys

from blockselect.cli.process import end_at_once, open_closed_streams, say


def main() -> None:
    """Run the command with the arguments of this process."""
    end_at_once()
    open_closed_streams()
    os.environ["MPLBACKEND"] = "agg"  # all pictures go to files; Matplotlib does not load with an unknown backend
    # joblib's semaphore tracker may complain about workers that a signal ended, although everything was removed.
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), quiet]))
    try:
        from blockselect.cli.commands import app
    except ModuleNotFoundError as error:
        from blockselect.extras import install_advice

        message = install_advice(error)
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
