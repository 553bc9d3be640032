"""Rows with the features that a ranking selects."""

from __future__ import annotations

import numpy as np

from blockselect.base import ScoreSelector
from blockselect.reproduction.selections import selection_row
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import IntArray


def selected_by_rank(selector: ScoreSelector) -> IntArray:
    """The selected features, best first."""
    return np.argsort(selector.ranking_)[: selector.n_features_]


def taken(ranked: IntArray, top: int) -> Row:
    """A row with the selected features as a user would get them, possibly fewer than requested."""
    n_selected = min(top, len(ranked))
    error = None if n_selected else "no feature was selected."
    return {**selection_row(ranked, max(1, n_selected)), "top": top, "n_selected": n_selected, "error": error}
