"""MMPOP: feature weights under which linked nodes are more similar than unlinked nodes."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from blockselect.baselines._solvers.node_pairs import NonLinks, both_ways, features_to_compare, linked_pairs
from blockselect.baselines.criterion import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE, NetworkGuidedSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import constant_columns
from blockselect.utils._sklearn import Interval, StrOptions
from blockselect.utils.arrays import Features, FloatArray, IntArray
from blockselect.utils.parameters import generator_from

# Margin (larger is better) → loss, derivative.
LOSSES: dict[str, Callable[[FloatArray], tuple[FloatArray, FloatArray]]] = {
    "hinge": lambda margin: (np.maximum(1 - margin, 0), -(margin < 1).astype(np.float64)),
    "logistic": lambda margin: (np.logaddexp(0, -margin), -expit(-margin)),
}


class MMPOP(NetworkGuidedSelector):
    """Select the features under which each node is more similar to its neighbours than to other nodes, without labels.

    For a link i–j and a node k that is not a neighbour of i, x_iᵀ diag(w) x_j should exceed x_iᵀ diag(w) x_k [1]_::

        min  mean_ijk loss(wᵀ(x_i ∘ (x_j − x_k))) + λ‖w‖₁,  0 ≤ w ≤ 1,

    where the loss of a margin z is [1 − z]₊ (hinge, the max-margin form) or log(1 + e^−z) (logistic). The score of a
    feature is its weight w. The solver is projected stochastic gradient descent: each pass visits all links from both
    ends in random order, and draws one k per link uniformly from the nodes that i is not linked to. The size of step
    t is `step_size`/√t. Nodes that are linked to all others are skipped. Link weights are ignored.
    Objective recalled, solver and settings reconstructed.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    loss : {"hinge", "logistic"}, default="hinge"
        Loss of a margin.
    binarize : bool, default=False
        Use only whether a value is non-zero. The margin of 1 and the upper limit of 1 on w suit binary features; the
        product of two counts of 100 is ten thousand times the margin, and a few such values would dominate every step.
        Set this for word counts. It is off by default because the published objective has no such step, and because
        features that are never zero would all become constant.
    sparsity : float, default=1e-3
        Weight of the ℓ1 penalty. (paper: λ)
    initial_score : float, default=0.5
        Initial weight of each feature, from 0 to 1.
    step_size : float, default=0.5
        Size of the first step.
    batch_size : int, default=1000
        Number of links per step.
    max_iter : int, default=30
        Number of passes through all links.
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.
    random_state : int, RandomState or None, default=None
        Seed of the order of the links and of the draws of k.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Weight w of each feature.
    scores_ : array of shape (m,)
        The criterion. A feature of weight 0 is never selected; a constant feature has weight 0.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    history_ : array of shape (max_iter,)
        Objective of each pass: the mean over its steps, each evaluated before the step.
    n_iter_ : int
        Number of passes.

    See Also
    --------
    blockselect.baselines.by_network.partial_order.PartialOrder : Scores each feature separately, in closed form.

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
        "sparsity": [NON_NEGATIVE],
        "initial_score": [Interval(Real, 0, 1, closed="both")],
        "step_size": [POSITIVE],
        "batch_size": [AT_LEAST_ONE],
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
        links, non_links = both_ways(linked_pairs(graph.adjacency)), NonLinks(graph.adjacency)
        links = links[non_links.per_node[links[:, 0]] > 0]
        # For a constant feature only the penalty has a gradient, which leads to a weight of 0.
        weights = np.where(constant_columns(features), 0.0, float(self.initial_score))
        rng = generator_from(self.random_state)
        history, steps = np.zeros(self.max_iter), 0
        for done in range(self.max_iter):
            order = rng.permutation(len(links))
            for piece in gen_batches(len(order), int(self.batch_size)):
                batch = links[order[piece]]
                others = non_links.partners(batch[:, 0], rng)
                loss, gradient = order_loss(features, batch, others, weights, loss=self.loss)
                objective = loss + self.sparsity * weights.sum()
                history[done] += objective * len(batch) / len(links)
                steps += 1
                step = self.step_size / np.sqrt(steps)
                weights = np.clip(weights - step * (gradient + self.sparsity), 0, 1)
        self.criterion_, self.history_, self.n_iter_ = weights, history, self.max_iter
        return self.criterion_.copy()


def order_loss(
    features: Features, links: IntArray, others: IntArray, weights: FloatArray, *, loss: str
) -> tuple[float, FloatArray]:
    """Mean loss of wᵀ(x_i ∘ (x_j − x_k)) over links i–j (p, 2), each with its own k, and its gradient (m,)."""
    differences = features[links[:, 0]] * (features[links[:, 1]] - features[others])  # (p, m)
    losses, derivative = LOSSES[loss](differences @ weights)
    return float(losses.mean()), differences.T @ (derivative / len(links))
