"""References for comparison: all features, random features, and features selected with all labels.

The features selected with labels have the largest chi² statistics with the classes of all nodes. They are not a rival,
because they are evaluated with the same labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_selection import chi2

from benchmarks.quality.selected import taken
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import Features, IntArray, best_first

ALL, RANDOM, BY_LABELS = "all features", "random features", "chi² with all labels"
REFERENCES = (ALL, RANDOM, BY_LABELS)
N_DRAWS = 5  # draws of random features


def reference_trials() -> list[tuple[str, int]]:
    """The references, each with its seeds."""
    return [(ALL, 0), *((RANDOM, seed) for seed in range(N_DRAWS)), (BY_LABELS, 0)]


def reference_order(method: str, features: Features, classes: IntArray, seed: int) -> IntArray:
    """All features, in the order in which they are selected."""
    if method == BY_LABELS:
        return best_first(np.nan_to_num(chi2(features, classes)[0], nan=-np.inf))
    n_features = features.shape[1]
    return np.random.default_rng(seed).permutation(n_features) if method == RANDOM else np.arange(n_features)


def reference_rows(method: str, features: Features, classes: IntArray, tops: Sequence[int], seed: int) -> list[Row]:
    """One row per number of features; the row of all features is repeated for each number."""
    order = reference_order(method, features, classes, seed)
    return [{**taken(order, len(order) if method == ALL else top), "top": top} for top in tops]
