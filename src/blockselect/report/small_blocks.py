"""Small blocks: too small to be read about one by one, so shown together; labels and scores stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

SMALL = 0.01  # share of the nodes below which a block is small


def small_blocks(sizes: Sequence[int]) -> list[int]:
    """Blocks with fewer than 1 % of the nodes each, where there are at least two: one alone is shown as it is.

    Examples
    --------
    >>> small_blocks([500, 4, 490, 6])
    [1, 3]
    >>> small_blocks([996, 4])
    []
    """
    least = SMALL * sum(sizes)
    found = [block for block, size in enumerate(sizes) if size < least]
    return found if len(found) > 1 else []
