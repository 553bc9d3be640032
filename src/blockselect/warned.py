"""collected_warnings: what code warns its users of, as messages rather than on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

FOR_PROGRAMMERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Give a list that holds, when the block has ended, each message of a warning for users once, in one line."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for noise in FOR_PROGRAMMERS:
            warnings.simplefilter("ignore", noise)
        try:
            yield messages
        finally:
            messages.extend(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
