"""Warnings for users: raised at the calling line of their own code, or collected as messages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

FOR_PROGRAMMERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
_INNER = {"blockselect", "sklearn"}  # frames between the warning and the code of the user


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this library that led to the warning."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings: after the block, the list holds each message for users once, in one line."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for noise in FOR_PROGRAMMERS:
            warnings.simplefilter("ignore", noise)
        try:
            yield messages
        finally:
            messages.extend(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
