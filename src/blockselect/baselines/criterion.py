"""Bases of the baselines: guided by the features themselves, or guided by the network."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from blockselect._sklearn import StrOptions, fit_context
from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.base import ScoreSelector, row_ids
from blockselect.baselines._solvers.reweighting import Reweighted
from blockselect.baselines.constraints import AT_LEAST_ONE, POSITIVE
from blockselect.graphs.affinity import check_affinity, neighbour_affinity
from blockselect.graphs.attributed import AttributedGraph, check_feature_matrix
from blockselect.graphs.checks import check_names, check_varies
from blockselect.graphs.targets import refuse_graph_as_target
from blockselect.warned import warn_caller

_FEWER = "the others have no finite, non-zero score (constant or unused features); only these are selected."


class CriterionSelector(ScoreSelector):
    """Base of methods that compute a criterion of their own, of which small values may be the good ones.

    A subclass sets `criterion_`, the raw criterion of each feature, and returns scores, larger is better. A feature
    whose score is −∞ (its criterion is not defined) is never selected; where `_zero_is_unused` is set, neither is one
    whose score is zero.
    """

    _zero_is_unused = False

    def _select_by(self, scores: FloatArray) -> None:
        eligible = np.isfinite(scores)
        if self._zero_is_unused:
            eligible &= scores != 0
        self._select(scores, eligible=eligible, why_fewer=_FEWER)

    def _record(self, result: Reweighted) -> FloatArray:
        """Set `history_` and `n_iter_`, warn if the iterations did not suffice, and return the coefficients."""
        self.history_, self.n_iter_ = result.history, len(result.history)
        if not result.settled and self.tol > 0:  # a tolerance of 0 asks for all iterations
            warn_caller(
                f"the objective did not settle within max_iter={self.max_iter}; raise it, or tol (it is {self.tol:g}).",
                ConvergenceWarning,
            )
        return result.coefficients


def scores_where_defined(criterion: FloatArray, sign: int = 1) -> FloatArray:
    """Scores, larger is better, of a criterion that `sign` turns that way; −∞ where it is NaN: (m,)."""
    return np.where(np.isnan(criterion), -np.inf, sign * criterion)


class FeatureGuidedSelector(CriterionSelector):
    """Base of methods that look at the features alone, through an affinity between nodes.

    A subclass has the parameters `n_neighbors`, `weights` and `width` of the affinity (see `neighbour_affinity`) and
    implements `_score`.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        "n_neighbors": [AT_LEAST_ONE],
        "weights": [StrOptions({"heat", "binary", "cosine"})],
        "width": [StrOptions({"mean"}), POSITIVE],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, affinity: Any = None) -> Self:
        """Score the features.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, m)
            Features of the nodes.
        y : ignored
        affinity : array, sparse matrix or DataFrame of shape (n, n), optional
            How alike nodes are, non-negative; the larger of both directions is used. None: by nearest neighbours.
            Its nodes meet the rows of X by id where both have ids.

        Returns
        -------
        self
        """
        features = check_feature_matrix(
            self._check_matrix(X), feature_names=getattr(self, "feature_names_in_", None), non_negative=False
        )
        if y is not None:
            refuse_graph_as_target(y, features.shape[0], name="affinity")
        check_varies(features)
        self._n_to_select(features.shape[1])
        if affinity is not None:
            node_ids = check_names(row_ids(X), features.shape[0], "node id", "row")
            affinity = check_affinity(affinity, features.shape[0], node_ids)
        self._check_settings(features)
        if affinity is None:
            affinity = self._affinity(features)
        self._select_by(self._score(features, affinity))
        self._warn_of_constant(features)
        return self

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        raise ValueError(
            f"{type(self).__name__} looks at the features alone, so resampled links change nothing; use a selector "
            "that reads the network."
        )

    def _check_settings(self, features: Features) -> None:
        """Refuse settings that do not fit the data, before any work; by default there are none."""

    def _affinity(self, features: Features) -> Any:
        return neighbour_affinity(features, self.n_neighbors, weights=self.weights, width=self.width)

    @abstractmethod
    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        """Set `criterion_` and return the scores, larger is better. (m,)"""


class NetworkGuidedSelector(CriterionSelector):
    """Base of methods that look at the network.

    A subclass has the parameter `n_neighbors`, which says how to build a graph where `fit` is given none (None: a
    missing graph is an error), and implements `_score`.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        "n_neighbors": [None, AT_LEAST_ONE],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None) -> Self:
        """Score the features by the network.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, m)
            Features of the nodes.
        y : ignored
        adjacency : array or sparse matrix of shape (n, n), or edge table
            The network, one row for each row of X, as :func:`blockselect.check_attributed_graph` takes it. Where it is
            None, the nearest `n_neighbors` by X are linked, if that parameter is set.

        Returns
        -------
        self
        """
        graph = self._read_network(X, y, adjacency)
        check_varies(graph.features)
        self._n_to_select(graph.n_features)
        self._check_settings(graph)
        self._select_by(self._score(graph))
        self._warn_of_constant(graph.features)
        return self

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        """The network with its features, checked; whatever is wrong with them is found here, before any work."""
        return self._check_graph(X, y, adjacency, non_negative=False)

    def _check_settings(self, graph: AttributedGraph) -> None:
        """Refuse settings that do not fit the data, before any work; by default there are none."""

    @abstractmethod
    def _score(self, graph: AttributedGraph) -> FloatArray:
        """Set `criterion_` and return the scores, larger is better. (m,)"""
