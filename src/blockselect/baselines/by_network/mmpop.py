"""MMPOP: weights of the features under which nodes are more alike if they are linked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit

from blockselect._sklearn import Interval, StrOptions
from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.base import generator_from
from blockselect.baselines._solvers.node_pairs import NodePairs, NonLinks, linked_pairs, pieces_of
from blockselect.baselines.by_network.partial_order import features_to_compare
from blockselect.baselines.constraints import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE
from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.column_statistics import constant_columns

# Loss of a margin, large margins are good, and its derivative.
LOSSES: dict[str, Callable[[FloatArray], tuple[FloatArray, FloatArray]]] = {
    "hinge": lambda margin: (np.maximum(1 - margin, 0), -(margin < 1).astype(np.float64)),
    "logistic": lambda margin: (np.logaddexp(0, -margin), -expit(-margin)),
}


class MMPOP(NetworkGuidedSelector):
    """Select the features under which each node is more like those it links with than like others, without labels.

    For a link i–j and a node k that i is not linked with, x_iᵀ diag(w) x_j should exceed x_iᵀ diag(w) x_k [1]_::

        min  mean_ijk loss(wᵀ(x_i ∘ (x_j − x_k))) + λ‖w‖₁,  0 ≤ w ≤ 1,

    where the loss of a margin z is [1 − z]₊ (hinge, the max-margin form) or log(1 + e^−z) (logistic). The score of a
    feature is its weight w. Solved by projected stochastic gradient: each pass goes through all links from both ends,
    in random order, and draws one k for each, evenly among the nodes that i is not linked with; step t is
    `step_size`/√t. A node linked with all others orders nothing and is passed over. Link weights are not read.
    Objective recalled, solver and settings reconstructed.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    loss : {"hinge", "logistic"}, default="hinge"
        Loss of a margin.
    binarize : bool, default=False
        Look only at whether a value is zero. The margin of 1 and the bound of 1 on w fix a scale, to which features of
        0 and 1 are right; a count of 100 stands for ten thousand margins, and a few such values then lead every step.
        Set it for counts of words. It is off by default, because the objective as published has no such step, and
        because features that are never zero would all become constant.
    sparsity : float, default=1e-3
        Weight of the ℓ1 penalty. (paper: λ)
    initial_score : float, default=0.5
        Weight of every feature at the start, 0 to 1.
    step_size : float, default=0.5
        Length of the first step.
    batch_size : int, default=1000
        Links in a step.
    max_iter : int, default=30
        Passes through all links.
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link each node with this many of its nearest by the features. None: a
        missing adjacency is an error.
    random_state : int, RandomState or None, default=None
        Seeds the order of the links and the draws of k.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Weight w of each feature.
    scores_ : array of shape (m,)
        The same. A feature of weight 0 is never selected; a constant one has weight 0.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.
    history_ : array of shape (max_iter,)
        Objective of each pass, as met on the way: mean over its steps, each before it was made.
    n_iter_ : int
        Passes made.

    See Also
    --------
    blockselect.baselines.by_network.partial_order.PartialOrder : Each feature alone, in closed form.

    References
    ----------
    .. [1] X. Wei, S. Xie, P. S. Yu, "Efficient partial order preserving unsupervised feature selection on networks",
       SDM 2015.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> from blockselect.baselines.by_network.mmpop import MMPOP
    >>> cora = load_cora()
    >>> selector = MMPOP(64, max_iter=2, random_state=0)
    >>> selector.fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    _zero_is_unused = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
        "binarize": ["boolean"],
        "sparsity": [NON_NEGATIVE],
        "initial_score": [Interval(Real, 0, 1, closed="both")],
        "step_size": [POSITIVE],
        "batch_size": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        loss: str = "hinge",
        binarize: bool = False,
        sparsity: float = 1e-3,
        initial_score: float = 0.5,
        step_size: float = 0.5,
        batch_size: int = 1000,
        max_iter: int = 30,
        n_neighbors: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.loss = loss
        self.binarize = binarize
        self.sparsity = sparsity
        self.initial_score = initial_score
        self.step_size = step_size
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _score(self, graph: AttributedGraph) -> FloatArray:
        features = features_to_compare(graph.features, binarize=self.binarize)
        links, non_links = linked_pairs(graph.adjacency).both_ways(), NonLinks.of(graph.adjacency)
        links = links[non_links.per_node[links.first] > 0]
        # A constant feature meets no gradient but the penalty's, which ends at 0.
        weights = np.where(constant_columns(features), 0.0, float(self.initial_score))
        self.criterion_, self.history_ = self._descend(features, links, non_links, weights)
        self.n_iter_ = self.max_iter
        return self.criterion_.copy()

    def _descend(
        self, features: Features, links: NodePairs, non_links: NonLinks, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        rng = generator_from(self.random_state)
        history = np.zeros(self.max_iter)
        steps = 0
        for done in range(self.max_iter):
            order = rng.permutation(len(links))
            for piece in pieces_of(len(order), self.batch_size):
                batch = links[order[piece]]
                others = non_links.partners(batch.first, rng)
                loss = order_loss(features, batch, others, weights, loss=self.loss)
                objective = loss.value + self.sparsity * weights.sum()
                history[done] += objective * len(batch) / len(links)
                steps += 1
                step = self.step_size / np.sqrt(steps)
                weights = np.clip(weights - step * (loss.gradient + self.sparsity), 0, 1)
        return weights, history


@dataclass(frozen=True, slots=True, eq=False)
class OrderLoss:
    """Mean loss of the margins of some links."""

    value: float
    gradient: FloatArray  # (m,) by the weights


def order_loss(features: Features, links: NodePairs, others: IntArray, weights: FloatArray, *, loss: str) -> OrderLoss:
    """Loss of wᵀ(x_i ∘ (x_j − x_k)) over links i–j, each with its own k."""
    differences = features[links.first] * (features[links.second] - features[others])  # (p, m)
    losses, derivative = LOSSES[loss](differences @ weights)
    return OrderLoss(float(losses.mean()), differences.T @ (derivative / len(links)))
