"""Links and non-links of a network, and how likely scored features make them.

A link is a pair of different nodes whose weight is not zero: how heavy it is, and self-loops, are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from blockselect.arrays import Features, FloatArray, IntArray, Sparse

_PIECE_BYTES = 2**26  # of dense rows in work at once

Penalty = Callable[[FloatArray], tuple[float, FloatArray]]  # scores (m,) → value, gradient (m,)


@dataclass(frozen=True, slots=True, eq=False)
class NodePairs:
    first: IntArray  # (p,)
    second: IntArray  # (p,)

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, at: Any) -> NodePairs:
        return NodePairs(self.first[at], self.second[at])


def linked_pairs(adjacency: Sparse) -> NodePairs:
    """Each link once, the lower node first."""
    first, second = (axis.astype(np.intp) for axis in adjacency.tocoo().coords)
    upper = first < second
    if not upper.any():
        raise ValueError("adjacency links no two different nodes (self-loops do not count); pass a graph with links.")
    return NodePairs(first[upper], second[upper])


@dataclass(frozen=True, slots=True, eq=False)
class NonLinks:
    """Pairs of different nodes without a link, drawn at random without ever listing them all."""

    offsets: IntArray  # (n + 1,) non-links of the nodes before each node
    taken: IntArray  # (q + n,) for each node's links and itself, in order: the node, and how many non-links come before
    starts: IntArray  # (n + 1,) where each node's part of `taken` begins

    @classmethod
    def of(cls, adjacency: Sparse) -> Self:
        n = adjacency.shape[0]
        blocked = sparse.csr_array(adjacency + sparse.eye_array(n))
        blocked.sort_indices()
        starts = blocked.indptr.astype(np.intp)
        node = np.repeat(np.arange(n), np.diff(starts))
        before = blocked.indices - (np.arange(len(node)) - starts[node])
        offsets = np.concatenate([[0], np.cumsum(n - np.diff(starts))])
        if offsets[-1] == 0:
            raise ValueError(
                f"each of the {n} nodes is linked with all others; links are compared with non-links: pass a graph "
                "that leaves some pairs without a link."
            )
        return cls(offsets, node * (n + 1) + before, starts)

    @property
    def n_pairs(self) -> int:
        """Pairs without a link, each counted once."""
        return int(self.offsets[-1]) // 2

    @property
    def per_node(self) -> IntArray:
        """How many others each node is not linked with: (n,)."""
        return np.diff(self.offsets)

    def partners(self, nodes: IntArray, rng: np.random.Generator) -> IntArray:
        """For each of these nodes another one, evenly among those it is not linked with; it must have one."""
        return self._partner(nodes, rng.integers(self.per_node[nodes]))

    def draw(self, size: int, rng: np.random.Generator) -> NodePairs:
        """Pairs without a link, evenly among all, with replacement."""
        drawn = rng.integers(self.offsets[-1], size=size)
        nodes = np.searchsorted(self.offsets, drawn, side="right") - 1
        return NodePairs(nodes, self._partner(nodes, drawn - self.offsets[nodes]))

    def _partner(self, nodes: IntArray, rank: IntArray) -> IntArray:
        """The non-link of that rank: as many nodes are skipped as have at most `rank` non-links before them."""
        skipped = np.searchsorted(self.taken, nodes * len(self.starts) + rank, side="right") - self.starts[nodes]
        return rank + skipped


def row_products(features: Features, pairs: NodePairs) -> Features:
    """x_i ∘ x_j of each pair: (p, m), sparse where the features are."""
    left, right = features[pairs.first], features[pairs.second]
    return sparse.csr_array(left.multiply(right)) if sparse.issparse(features) else left * right


@dataclass(frozen=True, slots=True, eq=False)
class LinkLoss:
    """Negative log-likelihood of the network, divided by the number of links."""

    value: float
    gradient: FloatArray  # (m,) by the scores
    by_intercept: float


class LinkLikelihood(Protocol):
    """How likely the network is where nodes i and j link with probability σ(x_iᵀ diag(s) x_j + b)."""

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss: ...


@dataclass(frozen=True, slots=True, eq=False)
class AllPairs:
    """The likelihood over all pairs of different nodes, some rows at a time."""

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
        for rows in _pieces(self.features.shape[0], max(self.features.shape)):
            X = self.features[rows]
            affinity = (X * scores) @ self.transposed
            logits = (affinity.toarray() if sparse.issparse(affinity) else affinity) + intercept
            linked = self.adjacency[rows].toarray() != 0
            losses, residual = _cross_entropy(logits, linked)
            own = np.arange(len(logits)), np.arange(rows.start, rows.stop)
            losses[own] = residual[own] = 0
            value += losses.sum()
            by_intercept += residual.sum()
            gradient += (X * (residual @ self.features)).sum(axis=0)
        scale = 1 / (2 * self.n_links)  # each pair was met from both sides
        return LinkLoss(float(scale * value), scale * gradient, float(scale * by_intercept))


@dataclass(frozen=True, slots=True, eq=False)
class SampledPairs:
    """The likelihood over all links and a fixed draw of non-links, weighted so that it is right on average."""

    pairs: NodePairs  # (p,) links, then non-links
    linked: FloatArray  # (p,)
    weights: FloatArray  # (p,)
    features: Features  # (n, m)
    products: Sparse | None  # (p, m) of sparse features; dense ones would take too much

    @classmethod
    def of(cls, features: Features, links: NodePairs, non_links: NonLinks, size: int, rng: np.random.Generator) -> Self:
        drawn = non_links.draw(size, rng)
        pairs = NodePairs(
            np.concatenate([links.first, drawn.first]),
            np.concatenate([links.second, drawn.second]),
        )
        linked = np.repeat([1.0, 0.0], [len(links), size])
        weights = np.where(linked > 0, 1.0, non_links.n_pairs / size) / len(links)
        products = row_products(features, pairs) if sparse.issparse(features) else None
        return cls(pairs, linked, weights, features, products)

    def loss(self, scores: FloatArray, intercept: float) -> LinkLoss:
        losses, residual = _cross_entropy(self._affinity(scores) + intercept, self.linked)
        residual *= self.weights
        return LinkLoss(float(self.weights @ losses), self._gradient(residual), float(residual.sum()))

    def _affinity(self, scores: FloatArray) -> FloatArray:
        if self.products is not None:
            return self.products @ scores  # type: ignore[no-any-return]
        X, pieces = self.features, _pieces(len(self.pairs), self.features.shape[1])
        return np.concatenate([row_products(X, self.pairs[piece]) @ scores for piece in pieces])

    def _gradient(self, residual: FloatArray) -> FloatArray:
        if self.products is not None:
            return self.products.T @ residual  # type: ignore[no-any-return]
        n = self.features.shape[0]
        spread = sparse.csr_array((residual, (self.pairs.first, self.pairs.second)), shape=(n, n))
        return np.einsum("nm,nm->m", self.features, spread @ self.features)


def link_likelihood(
    features: Features, adjacency: Sparse, *, non_links_per_link: int | None, rng: np.random.Generator
) -> LinkLikelihood:
    """Over links and so many drawn non-links each; over all pairs where that is None or no fewer."""
    links, non_links = linked_pairs(adjacency), NonLinks.of(adjacency)
    if non_links_per_link is None or non_links_per_link * len(links) >= non_links.n_pairs:
        return AllPairs.of(features, adjacency)
    return SampledPairs.of(features, links, non_links, non_links_per_link * len(links), rng)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLinks:
    """Scores that make the network likely."""

    scores: FloatArray  # (m,) in [0, 1] (paper: s)
    intercept: float  # (paper: b)
    objective: float


def descend(likelihood: LinkLikelihood, penalty: Penalty, start: ScoredLinks, *, max_steps: int) -> ScoredLinks:
    """Fewer than all steps down the likelihood plus a penalty, with s ∈ [0, 1]: L-BFGS-B, which never goes up."""

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        loss = likelihood.loss(point[:-1], float(point[-1]))
        value, gradient = penalty(point[:-1])
        return loss.value + value, np.append(loss.gradient + gradient, loss.by_intercept)

    result = minimize(
        objective,
        np.append(start.scores, start.intercept),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start.scores) + [(None, None)],
        options={"maxiter": max_steps, "ftol": 1e-12, "gtol": 1e-9},
    )
    return ScoredLinks(result.x[:-1], float(result.x[-1]), float(result.fun))


def _cross_entropy(logits: FloatArray, linked: Any) -> tuple[FloatArray, FloatArray]:
    """−log of the probability of what is there, and its derivative by the logit."""
    return np.logaddexp(0, logits) - linked * logits, expit(logits) - linked


def _pieces(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, _PIECE_BYTES // (8 * width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
