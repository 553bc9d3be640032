"""What a misspelt name may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to end an error message with, or nothing where no known name is near."""
    close = get_close_matches(name.lower(), list(known), n=1)
    return f" Did you mean {close[0]}?" if close else ""
