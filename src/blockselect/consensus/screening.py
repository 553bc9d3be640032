"""Screening: how many candidate block models are tried, and which of them features shall explain, without labels.

A candidate is judged by how much better its blocks explain links and features together than one block does: a
penalised log-likelihood gain (see `JointLikelihood`). If blocks may be refined with the features, every candidate
makes a few rounds of refinement, and only the best quarter is refined to the end.

How many are tried depends on the work of refining them. With c candidates of k blocks, nnz(A) entries of the graph and
nnz(X) values of the features it is at most about

    k (2 c + 50 ⌈c/4⌉) (nnz(A) + nnz(X))

multiplications, of which two cores make some 10⁹ per second: two rounds per candidate, fifty per member of the best
quarter. More candidates find better blocks, above all if these link to others. Unless told otherwise a search has as
many as 2·10⁸ multiplications allow, 9 to 48. On networks whose work exceeds 2·10¹¹, candidates, rounds and resamples
shrink in proportion, though not below three candidates (one per family), five rounds and five resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray, IntArray
from blockselect.base import best_first
from blockselect.blockmodels.candidates import MIXED
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.joint import MAX_ROUNDS, JointLikelihood
from blockselect.graphs.attributed import AttributedGraph

KEPT = 0.25  # share of the candidates that are refined to the end
_FIRST_ROUNDS = 2  # rounds of refinement that every candidate makes
BUDGET = 2e11  # multiplications: a few minutes on two cores
FACTORIZATION_STEPS = 100  # iterations that find a candidate: it is refined afterwards, and more lead to no better ones
CHEAP = 2e8  # multiplications of a refinement that is over in less than a second
FEW_CANDIDATES, MANY_CANDIDATES = 9, 48  # if they are not cheap, and if they are
LEAST_CANDIDATES = len(MIXED)
LEAST_ROUNDS = 5
LEAST_RESAMPLES = 5


@dataclass(frozen=True, slots=True)
class Effort:
    """Planned and requested search effort."""

    work: float  # multiplications that all that was asked for would take at most
    asked_candidates: int
    asked_rounds: int = MAX_ROUNDS

    @property
    def share(self) -> float:
        """Of what was asked for: 1 where nothing is cut."""
        return min(1.0, BUDGET / max(self.work, 1.0))

    @property
    def n_candidates(self) -> int:
        """Block models that are found."""
        return self._cut(self.asked_candidates, LEAST_CANDIDATES)

    @property
    def max_rounds(self) -> int:
        """Rounds of refinement of a consensus model, at most."""
        return self._cut(self.asked_rounds, LEAST_ROUNDS)

    def n_resamples(self, asked: int) -> int:
        """Resampled graphs, where so many are asked for."""
        return self._cut(asked, LEAST_RESAMPLES)

    @property
    def was_cut(self) -> bool:
        return self.share < 1

    def _cut(self, asked: int, least: int) -> int:
        return max(min(asked, least), floor(self.share * asked))


def plan_effort(graph: AttributedGraph, n_blocks: int, *, n_candidates: int | Literal["auto"]) -> Effort:
    """The effort for a search of so many candidates, or of as many as pay, of so many blocks."""
    asked = _as_many_as_pay(graph, n_blocks) if n_candidates == "auto" else n_candidates
    return Effort(_work(graph, n_blocks, asked), asked)


def _as_many_as_pay(graph: AttributedGraph, n_blocks: int) -> int:
    """In whole turns of the families."""
    affordable = CHEAP / _work(graph, n_blocks, FEW_CANDIDATES) * FEW_CANDIDATES
    turns = floor(min(affordable, MANY_CANDIDATES) / len(MIXED))
    return max(FEW_CANDIDATES, turns * len(MIXED))


def _work(graph: AttributedGraph, n_blocks: int, n_candidates: int) -> float:
    """Multiplications of a search, at most."""
    n_links = graph.adjacency.nnz
    n_values = getattr(graph.features, "nnz", graph.n_nodes * graph.n_features)
    rounds = _FIRST_ROUNDS * n_candidates + MAX_ROUNDS * ceil(KEPT * n_candidates)
    return n_blocks * rounds * float(n_links + n_values)


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """Candidates with their penalised log-likelihood gains, in nats, larger is better."""

    candidates: Sequence[BlockModel]  # as they were found
    consensus: list[BlockModel]  # the best of them, the best first, refined where asked
    places: IntArray  # of these among the candidates
    gain_at_start: FloatArray  # (c,) of each candidate as it was found
    gain: FloatArray  # (c,) and as far as it was refined

    def table(self) -> pd.DataFrame:
        """How each candidate was judged, in their order."""
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


def screen(
    likelihood: JointLikelihood,
    candidates: Sequence[BlockModel],
    *,
    refine: bool,
    rng: np.random.Generator,
    max_rounds: int = MAX_ROUNDS,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Screening:
    """Keep the best quarter of the candidates, at least one; `refine` refines blocks with the features.

    Those that are kept make at most `max_rounds` further rounds of refinement.
    """
    report = progress or (lambda done, total: None)
    n_kept = ceil(KEPT * len(candidates))
    total = len(candidates) + n_kept if refine else len(candidates)
    report(0, total)
    found = list(candidates)
    if refine:
        found, at_start, gain = _refined(
            likelihood, found, rng.spawn(len(found)), n_jobs, lambda done: report(done, total), max_rounds=_FIRST_ROUNDS
        )
    else:
        gain = at_start = np.array([likelihood.gain(model.labels) for model in candidates])
        report(total, total)
    places = best_first(_comparable(likelihood, found, gain))[:n_kept]
    consensus = [found[i] for i in places]
    if refine:
        consensus, _, final = _refined(
            likelihood,
            consensus,
            rng.spawn(n_kept),
            n_jobs,
            lambda done: report(len(candidates) + done, total),
            max_rounds=max_rounds,
        )
        gain[places] = final
        order = best_first(_comparable(likelihood, consensus, final))
        places, consensus = places[order], [consensus[i] for i in order]
    return Screening(candidates, consensus, places, at_start, gain)


def _comparable(likelihood: JointLikelihood, models: Sequence[BlockModel], gain: FloatArray) -> FloatArray:
    """The gains, or where numbers of blocks differ, gains that allow for that."""
    if len({model.n_blocks for model in models}) == 1:
        return gain
    return np.array([likelihood.comparable_gain(model.labels) for model in models])


def _refined(
    likelihood: JointLikelihood,
    models: Sequence[BlockModel],
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None,
    report: Callable[[int], None],
    *,
    max_rounds: int,
) -> tuple[list[BlockModel], FloatArray, FloatArray]:
    """Refined models, and their gains before and after."""
    results = []
    improved = likelihood.improve_all(models, rngs=rngs, n_jobs=n_jobs, max_rounds=max_rounds)
    for done, result in enumerate(improved, start=1):
        results.append(result)
        report(done)
    before, after = (np.array([-result.objective[at] for result in results]) for at in (0, -1))
    return [result.model for result in results], before, after
