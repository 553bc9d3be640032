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
from blockselect.consensus.batched_moves import DeviceNetwork, improve_together
from blockselect.consensus.feature_likelihood import as_counts, feature_gains, gains_by_block
from blockselect.consensus.link_likelihood import as_links, link_gain, xlogx
from blockselect.consensus.link_likelihood import link_unit as default_link_unit
from blockselect.consensus.moves import Counts, rates_of, sums_by_block, sweep, weights_by_block
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.node_labels import encode_labels

DEFAULT_TOL = 0.01  # nats a node
MAX_ROUNDS = 50
N_PARTS = 8  # of the nodes, which move one after another on a device
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

    weights: FloatArray  # (k, k) of the links
    sums: FloatArray  # (m, k) of the features
    totals: FloatArray  # (k,) of all features together
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
    device : str
        Where `improve_all` moves nodes: "cpu", or a torch device such as "cuda".

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

    __slots__ = ("_counts", "_graph", "_links", "_network", "device", "feature_weight", "link_unit", "rate_penalty")

    def __init__(
        self,
        graph: AttributedGraph,
        *,
        feature_weight: float = 1.0,
        rate_penalty: float = 1.0,
        link_unit: float | None = None,
        counts: Counts | None = None,
        device: str = "cpu",
    ) -> None:
        _check_numbers(feature_weight=feature_weight, rate_penalty=rate_penalty)
        self.feature_weight, self.rate_penalty = float(feature_weight), float(rate_penalty)
        self._graph = graph
        self.link_unit = default_link_unit(graph.adjacency) if link_unit is None else link_unit
        self._links = as_links(graph.adjacency, self.link_unit)
        self._counts = as_counts(graph.features) if counts is None else counts
        self.device = device
        self._network: DeviceNetwork | None = None  # made when it is needed

    def penalty(self, n_blocks: int) -> float:
        """Penalty, in nats, of a feature with a separate rate in each of k blocks: λ (k − 1)."""
        return self.rate_penalty * (n_blocks - 1)

    def feature_gains(self, labels: ArrayLike) -> FloatArray:
        """Log-likelihood gain of each feature by the blocks, before the penalty: (m,), at least 0."""
        return self._state(self._checked(labels)).gains

    def shares_of_blocks(self, labels: ArrayLike) -> FloatArray:
        """How the gain of each feature is split over the blocks it marks, (m, k): rows add up to 1, or to 0."""
        state = self._state(self._checked(labels))
        gains = gains_by_block(state.sums, state.totals)
        shares: FloatArray = gains / np.maximum(gains.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return shares

    def gain(self, labels: ArrayLike) -> float:
        """−J: penalised log-likelihood gain of the links and of the features above their penalty. Larger is better."""
        return -self._state(self._checked(labels)).objective

    def comparable_gain(self, labels: ArrayLike) -> float:
        """A gain that compares different numbers of blocks, as a description length does. Larger is better.

        More blocks gain more by chance. So what describes them is subtracted: log k nats for each label, half a
        logarithm of the weight of all links for each density, and half a logarithm of n, where J has its penalty, for
        each rate of a feature (BIC).
        """
        state = self._state(self._checked(labels))
        n, k = self._graph.n_nodes, len(state.weights)
        features = float(np.maximum(state.gains - 0.5 * np.log(n) * (k - 1), 0.0).sum())
        densities = k * (k + 1) / 4 * np.log(max(float(state.weights.sum()) / 2, 1.0))
        return float(link_gain(state.weights) + features - densities - n * np.log(k))

    def improve(
        self, model: BlockModel, *, max_rounds: int = MAX_ROUNDS, tol: float = DEFAULT_TOL, rng: np.random.Generator
    ) -> JointResult:
        """Refine a block model with the features, and the choice of features with the blocks.

        A round visits the nodes in random order, moves each to the block that lowers J most if any does, and then
        uses the features whose gain exceeds the penalty, which is the best choice for these blocks. So J never rises.

        Parameters
        ----------
        model : BlockModel
            Where to begin. From blocks unrelated to the graph no good ones are reached. (paper: F)
        max_rounds : int
            At most so many rounds.
        tol : float
            Stop after a round that lowers J by no more than this many nats for each node. The last rounds move a few
            nodes at a time for long; with 0 they go on until no node can move.
        rng : numpy.random.Generator
            Draws the order of visits.

        Returns
        -------
        JointResult
        """
        _check_numbers(tol=tol)
        _check_rounds(max_rounds)
        n_nodes = self._graph.n_nodes
        labels = check_block_model(model, n_nodes).labels.astype(np.intp)
        state, exact = self._state(labels), False
        objective, n_moves = [state.objective], []
        for _ in range(max_rounds):
            n_moves.append(self._move_nodes(labels, state, rng.permutation(n_nodes), exact=exact))
            state = self._state(labels)
            objective.append(state.objective)
            if n_moves[-1] == 0 or objective[-2] - objective[-1] <= tol * n_nodes:
                if exact or self._counts.equal:
                    break
                exact = True  # the tables are used up; the last rounds are exact
        return JointResult(
            model=self._as_model(labels, state.weights, model.family),
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
        """`improve` each of several block models, in threads, or all together on the device.

        On a device, nodes move in batches (see `batched_moves`), from the same starts to optima as good, though not
        always the same. Where values differ, so that batches follow approximate gains, exact rounds come at the end.
        """
        if self.device != "cpu":
            found = self._improve_together(models, max_rounds, tol, rngs[0])
            if self._counts.equal:
                yield from found
                return
            models = [result.model for result in found]
        # Threads: compiled moves release the interpreter, and nothing is copied.
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(self.improve)(model, rng=rng, max_rounds=max_rounds, tol=tol)
            for model, rng in zip(models, rngs, strict=True)
        )

    def _improve_together(
        self, models: Sequence[BlockModel], max_rounds: int, tol: float, rng: np.random.Generator
    ) -> list[JointResult]:
        if self._network is None:
            parts = np.array_split(rng.permutation(self._graph.n_nodes), min(N_PARTS, self._graph.n_nodes))
            self._network = DeviceNetwork.of(self._links, self._counts, parts, self.device)
        rounds = improve_together(
            self._network,
            np.array([check_block_model(model, self._graph.n_nodes).labels for model in models]),
            np.array([self.penalty(model.n_blocks) for model in models]),
            feature_weight=self.feature_weight,
            max_rounds=max_rounds,
            tol=tol,
        )
        return [
            JointResult(
                self._as_model(rounds.labels[i], rounds.weights[i, : model.n_blocks, : model.n_blocks], model.family),
                rounds.in_use[i],
                rounds.objective[:, i],
                rounds.n_moves[:, i],
            )
            for i, model in enumerate(models)
        ]

    def _as_model(self, labels: IntArray, weights: FloatArray, family: str) -> BlockModel:
        weight = (weights + weights.T) / 2 * self.link_unit
        return BlockModel.of_checked(self._graph.adjacency, labels, weight=weight, family=family)

    def _state(self, labels: IntArray) -> _State:
        """What the blocks of these labels (n,) sum up to, and J with the best choice of features for them."""
        k = int(labels.max()) + 1
        weights = weights_by_block(self._links, labels, k)
        sums = sums_by_block(self._counts, labels, self._graph.n_features, k)
        totals: FloatArray = np.bincount(labels, self._counts.totals, minlength=k).astype(np.float64)
        gains = feature_gains(sums, totals)
        above = float(np.maximum(gains - self.penalty(k), 0.0).sum())
        return _State(weights, sums, totals, gains, -float(link_gain(weights)) - self.feature_weight * above)

    def _move_nodes(self, labels: IntArray, state: _State, order: IntArray, *, exact: bool) -> int:
        """One sweep with the choice of features held; changes `labels` and uses `state` up."""
        in_use = state.gains > self.penalty(len(state.weights))
        rates = rates_of(self._counts, labels, state.sums, in_use)
        weight = self.feature_weight if in_use.any() else 0.0
        largest = float(xlogx(state.weights.sum()) + weight * xlogx(rates.of_block.sum()))
        least = _ROUNDING * max(largest, 1.0)
        return int(sweep(labels, order, self._links, state.weights, self._counts, rates, weight, least, exact))

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
