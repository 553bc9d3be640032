"""VarianceScore: features by how much they vary."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect.arrays import Features, FloatArray
from blockselect.base import ScoreSelector
from blockselect.baselines.criterion import FeatureGuidedSelector
from blockselect.graphs.column_statistics import constant_columns, mean_and_variance


class VarianceScore(FeatureGuidedSelector):
    """Select the features with the largest variance.

    The criterion is mean((f − mean(f))²), large is good: the simplest there is, and what any other should beat. It
    looks at one column at a time and depends on the unit of each feature. Sparse features stay sparse. Formula: sure.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Variance of each feature, divided by n.
    scores_ : array of shape (m,)
        The same; −∞ for a constant feature, which is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    LaplacianScore : Also asks whether nodes that are alike have alike values.

    Notes
    -----
    `fit` takes an `affinity` as all methods guided by features do, checks it, and does not use it.

    Examples
    --------
    >>> from blockselect.baselines.by_features.variance import VarianceScore
    >>> X = [[0.0, 5.0, 1.0], [1.0, 5.0, 9.0], [0.0, 5.0, 1.0]]
    >>> selector = VarianceScore(1).fit(X)
    >>> selector.get_support(indices=True)
    array([2])
    """

    _parameter_constraints: dict[str, list[Any]] = {**ScoreSelector._parameter_constraints}  # noqa: RUF012

    def __init__(self, n_features_to_select: int | float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def _affinity(self, features: Features) -> None:
        """None is needed."""

    def _score(self, features: Features, affinity: Any) -> FloatArray:
        _, variance = mean_and_variance(features)
        constant = constant_columns(features)
        self.criterion_ = np.where(constant, 0.0, variance)
        return np.where(constant, -np.inf, variance)
