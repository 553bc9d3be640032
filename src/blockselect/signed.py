"""SignedSelector: select features of any sign with a selector for non-negative features."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone

from blockselect.base import ScoreSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.result import make_result
from blockselect.utils._sklearn import Interval, fit_context
from blockselect.utils.arrays import BoolArray, Features, FloatArray
from blockselect.utils.errors import ParameterError


class SignedSelector(MetaEstimatorMixin, ScoreSelector):
    """Select features that may be negative, such as standardised ones, with a selector for non-negative features.

    Each feature x with standard deviation s is split into two non-negative parts: the upper part max(x + cs, 0) and the
    lower part max(cs − x, 0), where c is the `overlap`. The selector scores all 2m parts together. Each feature takes
    the score and the rank of its higher-scoring part, and `transform` returns the original features. A feature can thus
    mark a block by large or by small values, and two nodes are similar if their values are both high or both low.

    With the default overlap of 1, a part is linear except in its tail, so it preserves small differences between the
    means of blocks; a split at zero would lose half of them. Unlike x − min(x), the parts do not depend on outliers.
    Features are split around zero; standardise features for which zero has no special meaning.

    Parameters
    ----------
    estimator : selector
        A selector of this package for non-negative features, with the number of features to select, such as
        ``BlockModelSelector(64)``. A clone of it is fitted.
    overlap : float, default=1.0
        How far the parts extend beyond zero, in standard deviations of the feature. Sparse features stay sparse only
        with an overlap of 0.

    Attributes
    ----------
    estimator_ : selector
        The selector that was fitted to all upper parts, followed by all lower parts. Its attributes describe the fit,
        such as the blocks in `labels_`.
    part_scores_ : array of shape (2, m)
        Scores of the upper and the lower parts.
    scores_ : array of shape (m,)
        Score of each feature; larger is better.
    ranking_ : array of shape (m,)
        Rank of each feature; 1 is the best.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        Number of selected features; fewer than requested if the estimator cannot select more.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from blockselect import BlockModelSelector, SignedSelector, make_attributed_blocks
    >>> made = make_attributed_blocks(120, 3, values="counts", sparse=False, random_state=0)
    >>> standard = StandardScaler().fit_transform(made.features)
    >>> selector = SignedSelector(BlockModelSelector(10, random_state=0)).fit(standard, adjacency=made.adjacency)
    >>> selector.transform(standard).shape
    (120, 10)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "estimator": [ScoreSelector],
        "overlap": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, estimator: ScoreSelector, *, overlap: float = 1.0) -> None:
        self.estimator = estimator
        self.overlap = overlap

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None) -> Self:
        """Score the features by their upper and lower parts.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, m)
            Features of the nodes, of any sign.
        y : ignored
        adjacency : array or sparse matrix of shape (n, n), edge table, or None
            The graph, in any form that the estimator accepts. If None, each node is linked to its nearest neighbours in
            X, provided that the estimator allows this.

        Returns
        -------
        self
        """
        graph = self._read_network(X, y, adjacency)
        self._note_input(X, adjacency, graph)
        wanted = self._n_to_select(graph.n_features)
        self.estimator_ = clone(self.estimator).set_params(n_features_to_select=wanted)
        self.estimator_.fit(split_signs(graph.features, self.overlap), adjacency=graph.adjacency)
        self.part_scores_ = self.estimator_.scores_.reshape(2, graph.n_features)
        order = np.argsort(self.estimator_.ranking_.reshape(2, graph.n_features).min(axis=0))
        self._rank(self.part_scores_.max(axis=0), order)
        eligible = order[self._is_eligible(self.scores_)[order]]
        self.support_ = np.isin(np.arange(graph.n_features), eligible[:wanted])
        self.n_features_ = int(self.support_.sum())
        self.network_evidence_ = getattr(self.estimator_, "network_evidence_", None)
        self._result = make_result(graph, self._selected_in_order())
        return self

    def _is_eligible(self, scores: FloatArray) -> BoolArray:
        eligible: BoolArray = self.estimator_._is_eligible(scores)
        return eligible

    @property
    def n_features_to_select(self) -> Any:
        """The parameter of the estimator."""
        return self.estimator.n_features_to_select

    @property
    def n_neighbors(self) -> Any:
        """The parameter of the estimator."""
        return self.estimator.n_neighbors

    @property
    def _default_neighbors(self) -> Any:  # type: ignore[override]
        return self.estimator._default_neighbors

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        if self.n_features_to_select == "auto":
            raise ParameterError(
                "n_features_to_select",
                'is "auto", which can test only non-negative features; set a number of features in the estimator.',
            )
        return self._check_graph(X, y, adjacency, non_negative=False)


def split_signs(features: Features, overlap: float) -> Features:
    """The upper parts, followed by the lower parts: (n, 2m). With an overlap of 0, sparse features stay sparse."""
    if overlap == 0 and sparse.issparse(features):
        return sparse.csr_array(sparse.hstack([features.maximum(0), (-features).maximum(0)]))
    dense = features.toarray() if sparse.issparse(features) else features
    reach = (overlap * dense.std(axis=0, dtype=np.float64)).astype(dense.dtype)
    return np.maximum(np.hstack([reach + dense, reach - dense]), 0)
