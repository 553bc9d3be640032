"""JointLikelihood: blocks refined with the features, and features chosen by the blocks.

Both improve one objective for the blocks F and the choice r ∈ {0, 1}^m of features, in nats; lower is better:

    J(F, r) = − L(F) − Σ_l r_l (I_l(F) − (k − 1))

L(F) is the log-likelihood gain of the links and I_l(F) that of feature l, both over a single block (see `likelihood`).
A feature that depends on the blocks has one rate per block, k − 1 more than a feature that does not. Each extra rate
costs one nat (AIC), which offsets what k − 1 free rates gain by chance.

The losses of the paper and ‖A − F M Fᵀ‖² are not suitable objectives for blocks that may change. L_m is lowest if
blocks are blurred, L_b if nodes with many features are separated from nodes with few, and the error ‖A − F M Fᵀ‖ of a
sparse graph if hubs are separated. All three lead away from planted blocks, even if the descent starts there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed

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
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.sums import fold_over_rows, in_memory, place_at_rows, row_slices
from blockselect.utils.arrays import BoolArray, FloatArray, IntArray, Sparse

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


@dataclass(slots=True, eq=False)
class _Refinement:
    """A block model that is being refined. A sweep changes labels, slack and tables in place."""

    labels: IntArray  # (n,)
    tables: Tables
    in_use: BoolArray  # (m,) features whose gain exceeds the penalty; only they move nodes
    objective: list[float]  # J before the first round and after each round
    slack: FloatArray  # (n,) nodes with a positive slack are not visited (see `sweep`)
    n_moves: list[int] = field(default_factory=list)  # in each round
    order: IntArray = field(default_factory=lambda: np.arange(0))  # (n,) of the visits of a round
    least_gain: float = 0.0  # of a move; smaller gains are rounding errors
    visits_all: bool = True  # whether a round visits all nodes
    is_done: bool = False


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
        return np.array([-_evaluate(tables)[1] for tables in self._tables(labels)])

    def gains_of_links(self, labels: Sequence[IntArray]) -> FloatArray:
        """Log-likelihood gain of the links by the blocks of c arrays of labels, without any penalty: (c,)."""
        return np.array([link_gain(weights_by_block(self._links, of_node)) for of_node in labels])

    def comparable_gains(self, labels: Sequence[IntArray]) -> FloatArray:
        """Gains that are comparable between different numbers of blocks, like description lengths: (c,).

        More blocks gain more by chance, so the cost of describing them is subtracted: log k nats per label, and half
        the logarithm of the total link weight per density. Larger is better.
        """
        return np.array([self._comparable(tables, _evaluate(tables)[1]) for tables in self._tables(labels)])

    def _comparable(self, tables: Tables, objective: float) -> float:
        weights = tables.weights
        n, k = self._graph.n_nodes, len(weights)
        densities = k * (k + 1) / 4 * np.log(max(float(weights.sum()) / 2, 1.0))
        return float(-objective - densities - n * np.log(k))

    def trees(self, models: Sequence[BlockModel], *, renumber: bool = True) -> list[BlockTree]:
        """The tree of the blocks of each model, by links and the features whose gain exceeds the penalty.

        With `renumber`, blocks are numbered along the tree, the largest branch first.
        """
        return [
            self._tree(model, tables, renumber)
            for model, tables in zip(models, self._tables([model.labels for model in models]), strict=True)
        ]

    def _tree(self, model: BlockModel, tables: Tables, renumber: bool) -> BlockTree:
        gains, _ = _evaluate(tables)
        in_use = gains > penalty(model.n_blocks)
        linkage = merge_blocks(tables.weights, model.block_sizes, tables.sums[in_use], tables.totals)
        if renumber:
            order = leaf_order(linkage, model.block_sizes)
            model, linkage = model.renumbered(order), renumber_leaves(linkage, order)
        return BlockTree(model, linkage, gains)

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
            A block model of this graph to start from. Blocks unrelated to the graph do not lead to good blocks. (paper:
            F)
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
        if not in_memory(self._counts.matrix):
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
        matrix = self._counts.matrix
        shared = place_at_rows(matrix, self._links, self._counts._replace(matrix=None))
        labels = [model.labels.astype(np.int64) for model in models]
        runs = [_start(*one) for one in zip(labels, self._tables(labels), strict=True)]
        for _ in range(max_rounds):
            due = [place for place, run in enumerate(runs) if not run.is_done]
            if not due:
                break
            for place in due:
                self._begin_round(runs[place], rngs[place])
            visited = fold_over_rows(matrix, _visit, [runs[place] for place in due], *shared, n_jobs=n_jobs)
            for place, run in zip(due, visited, strict=True):
                _end_round(run, tol)
                runs[place] = run
        return [self._result(model, run) for model, run in zip(models, runs, strict=True)]

    def _begin_round(self, run: _Refinement, rng: np.random.Generator) -> None:
        """Draw the order of the visits: at random, but the nodes of each chunk stay at the positions of its rows."""
        order, slices = rng.permutation(self._graph.n_nodes), row_slices(self._counts.matrix)
        chunk_of = np.repeat(np.arange(len(slices)), [rows.stop - rows.start for rows in slices])
        run.order = order[np.argsort(chunk_of[order], kind="stable")]
        of_features = float(run.tables.sums[run.in_use].sum())
        run.least_gain = _ROUNDING * max(float(xlogx(run.tables.weights.sum()) + xlogx(np.float64(of_features))), 1.0)
        run.visits_all = not run.slack.any()
        run.n_moves.append(0)

    def _result(self, model: BlockModel, run: _Refinement) -> JointResult:
        return JointResult(
            model=BlockModel.of_checked(self._graph.adjacency, run.labels, family=model.family),
            in_use=run.in_use,
            objective=np.array(run.objective),
            n_moves=np.array(run.n_moves, dtype=np.intp),
            comparable_gain=self._comparable(run.tables, run.objective[-1]),
        )

    def _tables(self, labels: Sequence[IntArray]) -> Iterator[Tables]:
        return block_tables(self._links, self._counts, labels)


def _evaluate(tables: Tables) -> tuple[FloatArray, float]:
    """The gains of the features by these blocks, (m,), and J for the best choice of features."""
    gains = feature_gains(tables.sums, tables.s_log_s, tables.totals)
    above = float(np.maximum(gains - penalty(len(tables.weights)), 0.0).sum())
    return gains, -float(link_gain(tables.weights)) - above


def _start(labels: IntArray, tables: Tables) -> _Refinement:
    gains, objective = _evaluate(tables)
    return _Refinement(labels, tables, gains > penalty(len(tables.weights)), [objective], np.zeros(len(labels)))


def _visit(block: Sparse, rows: slice, run: _Refinement, links: Links, counts: Counts) -> _Refinement:
    """Visit the nodes of some rows; changes the refinement in place."""
    matrix = Rows(
        block.indptr.astype(np.int64, copy=False), block.indices.astype(np.int32, copy=False), block.data, rows.start
    )
    counts = counts._replace(matrix=matrix)
    run.n_moves[-1] += sweep(
        run.labels, run.order[rows], run.slack, links, counts, run.tables, run.in_use, run.least_gain
    )
    return run


def _end_round(run: _Refinement, tol: float) -> None:
    """Choose the best features for the new blocks, and which nodes the next round visits."""
    gains, objective = _evaluate(run.tables)
    run.in_use = gains > penalty(len(run.tables.weights))
    run.objective.append(objective)
    if run.n_moves[-1] == 0 or run.objective[-2] - run.objective[-1] <= tol * len(run.labels):
        run.is_done = run.visits_all
        run.slack[:] = 0.0
