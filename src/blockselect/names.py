"""Look-up by name; errors list the known names and suggest the closest one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeVar

Thing = TypeVar("Thing")
_LISTED = 30  # names in a message


def look_up(name: str, known: Mapping[str, Thing], *, what: str) -> Thing:
    """Return the item with this name; `what` is its kind, as in "no method is called 'x'".

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known names and suggests the closest one.
    """
    check_known([name], known, what=what)
    return known[name]


def check_known(names: Iterable[str], known: Iterable[str], *, what: str) -> None:
    """Raise an error for the first unknown name."""
    there_are = list(known)
    for name in names:
        if name not in there_are:
            more = f", and {len(there_are) - _LISTED:,} more" if len(there_are) > _LISTED else ""
            listed = ", ".join(map(str, there_are[:_LISTED])) + more
            raise ValueError(f"no {what} is called {name!r}; known are: {listed}.{_guess(name, there_are)}")


def _guess(name: str, known: list[str]) -> str:
    close = get_close_matches(str(name).lower(), known, n=1)
    return f" Did you mean {close[0]}?" if close else ""
