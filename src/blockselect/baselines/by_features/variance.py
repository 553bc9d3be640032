"""VarianceScore: features with a large variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect.baselines.criterion import FeatureGuidedSelector
from blockselect.rows.statistics import constant_columns, mean_and_variance
from blockselect.utils.arrays import Features, FloatArray


class VarianceScore(FeatureGuidedSelector):
    """Select the features with the largest variance.

    The criterion is mean((f − mean(f))²), for which larger is better. It is the simplest criterion; any other criterion
    should outperform it. It depends on the unit of each feature. Sparse features remain sparse. The formula is
    standard.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Variance of each feature, with the divisor n.
    scores_ : array of shape (m,)
        The criterion; −∞ for a constant feature, which is never selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.

    See Also
    --------
    LaplacianScore : Also considers whether similar nodes have similar values.

    Notes
    -----
    `fit` accepts and checks an `affinity`, as all methods guided by features do, but does not use it.

    Examples
    --------
    >>> from blockselect.baselines.by_features.variance import VarianceScore
    >>> X = [[0.0, 5.0, 1.0], [1.0, 5.0, 9.0], [0.0, 5.0, 1.0]]
    >>> selector = VarianceScore(1).fit(X)
    >>> selector.get_support(indices=True)
    array([2])
    """

    def __init__(self, n_features_to_select: int | float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def _affinity(self, features: Features) -> None:
        """Return None, because no affinity is needed."""

    def _score(self, features: Features, affinity: Any) -> FloatArray:
        _, variance = mean_and_variance(features)
        constant = constant_columns(features)
        self.criterion_ = np.where(constant, 0.0, variance)
        return np.where(constant, -np.inf, variance)
