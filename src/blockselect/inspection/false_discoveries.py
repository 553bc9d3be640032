"""Which features are discoveries: p-values against a null model, and a cut that controls false discoveries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from blockselect.arrays import FloatArray

MIN_ROUNDS = 3  # a null round is measured by the others' spread, and a spread takes two
_ROUNDING = 1e-6  # values of a feature that differ by less than this share of the largest are equal: sums were taken


@dataclass(frozen=True, slots=True, eq=False)
class Discoveries:
    """Features that stand out from the null model."""

    q_values: FloatArray  # (m,) the lowest level at which each feature is a discovery
    found: NDArray[np.bool_]  # (m,)


def null_p_values(scores: FloatArray, null_scores: FloatArray) -> FloatArray:
    """P-value of each feature: how often a null score stands out from its feature's null as far as the real one does.

    Features differ much in level and spread under the null (a frequent word scores high on any graph), and a few
    rounds tell both but no tail. So each real score becomes z = (x − mean) / (sd √(1 + 1/B)) by the B null scores of
    its own feature, each null score the same by the other B − 1, and the null z of all features form one distribution:
    p = (1 + #{null z ≥ z}) / (1 + B m), never zero. A spread from B − 1 scores has the heavier tail, which errs
    towards large p. The smallest p is about 1 / (B m): B must exceed 1 / level for a lone discovery.

    Parameters
    ----------
    scores : array of shape (m,)
    null_scores : array of shape (B, m)
        At least three rounds.

    Returns
    -------
    array of shape (m,)
        1 for a feature whose score is the same in all rounds and the real one, such as a constant column; the
        others are not measured by it.
    """
    n_rounds = len(null_scores)
    if n_rounds < MIN_ROUNDS:
        raise ValueError(f"the null model has {n_rounds} rounds; expected at least {MIN_ROUNDS}, better 50.")
    together = np.concatenate([scores[None], null_scores]).astype(np.float64)
    largest = np.abs(together).max(axis=0)
    varies = np.ptp(together, axis=0) > _ROUNDING * largest
    p_values = np.ones(len(scores))
    scaled = together[:, varies] / largest[varies]
    real_z, null_z = _standardised(scaled[0], scaled[1:])
    null_z = np.sort(null_z, axis=None)
    at_least = len(null_z) - np.searchsorted(null_z, real_z, side="left")
    p_values[varies] = (1 + at_least) / (1 + len(null_z))
    return p_values


def _standardised(real: FloatArray, null: FloatArray) -> tuple[FloatArray, FloatArray]:
    """z of the real scores (m,) by the null ones, and of each null score by those of the other rounds (B, m)."""
    n = len(null)
    mean = null.mean(axis=0)
    squares = np.sum((null - mean) ** 2, axis=0)
    mean_of_others = mean + (mean - null) / (n - 1)
    squares_of_others = np.maximum(squares - (null - mean) ** 2 * n / (n - 1), 0)
    return _z(real - mean, squares, n), _z(null - mean_of_others, squares_of_others, n - 1)


def _z(excess: FloatArray, squares: FloatArray, n: int) -> FloatArray:
    """Excess over the mean of n scores, by their spread; a spread of nothing but rounding counts as rounding."""
    spread = np.sqrt(squares / (n - 1) * (1 + 1 / n))
    z: FloatArray = excess / np.maximum(spread, _ROUNDING)
    return z


def discoveries(p_values: FloatArray, level: float) -> Discoveries:
    """Features found while, on average, at most a share `level` of those found are false (Benjamini and Hochberg)."""
    if not 0 < level < 1:
        raise ValueError(f"the false discovery rate is {level}; expected a share between 0 and 1, such as 0.1.")
    q_values = false_discovery_control(p_values)
    return Discoveries(q_values, q_values <= level)
