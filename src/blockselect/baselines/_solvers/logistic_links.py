"""Likelihood of the links given a score for each feature, and scores in [0, 1] that maximise it less a penalty.

Nodes i and j link with probability σ(x_iᵀ diag(s) x_j + b).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.baselines._solvers.node_pairs import NodePairs, NonLinks, PairProducts, linked_pairs, row_pieces
from blockselect.graphs.convert import as_dense

_STEPS = 20  # down to better scores before the penalty is made anew

Penalty = Callable[[FloatArray], tuple[float, FloatArray]]  # scores (m,) → value, gradient (m,)


@dataclass(frozen=True, slots=True, eq=False)
class LinkLoss:
    """Negative log-likelihood of the network, divided by the number of links."""

    value: float
    gradient: FloatArray  # (m,) by the scores
    by_intercept: float


class LinkLikelihood(Protocol):
    """What the descent asks of a likelihood."""

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss: ...


@dataclass(frozen=True, slots=True, eq=False)
class AllPairs:
    """Over all pairs of different nodes, some rows at a time."""

    features: Features  # (n, m)
    transposed: Features  # (m, n)
    adjacency: Sparse  # (n, n)
    n_links: int

    @classmethod
    def of(cls, features: Features, adjacency: Sparse) -> Self:
        transposed = sparse.csr_array(features.T) if sparse.issparse(features) else features.T
        return cls(features, transposed, adjacency, len(linked_pairs(adjacency)))

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss:
        value, gradient, by_intercept = 0.0, np.zeros(len(scores)), 0.0
        for rows in row_pieces(self.features.shape[0], max(self.features.shape)):
            X = self.features[rows]
            logits = as_dense((X * scores) @ self.transposed) + intercept
            losses, residual = _cross_entropy(logits, self.adjacency[rows].toarray() != 0)
            own = np.arange(len(logits)), np.arange(rows.start, rows.stop)
            losses[own] = residual[own] = 0
            value += losses.sum()
            by_intercept += residual.sum()
            gradient += (X * (residual @ self.features)).sum(axis=0)
        scale = 1 / (2 * self.n_links)  # each pair is met from both ends
        return LinkLoss(float(scale * value), scale * gradient, float(scale * by_intercept))


@dataclass(frozen=True, slots=True, eq=False)
class SampledPairs:
    """Over all links and a fixed draw of non-links, which are weighted to stand for all of them."""

    products: PairProducts  # (p, m) of the links, then of the non-links
    linked: FloatArray  # (p,)
    weights: FloatArray  # (p,)

    @classmethod
    def of(cls, features: Features, links: NodePairs, non_links: NonLinks, size: int, rng: np.random.Generator) -> Self:
        products = PairProducts.of(features, links + non_links.draw(size, rng))
        linked = np.repeat([1.0, 0.0], [len(links), size])
        weights = np.where(linked > 0, 1.0, non_links.n_pairs / size) / len(links)
        return cls(products, linked, weights)

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss:
        losses, residual = _cross_entropy(self.products.affinity(scores) + intercept, self.linked)
        residual *= self.weights
        return LinkLoss(float(self.weights @ losses), self.products.total(residual), float(residual.sum()))


def link_likelihood(
    features: Features, adjacency: Sparse, *, non_links_per_link: int | None, rng: np.random.Generator
) -> LinkLikelihood:
    """Over links and so many drawn non-links for each; over all pairs where that is None or would be no fewer."""
    links, non_links = linked_pairs(adjacency), NonLinks.of(adjacency)
    if non_links_per_link is None or non_links_per_link * len(links) >= non_links.n_pairs:
        return AllPairs.of(features, adjacency)
    return SampledPairs.of(features, links, non_links, non_links_per_link * len(links), rng)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLinks:
    """Scores and where they stand."""

    scores: FloatArray  # (m,) in [0, 1] (paper: s)
    intercept: float  # (paper: b)
    history: FloatArray  # (t,) objective after each iteration
    gradient: FloatArray  # (m,) of the objective by the scores


def alternate(
    likelihood: LinkLikelihood,
    penalty_at: Callable[[FloatArray], Penalty],
    features: Features,
    adjacency: Sparse,
    *,
    max_iter: int,
    tol: float,
) -> ScoredLinks:
    """Minimise the link loss plus a penalty that has unknowns of its own.

    In turns: the penalty's own unknowns are brought to fit the scores (`penalty_at`), then the scores and the intercept
    go some steps down with those held fixed. Neither can raise the objective.

    Parameters
    ----------
    likelihood : LinkLikelihood
    penalty_at : callable
        Scores (m,) → penalty with its own unknowns fitted to these scores.
    features, adjacency : matrices of shape (n, m) and (n, n)
        Their scale sets the start and the units of the descent.
    max_iter : int
        Turns.
    tol : float
        Stop after a turn that lowered the objective by no more than this, relatively.
    """
    scale = _curvature(features, adjacency)
    n, m = features.shape
    n_links, n_pairs = len(linked_pairs(adjacency)), n * (n - 1) / 2
    # A node's affinity with itself is 1 on average: from large affinities the logistic loss is far too steep.
    scores = np.full(m, min(0.5, n / (features * features).sum()))
    point = np.append(scores * scale, np.log(n_links / (n_pairs - n_links)))
    history: list[float] = []
    for _ in range(max_iter):
        penalty = penalty_at(point[:-1] / scale)
        point, gradient, value = _descend(likelihood, penalty, point, scale)
        history.append(value)
        if len(history) > 1 and history[-2] - value <= tol * abs(history[-2]):
            break
    return ScoredLinks(np.minimum(point[:-1] / scale, 1), float(point[-1]), np.array(history), gradient)


def _descend(
    likelihood: LinkLikelihood, penalty: Penalty, start: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Some steps of L-BFGS-B, which never goes up, over the scaled scores and the intercept."""

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        scores = point[:-1] / scale
        loss, (value, gradient) = likelihood.loss(scores, float(point[-1])), penalty(scores)
        return loss.value + value, np.append((loss.gradient + gradient) / scale, loss.by_intercept)

    bounds = [*((0.0, highest) for highest in scale), (None, None)]
    options = {"maxiter": _STEPS, "ftol": 1e-13, "gtol": 1e-10}
    result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return result.x, result.jac[:-1] * scale, float(result.fun)


def _curvature(features: Features, adjacency: Sparse) -> FloatArray:
    """√Σ (x_il x_jl)² over all pairs for each feature l: in these units each is as curved as the others. (m,)

    Without them the descent takes ten times the steps where columns differ in scale, as counts of words do.
    """
    squares = features * features
    pairs = np.maximum(squares.sum(axis=0) ** 2 - (squares * squares).sum(axis=0), 0) / 2
    scale = np.sqrt(pairs / len(linked_pairs(adjacency)))
    return np.maximum(scale, 1e-6 * scale.max()) if scale.any() else np.ones(len(scale))


def _cross_entropy(logits: FloatArray, linked: Any) -> tuple[FloatArray, FloatArray]:
    """−log of the probability of what is there, and its derivative by the logit."""
    return np.logaddexp(0, logits) - linked * logits, expit(logits) - linked
