"""The entry of the command `blockselect`: light, so that Ctrl-C and a missing package are answered from the start."""

from __future__ import annotations

import sys

from blockselect.cli.extra import advice
from blockselect.cli.interrupts import end_at_once


def main() -> None:
    """Run the command with the arguments of this process."""
    end_at_once()
    try:
        from blockselect.cli.commands import app
    except ModuleNotFoundError as error:
        message = advice(error)
        if message is None:
            raise
        sys.exit(_complain(message))
    try:
        app()
    finally:
        end_at_once()


def _complain(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
