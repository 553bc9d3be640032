"""Base classes of the other methods, which are guided either by the features or by the network."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from blockselect.base import ScoreSelector
from blockselect.baselines._solvers.row_sparse import Solve, reweight
from blockselect.graphs.affinity import neighbour_affinity
from blockselect.inputs.adjacency import check_affinity, graph_of
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.result import make_result
from blockselect.rows.statistics import check_varies
from blockselect.utils._sklearn import Interval, StrOptions, fit_context
from blockselect.utils.arrays import BoolArray, Features, FloatArray, Sparse
from blockselect.utils.errors import warn_caller

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")

_FEWER = "all other features are constant or unused, so their scores are zero or not finite."


class CriterionSelector(ScoreSelector):
    """Base class of methods that rank features by a criterion, where either larger or smaller values are better.

    A subclass sets `criterion_`, the raw criterion of each feature, and returns scores, for which larger is better. A
    feature with a score of −∞ (for an undefined criterion) is never selected. If `_zero_is_unused` is set, features
    with a score of zero are not selected either. The constraints apply to parameters that several methods share.
    """

    _zero_is_unused = False
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        "binarize": ["boolean"],
        "initial_clusters": [None, "array-like"],
        "max_iter": [AT_LEAST_ONE],
        "n_blocks": [AT_LEAST_ONE],
        "random_state": ["random_state"],
        "ridge": [POSITIVE],
        "sparsity": [POSITIVE],
        "tol": [NON_NEGATIVE],
    }

    def _is_eligible(self, scores: FloatArray) -> BoolArray:
        eligible: BoolArray = np.isfinite(scores) & ((scores != 0) | (not self._zero_is_unused))
        return eligible

    def _select_by(self, scores: FloatArray, features: Features) -> None:
        self._select(scores, why_fewer=_FEWER)
        self._warn_of_constant(features)

    def _check_settings(self, data: Any) -> None:
        """Raise an error if the settings do not fit the features or the graph; called before any computation."""

    def _reweight(self, solve: Solve, start: FloatArray, **options: Any) -> FloatArray:
        """Return row-sparse coefficients; set `history_` and `n_iter_`, and warn if the objective did not converge."""
        result = reweight(solve, start, max_iter=self.max_iter, tol=self.tol, **options)
        self.history_, self.n_iter_ = result.history, len(result.history)
        if not result.settled and self.tol > 0:  # a tolerance of 0 requests all iterations
            warn_caller(
                f"the objective did not converge within max_iter={self.max_iter}; increase max_iter or tol (now "
                f"{self.tol:g}).",
                ConvergenceWarning,
            )
        return result.coefficients

    def _score_by(self, criterion: FloatArray, sign: int = 1) -> FloatArray:
        """Set `criterion_` and return the scores `sign` · criterion, which are −∞ where the criterion is NaN. (m,)"""
        self.criterion_ = criterion
        return np.where(np.isnan(criterion), -np.inf, sign * criterion)


class FeatureGuidedSelector(CriterionSelector):
    """Base class of methods that use only the features, through an affinity between nodes.

    A subclass has the parameters `n_neighbors`, `weights` and `width` of the affinity (see `neighbour_affinity`) and
    implements `_score`.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **CriterionSelector._parameter_constraints,
        "n_neighbors": [AT_LEAST_ONE],
        "weights": [StrOptions({"heat", "binary", "cosine"})],
        "width": [StrOptions({"mean"}), POSITIVE],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, affinity: Any = None) -> Self:
        """Score the features.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, m)
            Features of the nodes.
        y : ignored
        adjacency : matrix of shape (n, n), edges, or graph of another library, optional
            Accepted so that every method can be called in the same way. The scores do not depend on it, but a report
            shows the features on this network.
        affinity : array, sparse matrix or DataFrame of shape (n, n), optional
            Non-negative similarity between nodes; if it is asymmetric, the larger of the two directions is used. By
            default it is computed from the nearest neighbours. If both the affinity and X have node ids, they are
            matched by id.

        Returns
        -------
        self
        """
        table = self._check_features(X, y, graph="affinity", non_negative=False)
        adjacency = graph_of(X, adjacency)
        network = table if adjacency is None else check_attributed_graph(table, adjacency)
        features = table.matrix
        check_varies(features)
        self._n_to_select(features.shape[1])
        if affinity is not None:
            affinity = check_affinity(affinity, features.shape[0], table.node_ids)
        self._check_settings(features)
        if affinity is None:
            affinity = self._affinity(features)
        self._select_by(self._score(features, affinity), features)
        self._note_features(table.feature_names, features.shape[1])
        self._result = make_result(network, self._selected_in_order())
        return self

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        raise ValueError(
            f"{type(self).__name__} uses only the features, so resampled links change nothing; use a selector "
            "that uses the network."
        )

    def _affinity(self, features: Features) -> Any:
        return neighbour_affinity(features, self.n_neighbors, weights=self.weights, width=self.width)

    @abstractmethod
    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        """Set `criterion_` and return the scores, for which larger is better. (m,)"""


class NetworkGuidedSelector(CriterionSelector):
    """Base class of methods that use the network.

    A subclass implements `_score` and has the parameter `n_neighbors`: the number of neighbours per node in a graph
    built from the features if `fit` is given no graph. If `n_neighbors` is None, a missing graph is an error.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **CriterionSelector._parameter_constraints,
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
            The network, with one node per row of X, in any form that :func:`blockselect.check_attributed_graph`
            accepts. If it is None and `n_neighbors` is set, each node is linked to its `n_neighbors` nearest nodes in
            X.

        Returns
        -------
        self
        """
        graph = self._read_network(X, y, adjacency)
        self._note_input(X, adjacency, graph)
        check_varies(graph.features)
        self._n_to_select(graph.n_features)
        self._check_settings(graph)
        self._select_by(self._score(graph), graph.features)
        self.network_evidence_ = self._evidence(graph)
        self._result = make_result(graph, self._selected_in_order())
        return self

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        """Check and convert the network and its features, before any computation."""
        return self._check_graph(X, y, adjacency, non_negative=False)

    @abstractmethod
    def _score(self, graph: AttributedGraph) -> FloatArray:
        """Set `criterion_` and return the scores, for which larger is better. (m,)"""
