"""Base of methods that score features by how likely they make the links, plus a penalty of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.base import generator_from
from blockselect.baselines._solvers.logistic_links import Penalty, ScoredLinks, alternate, link_likelihood
from blockselect.baselines._solvers.node_pairs import linked_pairs
from blockselect.baselines.by_network.partial_order import features_to_compare
from blockselect.baselines.constraints import AT_LEAST_ONE, NON_NEGATIVE
from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.column_statistics import constant_columns


class LinkModelSelector(NetworkGuidedSelector):
    """Base of methods in which nodes i and j link with probability σ(x_iᵀ diag(s) x_j + b), s ∈ [0, 1].

    A subclass has the parameters below, and implements `_penalty`.
    """

    _zero_is_unused = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "binarize": ["boolean"],
        "sparsity": [NON_NEGATIVE],
        "exact": ["boolean"],
        "non_links_per_link": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NON_NEGATIVE],
        "random_state": ["random_state"],
    }

    def _score(self, graph: AttributedGraph) -> FloatArray:
        rng = generator_from(self.random_state)
        features = features_to_compare(graph.features, binarize=self.binarize)
        varying = ~constant_columns(features)  # a constant adds the same to every pair: that is the intercept's part
        features = in_own_units(features[:, varying])
        likelihood = link_likelihood(
            features, graph.adjacency, non_links_per_link=None if self.exact else self.non_links_per_link, rng=rng
        )
        penalty_at = self._penalty(features, graph.adjacency, rng)
        sparsity = self.sparsity / len(linked_pairs(graph.adjacency))  # the loss is divided by the links as well
        result = alternate(
            likelihood,
            lambda scores: _plus_sparsity(penalty_at(scores), sparsity),
            features,
            graph.adjacency,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.intercept_, self.history_, self.n_iter_ = result.intercept, result.history, len(result.history)
        self.criterion_, scores = np.zeros(graph.n_features), np.zeros(graph.n_features)
        self.criterion_[varying] = result.scores
        scores[varying] = scores_beyond_the_bound(result)
        return scores

    @abstractmethod
    def _penalty(
        self, features: Features, adjacency: Sparse, rng: np.random.Generator
    ) -> Callable[[FloatArray], Penalty]:
        """Scores (m,) → the method's own penalty, whose own unknowns are fitted to these scores."""


def in_own_units(features: Features) -> Features:
    """Divided by the mean absolute value of what is not zero: the same whatever the unit, and 0 and 1 stay."""
    values = features.data if sparse.issparse(features) else features
    return features * (np.count_nonzero(values) / np.abs(values).sum())


def _plus_sparsity(penalty: Penalty, sparsity: float) -> Penalty:
    def total(scores: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = penalty(scores)
        return value + sparsity * float(scores.sum()), gradient + sparsity

    return total


def scores_beyond_the_bound(result: ScoredLinks) -> FloatArray:
    """The scores; for a feature at the bound of 1 plus how steeply the objective falls there, which the bound holds.

    Else all features at the bound would rank by their index. (m,)
    """
    return result.scores + np.where(result.scores == 1, np.maximum(-result.gradient, 0), 0)
