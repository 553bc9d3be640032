"""JointLikelihood: blocks refined with the features, and features chosen by the blocks.

Both improve one objective for the blocks F and the choice r ∈ {0, 1}^m of features, in nats; lower is better:

    J(F, r) = − L(F) − Σ_l r_l (I_l(F) − (k − 1))

L(F) is the log-likelihood gain of the links and I_l(F) that of feature l, both over a single block (see `likelihood`).
A feature that follows the blocks has one rate per block, k − 1 more than a feature that does not. Each extra rate costs
one nat (AIC), which offsets what k − 1 free rates gain by chance.

The losses of the paper and ‖A − F M Fᵀ‖² are no objectives for blocks that may change. L_m is lowest if blocks are
blurred, L_b if nodes with many features are separated from nodes with few, and the error ‖A − F M Fᵀ‖ of a sparse graph
if hubs are separated. All three lead away from planted blocks, even if the descent starts there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed

from blockselect.arrays import BoolArray, FloatArray, IntArray, Sparse
from blockselect.blockmodels.levels import BlockTree, leaf_order, merge_blocks, renumber_leaves, xlogx
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.likelihood import (
    as_counts,
    as_links,
    block_tables,
    feature_gains,
    link_gain,
    weights_by_block,
)
from blockselect.consensus.likelihood import link_unit as default_link_unit
from blockselect.consensus.moves import Counts, Links, Rows, Tables, announce_compilation, sweep
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.chunks import RowChunks
from blockselect.graphs.over_rows import fold_over_rows

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
    comparable_gain: float  # see `JointLikelihood.comparable_gains`


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """The sums over blocks and what follows from them."""

    tables: Tables  # a sweep changes these in place
    gains: FloatArray  # (m,) log-likelihood gain of each feature
    objective: float  # J


@dataclass(frozen=True, slots=True, eq=False)
class _Round:
    """A round of visits for a fixed choice of features. A sweep changes labels, slack and tables in place."""

    labels: IntArray  # (n,)
    slack: FloatArray  # (n,) nodes with a positive slack are not visited (see `sweep`)
    tables: Tables
    order: IntArray  # (n,) nodes in the order of the visits; those of each chunk of rows stand at its rows
    in_use: BoolArray  # (m,)
    least_gain: float
    n_moves: int = 0


@dataclass(slots=True, eq=False)
class _Refinement:
    """A block model that is being refined."""

    labels: IntArray  # (n,) changed in place
    state: _State
    slack: FloatArray  # (n,) changed in place (see `sweep`)
    objective: list[float]  # J before the first round and after each round
    n_moves: list[int] = field(default_factory=list)
    all_due: bool = True  # whether the next round visits all nodes
    is_done: bool = False

    @classmethod
    def start(cls, labels: IntArray, state: _State) -> _Refinement:
        return cls(labels, state, np.zeros(len(labels)), [state.objective])

    def end_round(self, labels: IntArray, slack: FloatArray, state: _State, n_moves: int, tol: float) -> None:
        self.labels, self.slack, self.state = labels, slack, state
        self.n_moves.append(n_moves)
        self.objective.append(state.objective)
        if n_moves == 0 or self.objective[-2] - self.objective[-1] <= tol * len(labels):
            if self.all_due:
                self.is_done = True
            self.slack[:] = 0.0
        self.all_due = not self.slack.any()


def penalty(n_blocks: int) -> int:
    """Penalty, in nats, of a feature with a separate rate in each block (AIC)."""
    return n_blocks - 1


class JointLikelihood:
    """How well blocks explain the links and the features of a graph, and how to improve the blocks.

    Labels are 0 … k − 1 and all in use, as those of every block model.

    Parameters
    ----------
    graph : AttributedGraph
        The features are non-negative numbers, dense, sparse or in row chunks. Their units do not matter: the gain of a
        feature is relative to its variance. Link weights are divided by `link_unit` and treated as counts.
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

    __slots__ = ("_counts", "_graph", "_links", "link_unit")

    def __init__(
        self,
        graph: AttributedGraph,
        *,
        link_unit: float | None = None,
        counts: Counts | None = None,
    ) -> None:
        self._graph = graph
        self.link_unit = default_link_unit(graph.adjacency) if link_unit is None else link_unit
        self._links = as_links(graph.adjacency, self.link_unit)
        self._counts = as_counts(graph.features) if counts is None else counts

    def gains(self, labels: Sequence[IntArray]) -> FloatArray:
        """−J of c arrays of labels, the penalised log-likelihood gain of links and features; larger is better: (c,)."""
        return np.array([-state.objective for state in self._states(labels)])

    def gains_of_links(self, labels: Sequence[IntArray]) -> FloatArray:
        """Log-likelihood gain of the links by the blocks of c arrays of labels, without any penalty: (c,)."""
        return np.array([link_gain(weights_by_block(self._links, of_node)) for of_node in labels])

    def comparable_gains(self, labels: Sequence[IntArray]) -> FloatArray:
        """Gains that are comparable between different numbers of blocks, like description lengths: (c,).

        More blocks gain more by chance, so the cost of describing them is subtracted: log k nats per label, and half
        the logarithm of the total link weight per density. Larger is better.
        """
        return np.array([self._comparable(state) for state in self._states(labels)])

    def _comparable(self, state: _State) -> float:
        weights = state.tables.weights
        n, k = self._graph.n_nodes, len(weights)
        densities = k * (k + 1) / 4 * np.log(max(float(weights.sum()) / 2, 1.0))
        return float(-state.objective - densities - n * np.log(k))

    def trees(self, models: Sequence[BlockModel], *, renumber: bool = True) -> list[BlockTree]:
        """The tree of the blocks of each model, by links and the features whose gain exceeds the penalty.

        With `renumber`, blocks are numbered along the tree, the largest branch first.
        """
        states = self._states([model.labels for model in models])
        return [self._tree(model, state, renumber) for model, state in zip(models, states, strict=True)]

    def _tree(self, model: BlockModel, state: _State, renumber: bool) -> BlockTree:
        tables = state.tables
        in_use = state.gains > penalty(model.n_blocks)
        linkage = merge_blocks(tables.weights, model.block_sizes, tables.sums[in_use], tables.totals)
        if renumber:
            order = leaf_order(linkage, model.block_sizes)
            model, linkage = model.renumbered(order), renumber_leaves(linkage, order)
        return BlockTree(model, linkage, state.gains)

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
        return next(self.improve_all([model], rngs=[rng], max_rounds=max_rounds, tol=tol))

    def improve_all(
        self,
        models: Sequence[BlockModel],
        *,
        rngs: Sequence[np.random.Generator],
        max_rounds: int = MAX_ROUNDS,
        tol: float = DEFAULT_TOL,
        n_jobs: int | None = None,
    ) -> Iterator[JointResult]:
        """Refine several block models, each as `improve` does, in threads: compiled moves release the interpreter lock.

        A round over row chunks visits the chunks in order, and the nodes of each chunk in random order. All models are
        then refined together, so that each round reads each chunk once.
        """
        announce_compilation()
        if isinstance(self._counts.matrix, RowChunks):
            yield from self._improve_together(models, rngs, max_rounds, tol, n_jobs)
            return
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        for results in parallel(
            delayed(self._improve_together)([model], [rng], max_rounds, tol)
            for model, rng in zip(models, rngs, strict=True)
        ):
            yield from results

    def _improve_together(
        self,
        models: Sequence[BlockModel],
        rngs: Sequence[np.random.Generator],
        max_rounds: int,
        tol: float,
        n_jobs: int | None = None,
    ) -> list[JointResult]:
        labels = [model.labels.astype(np.int64) for model in models]
        runs = [_Refinement.start(*one) for one in zip(labels, self._states(labels), strict=True)]
        matrix = self._counts.matrix
        place = matrix.place if isinstance(matrix, RowChunks) else lambda shared: shared
        shared = place(self._links), place(self._counts._replace(matrix=None))
        for _ in range(max_rounds):
            due = [(run, rng) for run, rng in zip(runs, rngs, strict=True) if not run.is_done]
            if not due:
                break
            rounds = [self._round(run, rng) for run, rng in due]
            for (run, _), visited in zip(
                due, fold_over_rows(matrix, _visit, rounds, *shared, n_jobs=n_jobs), strict=True
            ):
                run.end_round(visited.labels, visited.slack, self._state(visited.tables), visited.n_moves, tol)
        return [self._result(model, run) for model, run in zip(models, runs, strict=True)]

    def _result(self, model: BlockModel, run: _Refinement) -> JointResult:
        return JointResult(
            model=BlockModel.of_checked(self._graph.adjacency, run.labels, family=model.family),
            in_use=run.state.gains > penalty(model.n_blocks),
            objective=np.array(run.objective),
            n_moves=np.array(run.n_moves, dtype=np.intp),
            comparable_gain=self._comparable(run.state),
        )

    def _states(self, labels: Sequence[IntArray]) -> Iterator[_State]:
        return map(self._state, block_tables(self._links, self._counts, labels))

    def _state(self, tables: Tables) -> _State:
        """The gains of the features by these blocks, and J for the best choice of features."""
        gains = feature_gains(tables.sums, tables.entropies, tables.totals)
        above = float(np.maximum(gains - penalty(len(tables.weights)), 0.0).sum())
        return _State(tables, gains, -float(link_gain(tables.weights)) - above)

    def _round(self, run: _Refinement, rng: np.random.Generator) -> _Round:
        """The next round of visits; only the features whose gain exceeds the penalty move nodes."""
        tables = run.state.tables
        in_use = run.state.gains > penalty(len(tables.weights))
        of_features = float(tables.sums[in_use].sum())
        least = _ROUNDING * max(float(xlogx(tables.weights.sum()) + xlogx(np.float64(of_features))), 1.0)
        order = self._in_chunks(rng.permutation(self._graph.n_nodes))
        return _Round(run.labels, run.slack, tables, order, in_use, least)

    def _in_chunks(self, order: IntArray) -> IntArray:
        """The nodes in this order, but grouped by chunk: those of each chunk stand at the positions of its rows."""
        matrix = self._counts.matrix
        if not isinstance(matrix, RowChunks):
            return order
        sizes = [rows.stop - rows.start for rows in matrix.survey().rows]
        chunk_of = np.repeat(np.arange(len(sizes)), sizes)
        return order[np.argsort(chunk_of[order], kind="stable")]


def _visit(block: Sparse, rows: slice, now: _Round, links: Links, counts: Counts) -> _Round:
    """Visit the nodes of some rows; changes `labels`, `slack` and the tables of the round in place."""
    matrix = Rows(
        block.indptr.astype(np.int64, copy=False), block.indices.astype(np.int32, copy=False), block.data, rows.start
    )
    counts = counts._replace(matrix=matrix)
    moved = sweep(now.labels, now.order[rows], now.slack, links, counts, now.tables, now.in_use, now.least_gain)
    return replace(now, n_moves=now.n_moves + int(moved))
