"""LaplacianScore: features that hardly differ between nodes that are alike."""

from __future__ import annotations

from typing import Any

from blockselect.arrays import Features, FloatArray
from blockselect.baselines._solvers.laplacian_forms import laplacian_criterion
from blockselect.baselines.criterion import FeatureGuidedSelector, scores_where_defined


class LaplacianScore(FeatureGuidedSelector):
    """Select the features that hardly differ between nodes with alike features, without labels.

    For each feature f, with the affinity W between nodes, D = diag(W1), L = D − W and f̃ = f − (fᵀD1 / 1ᵀD1) 1, the
    criterion is f̃ᵀLf̃ / f̃ᵀDf̃, small is good: how much f differs between neighbours, over how much it varies at all.
    This is the Laplacian score of He, Cai and Niyogi [1]_. Checked against published code.

    Sparse features are never filled, which costs digits where a feature's mean is far above its spread: pass it dense.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_neighbors : int, default=5
        Nearest others of each node in the affinity, where `fit` is given none. (paper: k)
    weights : {"heat", "binary", "cosine"}, default="heat"
        Affinity of neighbours: exp(−d²/2t²) of their distance d, 1, or their cosine.
    width : float or "mean", default=1.0
        Width of the heat kernel; "mean" is the mean distance of neighbours, which fits data of any scale. (paper: t)

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above, from 0 to 2; NaN for a constant feature.
    scores_ : array of shape (m,)
        Its negative, so that larger is better; −∞ for a constant feature, which is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    NetworkLaplacianScore : The same with the network as the affinity.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_features.laplacian import LaplacianScore
    >>> planted = make_attributed_blocks(random_state=0)
    >>> LaplacianScore(10, width="mean").fit_transform(planted.features).shape
    (300, 10)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        weights: str = "heat",
        width: float | str = 1.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width

    def _score(self, features: Features, affinity: Any) -> FloatArray:
        self.criterion_ = laplacian_criterion(features, affinity)
        return scores_where_defined(self.criterion_, -1)
