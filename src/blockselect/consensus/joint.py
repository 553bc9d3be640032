"""JointLikelihood: blocks and features improve each other (the paper's stated future work).

One objective for blocks F and the choice r ∈ {0, 1}^m of features, in nats, lower is better:

    J(F, r) = − L(F) − w Σ_l r_l (I_l(F) − λ (k − 1))

L(F) is the log-likelihood gain of the links, I_l(F) that of feature l, both above one block (`link_likelihood`,
`feature_likelihood`). A feature that follows the blocks has a rate in each of them, k − 1 more than one that does not,
so each extra rate is penalised: λ = 1 is the AIC penalty, which offsets what k − 1 free rates gain by chance.

Why not ‖A − F M Fᵀ‖² and the losses of the paper: for blocks that may move, both profiles of L_m agree best when blocks
are blurred, L_b falls when nodes with many features part from nodes with few, and in a sparse graph ‖A − F M Fᵀ‖ falls
when hubs do. Started at the planted blocks themselves, such an objective moves away from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from blockselect.arrays import BoolArray, FloatArray, IntArray
from blockselect.blockmodels.model import BlockModel, check_block_model
from blockselect.consensus.feature_likelihood import as_counts, block_tables, feature_gains, gains_by_block
from blockselect.consensus.link_likelihood import as_links, link_gain, xlogx
from blockselect.consensus.link_likelihood import link_unit as default_link_unit
from blockselect.consensus.moves import Counts, Tables, announce_compilation, sweep
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.node_labels import encode_labels

DEFAULT_TOL = 0.01  # nats a node
MAX_ROUNDS = 50
_ROUNDING = 1e-13  # of the sums of x log x: smaller gains are rounding


@dataclass(frozen=True, slots=True, eq=False)
class JointResult:
    """Blocks refined with the features."""

    model: BlockModel  # as many blocks as it began with
    in_use: BoolArray  # (m,) features whose gain exceeds the penalty: those that moved nodes (J's r)
    objective: FloatArray  # (t + 1,) J in nats before the first round and after each
    n_moves: IntArray  # (t,) nodes moved in each round


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """What blocks sum up to."""

    tables: Tables  # which a sweep changes
    gains: FloatArray  # (m,) log-likelihood gain of each feature
    objective: float  # J


class JointLikelihood:
    """How well blocks explain the links and the features of a graph, and better blocks by it.

    Parameters
    ----------
    graph : AttributedGraph
        Non-negative features, dense or sparse. Link weights are divided by `link_unit` and read as counts. Features
        may be counts or any other non-negative numbers: their units do not matter, and the gain of a feature is
        measured relative to how much it varies.
    feature_weight : float
        Weight of a nat of the features against a nat of the links; 0 leaves the blocks to the links.
    rate_penalty : float
        Penalty, in nats, of each rate of a feature beyond the first: 1 is AIC; ½ log n, BIC, uses fewer features.
    link_unit : float, optional
        The weight that counts as one link; default: that of `link_likelihood.link_unit`. A resampled graph has that of
        the graph it was drawn from.
    counts : Counts, optional
        The features as `as_counts` gives them, where another likelihood of the same features has them already.

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
        _check_numbers(feature_weight=feature_weight, rate_penalty=rate_penalty)
        self.feature_weight, self.rate_penalty = float(feature_weight), float(rate_penalty)
        self._graph = graph
        self.link_unit = default_link_unit(graph.adjacency) if link_unit is None else link_unit
        self._links = as_links(graph.adjacency, self.link_unit)
        self._counts = as_counts(graph.features) if counts is None else counts

    def penalty(self, n_blocks: int) -> float:
        """Penalty, in nats, of a feature with a separate rate in each of k blocks: λ (k − 1)."""
        return self.rate_penalty * (n_blocks - 1)

    def feature_gains(self, labels: ArrayLike) -> FloatArray:
        """Log-likelihood gain of each feature by the blocks, before the penalty: (m,), at least 0."""
        return self._state(self._tables(self._checked(labels))).gains

    def shares_of_blocks(self, labels: ArrayLike) -> FloatArray:
        """How the gain of each feature is split over the blocks it marks, (m, k): rows add up to 1, or to 0."""
        tables = self._tables(self._checked(labels))
        gains = gains_by_block(tables.sums, tables.totals)
        shares: FloatArray = gains / np.maximum(gains.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return shares

    def gain(self, labels: ArrayLike) -> float:
        """−J: penalised log-likelihood gain of the links and of the features above their penalty. Larger is better."""
        return -self._state(self._tables(self._checked(labels))).objective

    def comparable_gain(self, labels: ArrayLike) -> float:
        """A gain that compares different numbers of blocks, as a description length does. Larger is better.

        More blocks gain more by chance. So what describes them is subtracted: log k nats for each label, half a
        logarithm of the weight of all links for each density, and half a logarithm of n, where J has its penalty, for
        each rate of a feature (BIC).
        """
        state = self._state(self._tables(self._checked(labels)))
        weights = state.tables.weights
        n, k = self._graph.n_nodes, len(weights)
        features = float(np.maximum(state.gains - 0.5 * np.log(n) * (k - 1), 0.0).sum())
        densities = k * (k + 1) / 4 * np.log(max(float(weights.sum()) / 2, 1.0))
        return float(link_gain(weights) + features - densities - n * np.log(k))

    def improve(
        self, model: BlockModel, *, max_rounds: int = MAX_ROUNDS, tol: float = DEFAULT_TOL, rng: np.random.Generator
    ) -> JointResult:
        """Refine a block model with the features, and the choice of features with the blocks.

        A round visits nodes in random order, moves each to the block that lowers J most if any does, and then uses the
        features whose gain exceeds the penalty, which is the best choice for these blocks. So J never rises. The first
        round and the last visit all nodes, the others those that may have a reason to move (see `moves`).

        Parameters
        ----------
        model : BlockModel
            Where to begin. From blocks unrelated to the graph no good ones are reached. (paper: F)
        max_rounds : int
            At most so many rounds.
        tol : float
            Stop after a round over all nodes that lowers J by no more than this many nats per node. The last rounds
            move a few nodes at a time for long; with 0 they go on until no node can move.
        rng : numpy.random.Generator
            Draws the order of visits.

        Returns
        -------
        JointResult
        """
        _check_numbers(tol=tol)
        _check_rounds(max_rounds)
        announce_compilation()
        n_nodes = self._graph.n_nodes
        labels = check_block_model(model, n_nodes).labels.astype(np.int64)
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

    def improve_all(
        self,
        models: Sequence[BlockModel],
        *,
        max_rounds: int = MAX_ROUNDS,
        tol: float = DEFAULT_TOL,
        rngs: Sequence[np.random.Generator],
        n_jobs: int | None = None,
    ) -> Iterator[JointResult]:
        """`improve` each of several block models, in threads."""
        # Threads: compiled moves release the interpreter, and nothing is copied.
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(self.improve)(model, rng=rng, max_rounds=max_rounds, tol=tol)
            for model, rng in zip(models, rngs, strict=True)
        )

    def _tables(self, labels: IntArray) -> Tables:
        return block_tables(self._links, self._counts, labels)

    def _state(self, tables: Tables) -> _State:
        """The gains of the features by these blocks, and J with the best choice of features for them."""
        gains = feature_gains(tables.sums, tables.totals, tables.entropies)
        above = float(np.maximum(gains - self.penalty(len(tables.weights)), 0.0).sum())
        return _State(tables, gains, -float(link_gain(tables.weights)) - self.feature_weight * above)

    def _move_nodes(self, labels: IntArray, state: _State, order: IntArray, slack: FloatArray) -> int:
        """One sweep with the choice of features held; changes `labels`, `slack` and the tables of the state."""
        in_use = state.gains > self.penalty(len(state.tables.weights))
        weight = self.feature_weight if in_use.any() else 0.0
        of_features = float(state.tables.sums[in_use].sum())
        least = _ROUNDING * max(float(xlogx(state.tables.weights.sum()) + weight * xlogx(np.float64(of_features))), 1.0)
        return int(sweep(labels, order, slack, self._links, self._counts, state.tables, in_use, weight, least))

    def _checked(self, labels: ArrayLike) -> IntArray:
        if isinstance(labels, np.ndarray) and labels.dtype == np.intp and labels.ndim == 1:  # of a block model
            numbers: IntArray = np.unique(labels, return_inverse=True)[1]
        else:
            numbers = encode_labels(labels)
        if len(numbers) != self._graph.n_nodes:
            raise ValueError(
                f"there are {len(numbers)} labels but the graph has {self._graph.n_nodes} nodes; give one label a node."
            )
        return numbers


def _check_numbers(**settings: Any) -> None:
    for name, value in settings.items():
        if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
            raise ValueError(f"{name} is {value!r}; expected a finite number, at least 0.")


def _check_rounds(max_rounds: Any) -> None:
    if isinstance(max_rounds, bool) or not isinstance(max_rounds, Integral) or max_rounds < 1:
        raise ValueError(f"max_rounds is {max_rounds!r}; expected a whole number, at least 1.")
