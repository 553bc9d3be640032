"""Redundancy: which of the selected features repeat one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.graphs.features import as_dense
from blockselect.graphs.statistics import mean_and_variance

ALIKE = 0.5  # correlation from which two features count as alike
_MOST = 1000  # features whose pairs are compared
_PAIRS = 10
_SHOWN = 0.1  # correlation from which a pair is listed


def redundancy(features: Features, chosen: IntArray) -> dict[str, Any] | None:
    """Pearson correlations among the selected features, None for fewer than two.

    Returns
    -------
    dict
        `n_compared` (the best thousand at most), `n_alike` (features with a partner of at least 0.5), the `pairs` that
        are most alike, by columns, and all `correlations` (c, c) as lists.
    """
    compared = chosen[:_MOST]
    if len(compared) < 2:
        return None
    correlations = correlate(features[:, compared])
    apart = np.triu(correlations, 1)
    rows, columns = np.unravel_index(np.argsort(-apart, axis=None, kind="stable")[:_PAIRS], apart.shape)
    partner = (correlations - 2 * np.eye(len(compared))).max(axis=1)
    return {
        "n_compared": len(compared),
        "n_alike": int(np.count_nonzero(partner >= ALIKE)),
        "pairs": [
            {"first": int(compared[i]), "second": int(compared[j]), "correlation": float(apart[i, j])}
            for i, j in zip(rows, columns, strict=True)
            if apart[i, j] >= _SHOWN
        ],
        "correlations": correlations.round(3).tolist(),
    }


def correlate(columns: Features) -> FloatArray:
    """Pearson correlation of each pair of columns; 0 beside a constant column."""
    mean, variance = mean_and_variance(columns)
    scale = np.sqrt(variance)
    products = as_dense(columns.T @ columns).astype(np.float64) / columns.shape[0] - np.outer(mean, mean)
    spread = np.outer(scale, scale)
    correlations = np.divide(products, spread, out=np.zeros_like(products), where=spread > 1e-12 * np.outer(mean, mean))
    np.fill_diagonal(correlations, 1.0)
    clipped: FloatArray = np.clip(correlations, -1.0, 1.0)
    return clipped
