"""Consensus: how many candidate block models are tried, and which of them are kept, without labels.

The criterion is the penalised log-likelihood gain of links and features together over a single block (see
`JointLikelihood`). If blocks may be refined with the features, every candidate makes a few rounds of refinement, and
only the best quarter is refined to the end.

The number of candidates depends on the cost of refining them. With c candidates of k blocks, nnz(A) entries of the
graph and nnz(X) values of the features, the cost is at most about

    k (2 c + 50 ⌈c/4⌉) (nnz(A) + nnz(X))

multiplications: two rounds per candidate, and fifty rounds per member of the best quarter. Two cores make about 10⁹
multiplications per second. More candidates lead to better blocks, above all if blocks link to other blocks. By default
a search has as many candidates as 2·10⁸ multiplications allow, 9 to 48. If the cost exceeds 2·10¹¹, the numbers of
candidates, rounds and resampled graphs shrink in proportion, but not below three candidates (one per family), five
rounds and five resampled graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray, IntArray
from blockselect.base import best_first
from blockselect.blockmodels.candidates import MIXED
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.refine import MAX_ROUNDS, JointLikelihood, JointResult
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.over_rows import n_values
from blockselect.progress import StepProgress, no_step_progress

KEPT = 0.25  # share of the candidates that form the consensus
_FIRST_ROUNDS = 2  # rounds of refinement of every candidate
BUDGET = 2e11  # multiplications: a few minutes on two cores
FACTORIZATION_STEPS = 100  # iterations of a factorisation whose blocks are refined afterwards; more do not help
CHEAP = 2e8  # multiplications: less than a second
FEW_CANDIDATES, MANY_CANDIDATES = 9, 48  # the fewest and the most candidates by default
LEAST_CANDIDATES = len(MIXED)
LEAST_ROUNDS = 5
LEAST_RESAMPLES = 5


@dataclass(frozen=True, slots=True)
class Effort:
    """Planned and requested search effort."""

    work: float  # most multiplications that the requested effort takes
    asked_candidates: int
    asked_rounds: int = MAX_ROUNDS

    @property
    def share(self) -> float:
        """Planned share of the requested effort; 1 if nothing is cut."""
        return min(1.0, BUDGET / max(self.work, 1.0))

    @property
    def n_candidates(self) -> int:
        """Number of candidate block models."""
        return self._cut(self.asked_candidates, LEAST_CANDIDATES)

    @property
    def max_rounds(self) -> int:
        """Most rounds of refinement of a consensus model."""
        return self._cut(self.asked_rounds, LEAST_ROUNDS)

    def n_resamples(self, asked: int) -> int:
        """Number of resampled graphs if so many are requested."""
        return self._cut(asked, LEAST_RESAMPLES)

    @property
    def was_cut(self) -> bool:
        return self.share < 1

    def _cut(self, asked: int, least: int) -> int:
        return max(min(asked, least), floor(self.share * asked))


def plan_effort(graph: AttributedGraph, n_blocks: int, *, n_candidates: int | Literal["auto"]) -> Effort:
    """The effort of a search for block models with this number of blocks."""
    asked = _default_candidates(graph, n_blocks) if n_candidates == "auto" else n_candidates
    return Effort(_work(graph, n_blocks, asked), asked)


def _default_candidates(graph: AttributedGraph, n_blocks: int) -> int:
    """9 to 48 candidates, depending on the estimated cost; each family has the same number of turns."""
    affordable = CHEAP / _work(graph, n_blocks, FEW_CANDIDATES) * FEW_CANDIDATES
    turns = floor(min(affordable, MANY_CANDIDATES) / len(MIXED))
    return max(FEW_CANDIDATES, turns * len(MIXED))


def _work(graph: AttributedGraph, n_blocks: int, n_candidates: int) -> float:
    """Most multiplications of a search."""
    rounds = _FIRST_ROUNDS * n_candidates + MAX_ROUNDS * ceil(KEPT * n_candidates)
    return n_blocks * rounds * float(graph.adjacency.nnz + n_values(graph.features))


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """Candidates and their penalised log-likelihood gains in nats; larger is better."""

    candidates: Sequence[BlockModel]  # as found
    models: list[BlockModel]  # the best of them, the best first, refined if requested
    places: IntArray  # positions of these among the candidates
    gain_at_start: FloatArray  # (c,) gain of each candidate as found
    gain: FloatArray  # (c,) gain of each candidate after its refinement

    def table(self) -> pd.DataFrame:
        """One row per candidate, in their order."""
        return pd.DataFrame(
            {
                "family": [model.family for model in self.candidates],
                "n_blocks": [model.n_blocks for model in self.candidates],
                "relative_error": [model.relative_error for model in self.candidates],
                "gain_at_start": self.gain_at_start,
                "gain": self.gain,
                "in_consensus": np.isin(np.arange(len(self.candidates)), self.places),
            }
        )


def find_consensus(
    likelihood: JointLikelihood,
    candidates: Sequence[BlockModel],
    *,
    refine: bool,
    rng: np.random.Generator,
    max_rounds: int = MAX_ROUNDS,
    n_jobs: int | None = None,
    progress: StepProgress = no_step_progress,
) -> Consensus:
    """Keep the best quarter of the candidates, at least one.

    With `refine` the blocks are refined with the features, those of the best quarter for at most `max_rounds` rounds.
    """
    n_kept = ceil(KEPT * len(candidates))
    total = len(candidates) + n_kept if refine else len(candidates)
    progress(0, total)
    if not refine:
        labels = [model.labels for model in candidates]
        gain = likelihood.gains(labels)
        alike = len({model.n_blocks for model in candidates}) == 1
        places = best_first(gain if alike else likelihood.comparable_gains(labels))[:n_kept]
        progress(total, total)
        return Consensus(candidates, [candidates[i] for i in places], places, gain, gain)

    def refined(models: Sequence[BlockModel], rounds: int, done: int) -> list[JointResult]:
        improving = likelihood.improve_all(models, rngs=rng.spawn(len(models)), max_rounds=rounds, n_jobs=n_jobs)
        results = []
        for result in improving:
            results.append(result)
            progress(done + len(results), total)
        return results

    first = refined(candidates, _FIRST_ROUNDS, 0)
    at_start = np.array([-result.objective[0] for result in first])
    gain = _gains(first)
    places = _best_refined(first)[:n_kept]
    last = refined([first[i].model for i in places], max_rounds, len(candidates))
    gain[places] = _gains(last)
    order = _best_refined(last)
    return Consensus(candidates, [last[i].model for i in order], places[order], at_start, gain)


def _gains(results: Sequence[JointResult]) -> FloatArray:
    return np.array([-result.objective[-1] for result in results])


def _best_refined(results: Sequence[JointResult]) -> IntArray:
    """Positions of the models, the best first: by gains, or by comparable gains if their numbers of blocks differ."""
    alike = len({result.model.n_blocks for result in results}) == 1
    return best_first(_gains(results) if alike else np.array([result.comparable_gain for result in results]))
