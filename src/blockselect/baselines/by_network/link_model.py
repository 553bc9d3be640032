"""Base class of methods that score features by the likelihood of the links minus a penalty.

Nodes i and j are linked with probability σ(x_iᵀ diag(s) x_j + b). The scores s ∈ [0, 1] maximise the penalised
likelihood.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from blockselect.baselines._solvers.node_pairs import (
    NonLinks,
    PairProducts,
    features_to_compare,
    linked_pairs,
    row_pieces,
)
from blockselect.baselines.criterion import AT_LEAST_ONE, NON_NEGATIVE, NetworkGuidedSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.matrices import as_dense
from blockselect.rows.statistics import constant_columns
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.parameters import generator_from

_STEPS = 20  # descent steps of the scores before the penalty is updated

Penalty = Callable[[FloatArray], tuple[float, FloatArray]]  # scores (m,) → value, gradient (m,)
PenaltyAt = Callable[[FloatArray], Penalty]  # scores (m,) → penalty whose unknowns are fitted to these scores


class LinkModelSelector(NetworkGuidedSelector):
    """Base class of methods in which nodes i and j are linked with probability σ(x_iᵀ diag(s) x_j + b), s ∈ [0, 1].

    A subclass has the parameters below and implements `_penalty`.
    """

    _zero_is_unused = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "sparsity": [NON_NEGATIVE],
        "exact": ["boolean"],
        "non_links_per_link": [AT_LEAST_ONE],
    }

    def _score(self, graph: AttributedGraph) -> FloatArray:
        rng = generator_from(self.random_state)
        features = features_to_compare(graph.features, binarize=self.binarize)
        varying = ~constant_columns(features)  # a constant feature adds the same to each pair, like the intercept
        features = _in_own_units(features[:, varying])
        n, n_links = graph.n_nodes, len(linked_pairs(graph.adjacency))
        non_links_per_link = None if self.exact else self.non_links_per_link
        likelihood = link_likelihood(features, graph.adjacency, non_links_per_link=non_links_per_link, rng=rng)
        penalty_at, cost = self._penalty(features, graph.adjacency, rng), self.sparsity / n_links
        scale = _curvature(features, n_links)
        # Start with affinities of about 1 between a node and itself: the logistic loss is steep at large affinities.
        s = np.full(len(scale), min(0.5, n / (features * features).sum()))
        point = np.append(s * scale, np.log(n_links / (n * (n - 1) / 2 - n_links)))
        bounds = [*((0.0, highest) for highest in scale), (None, None)]
        options = {"maxiter": _STEPS, "ftol": 1e-13, "gtol": 1e-10}
        history: list[float] = []
        # Each iteration fits the unknowns of the penalty to the scores, and then updates the scores and the intercept
        # by a few descent steps. Neither increases the objective.
        for _ in range(self.max_iter):
            penalty = penalty_at(point[:-1] / scale)

            def objective(point: FloatArray, penalty: Penalty = penalty) -> tuple[float, FloatArray]:
                s = point[:-1] / scale
                loss, (value, gradient) = likelihood.loss(s, float(point[-1])), penalty(s)
                value, gradient = value + cost * float(s.sum()), gradient + cost
                return loss.value + value, np.append((loss.gradient + gradient) / scale, loss.by_intercept)

            result = minimize(objective, point, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
            point = result.x
            history.append(float(result.fun))
            if len(history) > 1 and history[-2] - history[-1] <= self.tol * abs(history[-2]):
                break
        s, slope = np.minimum(point[:-1] / scale, 1), result.jac[:-1] * scale
        self.intercept_, self.history_, self.n_iter_ = float(point[-1]), np.array(history), len(history)
        self.criterion_, scores = np.zeros(graph.n_features), np.zeros(graph.n_features)
        self.criterion_[varying] = s
        # Features at the bound of 1 are ranked by how steeply the objective still decreases there.
        scores[varying] = s + np.where(s == 1, np.maximum(-slope, 0), 0)
        return scores

    @abstractmethod
    def _penalty(self, features: Features, adjacency: Sparse, rng: np.random.Generator) -> PenaltyAt:
        """The penalty of the method, without the sparsity."""


def _in_own_units(features: Features) -> Features:
    """Divide by the mean absolute value of the non-zero entries; binary features do not change."""
    values = features.data if sparse.issparse(features) else features
    return features * (np.count_nonzero(values) / np.abs(values).sum())


@dataclass(frozen=True, slots=True, eq=False)
class LinkLoss:
    """Negative log-likelihood of the network per link."""

    value: float
    gradient: FloatArray  # (m,) with respect to the scores
    by_intercept: float


class AllPairs:
    """Likelihood of all pairs of different nodes, computed in batches of rows."""

    def __init__(self, features: Features, adjacency: Sparse) -> None:
        self._X, self._A, self._n_links = features, adjacency, len(linked_pairs(adjacency))  # (n, m) (n, n)
        self._transposed = sparse.csr_array(features.T) if sparse.issparse(features) else features.T

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss:
        value, gradient, by_intercept = 0.0, np.zeros(len(scores)), 0.0
        for rows in row_pieces(self._X.shape[0], max(self._X.shape)):
            X = self._X[rows]
            logits = as_dense((X * scores) @ self._transposed) + intercept
            losses, residual = _cross_entropy(logits, self._A[rows].toarray() != 0)
            own = np.arange(len(logits)), np.arange(rows.start, rows.stop)
            losses[own] = residual[own] = 0
            value += losses.sum()
            by_intercept += residual.sum()
            gradient += (X * (residual @ self._X)).sum(axis=0)
        scale = 1 / (2 * self._n_links)  # each pair is counted twice
        return LinkLoss(float(scale * value), scale * gradient, float(scale * by_intercept))


class SampledPairs:
    """Likelihood of all links and a fixed sample of non-links, weighted to represent all of them."""

    def __init__(
        self, features: Features, links: IntArray, non_links: NonLinks, size: int, rng: np.random.Generator
    ) -> None:
        self._products = PairProducts(features, np.concatenate([links, non_links.draw(size, rng)]))  # (p, m)
        self._linked = np.repeat([1.0, 0.0], [len(links), size])  # (p,)
        self._weights = np.where(self._linked > 0, 1.0, non_links.n_pairs / size) / len(links)  # (p,)

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss:
        losses, residual = _cross_entropy(self._products.affinity(scores) + intercept, self._linked)
        residual *= self._weights
        return LinkLoss(float(self._weights @ losses), self._products.total(residual), float(residual.sum()))


def link_likelihood(
    features: Features, adjacency: Sparse, *, non_links_per_link: int | None, rng: np.random.Generator
) -> AllPairs | SampledPairs:
    """Sample this number of non-links per link, or use all pairs if it is None or if there are no more non-links."""
    links, non_links = linked_pairs(adjacency), NonLinks(adjacency)
    if non_links_per_link is None or non_links_per_link * len(links) >= non_links.n_pairs:
        return AllPairs(features, adjacency)
    return SampledPairs(features, links, non_links, non_links_per_link * len(links), rng)


def _curvature(features: Features, n_links: int) -> FloatArray:
    """√(Σ (x_il x_jl)² / |E|) over all pairs for each feature l, a unit that gives all features equal curvature. (m,)

    Without this scaling, the descent takes ten times as many steps if columns differ in scale, as word counts do.
    """
    squares = features * features
    pairs = np.maximum(squares.sum(axis=0) ** 2 - (squares * squares).sum(axis=0), 0) / 2
    scale = np.sqrt(pairs / n_links)
    return np.maximum(scale, 1e-6 * scale.max()) if scale.any() else np.ones(len(scale))


def _cross_entropy(logits: FloatArray, linked: Any) -> tuple[FloatArray, FloatArray]:
    """Negative log-probability of each observation, and its derivative with respect to the logit."""
    return np.logaddexp(0, logits) - linked * logits, expit(logits) - linked
