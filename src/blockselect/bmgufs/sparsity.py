"""The sparsity of the scores, given or chosen without labels (paper: γ)."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from blockselect.arrays import FloatArray
from blockselect.bmgufs.sphere import normalise

Sparsity: TypeAlias = float | Literal["auto", "paper"]

SPARSITY_GRID = tuple(0.5 * i for i in range(11))  # the paper's values of γ
AVERAGED = (0.0, 0.5, 1.0)  # from none to the strongest that still leaves most features their scores


def sparsities_of(sparsity: Sparsity) -> tuple[float, ...]:
    """The values to solve for."""
    if sparsity == "auto":
        return AVERAGED
    return SPARSITY_GRID if sparsity == "paper" else (float(sparsity),)


def settle_sparsity(scores: FloatArray, sparsity: Sparsity, n_wanted: int) -> tuple[FloatArray, slice]:
    """Of the scores (c, s, m) for `sparsities_of(sparsity)`, those that count (c, m), and the sparsities they are of.

    "auto" takes the mean over all of them, as a consensus does over block models. "paper" takes the strongest that
    leaves `n_wanted` features a score.
    """
    if sparsity == "auto":
        return normalise(scores).mean(axis=1), slice(None)
    enough = np.flatnonzero(np.count_nonzero(scores.any(axis=0), axis=1) >= n_wanted)
    at = int(enough[-1]) if len(enough) else 0
    return scores[:, at], slice(at, at + 1)
