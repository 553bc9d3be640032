"""SignedSelector: signed features for selectors that take non-negative ones."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone

from blockselect._sklearn import Interval, fit_context
from blockselect.arrays import Features
from blockselect.base import ScoreSelector
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import AttributedGraph


class SignedSelector(MetaEstimatorMixin, ScoreSelector):
    """Select signed features, such as standardised ones, with a selector that takes features ≥ 0 alone.

    Each feature x of standard deviation s becomes two that are not negative, the upper part max(x + cs, 0) and the
    lower part max(cs − x, 0), c being the `overlap`. The selector scores all 2m parts together, and a feature ranks
    and scores as the better of its two; `transform` gives the features themselves. So a feature may mark a block by
    large values or by small ones, and two nodes are alike in it if both lie high, or both low. With the default
    overlap of 1 a part is linear but for its tail: it keeps weak shifts between the means of blocks, which a split at
    zero cuts in half, and an outlier cannot move the origin, as it does that of x − min(x).

    The split is around zero: standardise features whose zero has no meaning, so that it is their mean.

    Parameters
    ----------
    estimator : selector
        A selector of this package for non-negative features, with the number of features to select:
        ``BlockModelSelector(64)``, say. It is cloned, never fitted itself.
    overlap : float, default=1.0
        How far a part reaches beyond zero, in standard deviations of the feature. At 0 sparse features stay sparse,
        above they become dense.

    Attributes
    ----------
    estimator_ : selector
        Fitted to the parts: all upper ones, then all lower ones. Its `labels_`, say, are the blocks.
    part_scores_ : array of shape (2, m)
        Scores of the upper and the lower parts.
    scores_ : array of shape (m,)
        Score of each feature, larger is better.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected: fewer than asked for where too few scores are non-zero.
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
        """Score the features by both of their parts.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, m)
            Features of the nodes, of any sign.
        y : ignored
        adjacency : array or sparse matrix of shape (n, n), edge table, or None
            The graph, as the estimator takes it. None links each node with its nearest neighbours by X, where the
            estimator would.

        Returns
        -------
        self
        """
        graph = self._read_network(X, y, adjacency)
        wanted = self._n_to_select(graph.n_features)
        self.estimator_ = clone(self.estimator).set_params(n_features_to_select=wanted)
        self.estimator_.fit(split_signs(graph.features, self.overlap), adjacency=graph.adjacency)
        self.part_scores_ = self.estimator_.scores_.reshape(2, graph.n_features)
        order = np.argsort(self.estimator_.ranking_.reshape(2, graph.n_features).min(axis=0))
        self._rank(self.part_scores_.max(axis=0), order)
        self.support_ = np.isin(np.arange(graph.n_features), order[self.scores_[order] > 0][:wanted])
        self.n_features_ = int(self.support_.sum())
        self.network_evidence_ = getattr(self.estimator_, "network_evidence_", None)
        return self

    @property
    def n_features_to_select(self) -> Any:
        """That of the estimator."""
        return self.estimator.n_features_to_select

    @property
    def n_neighbors(self) -> Any:
        """That of the estimator."""
        return self.estimator.n_neighbors

    @property
    def _default_neighbors(self) -> Any:  # type: ignore[override]
        return self.estimator._default_neighbors

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        if self.n_features_to_select == "auto":
            raise ParameterError(
                "n_features_to_select",
                'is "auto", which tests non-negative features alone; ask the estimator for a number of features.',
            )
        return self._check_graph(X, y, adjacency, non_negative=False)


def split_signs(features: Features, overlap: float) -> Features:
    """Upper parts, then lower parts, both non-negative; sparse stays sparse without an overlap: (n, 2m)."""
    if overlap == 0 and sparse.issparse(features):
        return sparse.csr_array(sparse.hstack([features.maximum(0), (-features).maximum(0)]))
    dense = features.toarray() if sparse.issparse(features) else features
    reach = (overlap * dense.std(axis=0, dtype=np.float64)).astype(dense.dtype)
    return np.maximum(np.hstack([reach + dense, reach - dense]), 0)
