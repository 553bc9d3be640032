"""Refinement of blocks with the features: rounds of node moves that increase the joint likelihood.

A round visits the nodes in random order and moves each node to the block that lowers J most, if any does (see
`likelihood` for J, and `moves` for the compiled moves). Then exactly those features are in use whose gain exceeds the
penalty, which is the best choice for the new blocks. So J never increases. The first and the last round visit all
nodes; the other rounds visit only nodes that may have a reason to move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from blockselect.blockmodels.levels import xlogx
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.likelihood import Counts, JointLikelihood, Links, Tables, comparable_gain, evaluate
from blockselect.consensus.moves import Rows, announce_compilation, sweep
from blockselect.rows.sums import fold_over_rows, in_memory, place_at_rows, row_slices
from blockselect.utils.arrays import BoolArray, FloatArray, IntArray, Sparse

MAX_ROUNDS = 50
DEFAULT_TOL = 0.01  # nats per node
_ROUNDING = 1e-13  # gains below this share of the sums of x log x are rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class RefinedModel:
    """A block model refined with the features."""

    model: BlockModel  # with as many blocks as at the start
    in_use: BoolArray  # (m,) z in J: features whose gain exceeds the penalty; only they moved nodes
    objective: FloatArray  # (t + 1,) J in nats, before the first round and after each round
    n_moves: IntArray  # (t,) nodes moved in each round
    comparable_gain: float  # see `likelihood.comparable_gain`


def refine_blocks(
    likelihood: JointLikelihood,
    models: Sequence[BlockModel],
    *,
    rngs: Sequence[np.random.Generator],
    max_rounds: int = MAX_ROUNDS,
    tol: float = DEFAULT_TOL,
    n_jobs: int | None = None,
) -> Iterator[RefinedModel]:
    """Refine several block models with the features, in threads (compiled moves release the interpreter lock).

    If the features come in row chunks, a round visits the chunks in order, and the nodes of each chunk in random order.
    All models are then refined together, so that each round reads each chunk once.

    Parameters
    ----------
    likelihood : JointLikelihood
    models : sequence of BlockModel
        Block models of this graph, from which refinement starts. Starts that are unrelated to the graph do not lead to
        good blocks. (paper: F)
    rngs : sequence of numpy.random.Generator
        One per model, for the order of the visits.
    max_rounds : int
        The largest number of rounds, at least 1.
    tol : float
        Stop after a round over all nodes that lowers J by no more than this many nats per node, because the last
        rounds move only a few nodes each. With 0, rounds continue until no node moves.
    n_jobs : int or None
        Number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from blockselect import find_block_models, make_attributed_blocks
    >>> planted = make_attributed_blocks(200, 3, mean_degree=4, random_state=0)
    >>> start = find_block_models(planted.adjacency, 3, rng=0)[0]
    >>> (result,) = refine_blocks(JointLikelihood(planted.graph), [start], rngs=[np.random.default_rng(0)])
    >>> bool((np.diff(result.objective) <= 0).all())
    True
    """
    announce_compilation()
    if not in_memory(likelihood.counts.matrix):
        yield from _refine_together(likelihood, models, rngs, max_rounds, tol, n_jobs)
        return
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    for results in parallel(
        delayed(_refine_together)(likelihood, [model], [rng], max_rounds, tol)
        for model, rng in zip(models, rngs, strict=True)
    ):
        yield from results


def _refine_together(
    likelihood: JointLikelihood,
    models: Sequence[BlockModel],
    rngs: Sequence[np.random.Generator],
    max_rounds: int,
    tol: float,
    n_jobs: int | None = None,
) -> list[RefinedModel]:
    """Refine models round by round, so that each round passes over the rows once for all models."""
    matrix = likelihood.counts.matrix
    slices = row_slices(matrix)
    shared = place_at_rows(matrix, likelihood.links, likelihood.counts._replace(matrix=None))
    labels = [model.labels.astype(np.int64) for model in models]
    runs = [_Refinement(*start) for start in zip(labels, likelihood.tables(labels), strict=True)]
    for _ in range(max_rounds):
        due = [place for place, run in enumerate(runs) if not run.is_done]
        if not due:
            break
        for place in due:
            runs[place].begin_round(rngs[place], slices)
        visited = fold_over_rows(matrix, _visit, [runs[place] for place in due], *shared, n_jobs=n_jobs)
        for place, run in zip(due, visited, strict=True):
            run.end_round(tol)
            runs[place] = run
    return [
        RefinedModel(
            model=BlockModel.of_checked(likelihood.graph.adjacency, run.labels, family=model.family),
            in_use=run.in_use,
            objective=np.array(run.objective),
            n_moves=np.array(run.n_moves, dtype=np.intp),
            comparable_gain=comparable_gain(run.tables, len(run.labels)),
        )
        for model, run in zip(models, runs, strict=True)
    ]


class _Refinement:
    """A block model during its refinement. A sweep changes labels, slack and tables in place."""

    def __init__(self, labels: IntArray, tables: Tables) -> None:
        self.labels = labels  # (n,)
        self.tables = tables
        _, self.in_use, objective = evaluate(tables)  # (m,) only these features move nodes
        self.objective = [objective]  # J before the first round and after each round
        self.slack: FloatArray = np.zeros(len(labels))  # nodes with a positive slack are not visited (see `sweep`)
        self.n_moves: list[int] = []  # in each round
        self.is_done = False

    def begin_round(self, rng: np.random.Generator, slices: Sequence[slice]) -> None:
        """Draw the order of the visits: at random, but chunk by chunk."""
        order = rng.permutation(len(self.labels))
        chunk_of = np.repeat(np.arange(len(slices)), [rows.stop - rows.start for rows in slices])
        self.order: IntArray = order[np.argsort(chunk_of[order], kind="stable")]
        terms = xlogx(self.tables.weights.sum()) + xlogx(np.float64(self.tables.sums[self.in_use].sum()))
        self.least_gain = _ROUNDING * max(float(terms), 1.0)  # for a move; smaller gains are rounding errors
        self.visits_all = not self.slack.any()
        self.n_moves.append(0)

    def end_round(self, tol: float) -> None:
        """Choose the best features for the new blocks, and decide whether the next round, if any, visits all nodes."""
        _, self.in_use, objective = evaluate(self.tables)
        self.objective.append(objective)
        if self.n_moves[-1] == 0 or self.objective[-2] - self.objective[-1] <= tol * len(self.labels):
            self.is_done = self.visits_all
            self.slack[:] = 0.0


def _visit(block: Sparse, rows: slice, run: _Refinement, links: Links, counts: Counts) -> _Refinement:
    """Visit the nodes of some rows; return the refinement, of which a Dask worker has changed a copy."""
    matrix = Rows(
        block.indptr.astype(np.int64, copy=False), block.indices.astype(np.int32, copy=False), block.data, rows.start
    )
    counts = counts._replace(matrix=matrix)
    run.n_moves[-1] += sweep(
        run.labels, run.order[rows], run.slack, links, counts, run.tables, run.in_use, run.least_gain
    )
    return run
