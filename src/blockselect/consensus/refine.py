"""JointLikelihood: blocks refined with the features, and features chosen by the blocks.

Both improve one objective for the blocks F and the choice r ∈ {0, 1}^m of features, in nats; lower is better:

    J(F, r) = − L(F) − w Σ_l r_l (I_l(F) − λ (k − 1))

L(F) is the log-likelihood gain of the links and I_l(F) that of feature l, both over a single block (see `likelihood`).
A feature that follows the blocks has one rate per block, k − 1 more than a feature that does not, so each extra rate
is penalised. λ = 1 is the AIC penalty; it offsets what k − 1 free rates gain by chance.

The losses of the paper and ‖A − F M Fᵀ‖² are no objectives for blocks that may change. L_m is lowest if blocks are
blurred, L_b if nodes with many features are separated from nodes with few, and the error ‖A − F M Fᵀ‖ of a sparse graph
if hubs are separated. All three lead away from planted blocks, even if the descent starts there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blockselect.arrays import BoolArray, FloatArray, IntArray
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.likelihood import as_counts, as_links, block_tables, feature_gains, link_gain, xlogx
from blockselect.consensus.likelihood import link_unit as default_link_unit
from blockselect.consensus.moves import Counts, Tables, announce_compilation, sweep
from blockselect.graphs.attributed import AttributedGraph

DEFAULT_TOL = 0.01  # nats per node
MAX_ROUNDS = 50
_ROUNDING = 1e-13  # of the sums of x log x; smaller gains are rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class JointResult:
    """A block model refined with the features."""

    model: BlockModel  # with as many blocks as before
    in_use: BoolArray  # (m,) features whose gain exceeds the penalty; only they moved nodes (r in J)
    objective: FloatArray  # (t + 1,) J in nats, before the first round and after each round
    n_moves: IntArray  # (t,) nodes moved in each round


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """The sums over blocks and what follows from them."""

    tables: Tables  # a sweep changes these in place
    gains: FloatArray  # (m,) log-likelihood gain of each feature
    objective: float  # J


class JointLikelihood:
    """How well blocks explain the links and the features of a graph, and how to improve the blocks.

    Labels are 0 … k − 1 and all in use, as those of every block model.

    Parameters
    ----------
    graph : AttributedGraph
        The features are non-negative numbers, dense or sparse. Their units do not matter: the gain of a feature is
        relative to its variance. Link weights are divided by `link_unit` and treated as counts.
    feature_weight : float
        Weight of the features relative to the links; 0 ignores the features.
    rate_penalty : float
        Penalty, in nats, of each rate of a feature beyond the first. 1 is AIC; ½ log n (BIC) uses fewer features.
    link_unit : float, optional
        The weight that counts as one link; by default that of `likelihood.link_unit`. A resampled graph has the unit of
        the graph from which it was drawn.
    counts : Counts, optional
        The result of `as_counts`, if another likelihood of the same features has computed it.

    Examples
    --------
    >>> import numpy as np
    >>> from blockselect.blockmodels import find_block_models
    >>> from blockselect.datasets import make_attributed_blocks
    >>> planted = make_attributed_blocks(200, 3, mean_degree=4, random_state=0)
    >>> start = find_block_models(planted.adjacency, 3, rng=np.random.default_rng(0))[0]
    >>> result = JointLikelihood(planted.graph).improve(start, rng=np.random.default_rng(0))
    >>> bool((np.diff(result.objective) <= 0).all())
    True
    """

    __slots__ = ("_counts", "_graph", "_links", "feature_weight", "link_unit", "rate_penalty")

    def __init__(
        self,
        graph: AttributedGraph,
        *,
        feature_weight: float = 1.0,
        rate_penalty: float = 1.0,
        link_unit: float | None = None,
        counts: Counts | None = None,
    ) -> None:
        self.feature_weight, self.rate_penalty = float(feature_weight), float(rate_penalty)
        self._graph = graph
        self.link_unit = default_link_unit(graph.adjacency) if link_unit is None else link_unit
        self._links = as_links(graph.adjacency, self.link_unit)
        self._counts = as_counts(graph.features) if counts is None else counts

    def penalty(self, n_blocks: int) -> float:
        """Penalty, in nats, of a feature with a separate rate in each of k blocks: λ (k − 1)."""
        return self.rate_penalty * (n_blocks - 1)

    def gains_by_feature(self, labels: IntArray) -> FloatArray:
        """Log-likelihood gain of each feature by the blocks, without the penalty: (m,), at least 0."""
        return self._state(self._tables(labels)).gains

    def gain(self, labels: IntArray) -> float:
        """−J, the penalised log-likelihood gain of links and features; larger is better."""
        return -self._state(self._tables(labels)).objective

    def comparable_gain(self, labels: IntArray) -> float:
        """A gain that is comparable between different numbers of blocks, like a description length; larger is better.

        More blocks gain more by chance, so the cost of describing them is subtracted: log k nats per label, half the
        logarithm of the total link weight per density, and half the logarithm of n (BIC) per rate of a feature, in
        place of the penalty in J.
        """
        state = self._state(self._tables(labels))
        weights = state.tables.weights
        n, k = self._graph.n_nodes, len(weights)
        features = float(np.maximum(state.gains - 0.5 * np.log(n) * (k - 1), 0.0).sum())
        densities = k * (k + 1) / 4 * np.log(max(float(weights.sum()) / 2, 1.0))
        return float(link_gain(weights) + features - densities - n * np.log(k))

    def improve(
        self, model: BlockModel, *, max_rounds: int = MAX_ROUNDS, tol: float = DEFAULT_TOL, rng: np.random.Generator
    ) -> JointResult:
        """Refine a block model with the features.

        A round visits the nodes in random order and moves each node to the block that lowers J most, if any block
        does. Then the features whose gain exceeds the penalty are chosen, which is the best choice for these blocks. So
        J never rises. The first and the last round visit all nodes; the other rounds visit only nodes that may have a
        reason to move (see `moves`).

        Parameters
        ----------
        model : BlockModel
            A block model of this graph to start from. Blocks unrelated to the graph lead to no good blocks. (paper: F)
        max_rounds : int
            The largest number of rounds, at least 1.
        tol : float
            Stop after a round over all nodes that lowers J by no more than this many nats per node, because the last
            rounds move only a few nodes each. With 0, rounds continue until no node moves.
        rng : numpy.random.Generator
            Draws the order of the visits.

        Returns
        -------
        JointResult
        """
        announce_compilation()
        n_nodes = self._graph.n_nodes
        labels = model.labels.astype(np.int64)
        state = self._state(self._tables(labels))
        objective, n_moves = [state.objective], []
        slack, all_due = np.zeros(n_nodes), True
        for _ in range(max_rounds):
            n_moves.append(self._move_nodes(labels, state, rng.permutation(n_nodes), slack))
            state = self._state(state.tables)
            objective.append(state.objective)
            if n_moves[-1] == 0 or objective[-2] - objective[-1] <= tol * n_nodes:
                if all_due:
                    break
                slack[:] = 0.0
            all_due = not slack.any()
        return JointResult(
            model=BlockModel.of_checked(self._graph.adjacency, labels, family=model.family),
            in_use=state.gains > self.penalty(model.n_blocks),
            objective=np.array(objective),
            n_moves=np.array(n_moves, dtype=np.intp),
        )

    def _tables(self, labels: IntArray) -> Tables:
        return block_tables(self._links, self._counts, labels)

    def _state(self, tables: Tables) -> _State:
        """The gains of the features by these blocks, and J for the best choice of features."""
        gains = feature_gains(tables.sums, tables.totals, tables.entropies)
        above = float(np.maximum(gains - self.penalty(len(tables.weights)), 0.0).sum())
        return _State(tables, gains, -float(link_gain(tables.weights)) - self.feature_weight * above)

    def _move_nodes(self, labels: IntArray, state: _State, order: IntArray, slack: FloatArray) -> int:
        """One sweep for a fixed choice of features; changes `labels`, `slack` and the tables of the state in place."""
        in_use = state.gains > self.penalty(len(state.tables.weights))
        weight = self.feature_weight if in_use.any() else 0.0
        of_features = float(state.tables.sums[in_use].sum())
        least = _ROUNDING * max(float(xlogx(state.tables.weights.sum()) + weight * xlogx(np.float64(of_features))), 1.0)
        return int(sweep(labels, order, slack, self._links, self._counts, state.tables, in_use, weight, least))
