"""What every selector shares: scores become a ranking and a selection, under scikit-learn's contract."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray, IntArray


class ScoreSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of selectors that give every feature a score, larger is better, and keep the best.

    A subclass computes scores in `fit` and hands them to `_select`.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012  (scikit-learn's contract)
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
    }

    def _n_to_select(self, n_features: int) -> int:
        """The number to select: as given, as a share of the features (at least one), or half of them."""
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        if isinstance(wanted, Integral):
            if wanted > n_features:
                raise ValueError(
                    f"n_features_to_select is {wanted} but there are {n_features} features; choose at most {n_features}."
                )
            return int(wanted)
        return max(1, int(wanted * n_features))

    def _select(self, scores: FloatArray, *, why_fewer: str) -> None:
        """Set `scores_`, `ranking_` and `support_`: the largest scores, lower index first among equals, never a zero."""
        wanted = self._n_to_select(len(scores))
        order = best_first(scores)
        chosen = order[:wanted]
        chosen = chosen[scores[chosen] != 0]
        if len(chosen) < wanted:
            warnings.warn(
                f"only {len(chosen)} of the {wanted} features asked for have a non-zero score: {why_fewer} "
                f"Only these {len(chosen)} are selected.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.scores_ = scores
        self.ranking_ = np.empty(len(scores), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(scores) + 1)
        self.support_ = np.zeros(len(scores), dtype=bool)
        self.support_[chosen] = True
        self.n_features_ = len(chosen)

    def _get_support_mask(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        check_is_fitted(self)
        return self.support_  # type: ignore[no-any-return]


def best_first(scores: FloatArray) -> IntArray:
    """Features by falling score; among equals the lower index first."""
    return np.argsort(-scores, kind="stable")
