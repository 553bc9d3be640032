"""Screening: which candidate block models vote on the features, judged without labels.

A candidate is judged by how much better its blocks explain links and features together than one block does: a
penalised log-likelihood gain (see `JointLikelihood`). Where blocks may be refined with the features, every candidate
makes a few rounds of refinement, and only the best of them go on to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from blockselect.arrays import FloatArray, IntArray
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.joint import JointLikelihood

KEPT = 0.25  # share of the candidates that vote
_FIRST_ROUNDS = 2  # rounds of refinement that every candidate makes


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """Candidates with their penalised log-likelihood gains, in nats, larger is better."""

    candidates: Sequence[BlockModel]  # as they were found
    voters: list[BlockModel]  # those that vote, the best first, refined where asked
    places: IntArray  # of the voters among the candidates
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
                "voted": np.isin(np.arange(len(self.candidates)), self.places),
            }
        )


def screen(
    likelihood: JointLikelihood,
    candidates: Sequence[BlockModel],
    *,
    joint: bool,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Screening:
    """Keep the best quarter of the candidates, at least one; `joint` refines blocks with the features."""
    report = progress or (lambda done, total: None)
    n_kept = ceil(KEPT * len(candidates))
    total = len(candidates) + n_kept if joint else len(candidates)
    report(0, total)
    gain = at_start = np.array([likelihood.gain(model.labels) for model in candidates])
    found = list(candidates)
    if joint:
        found, gain = _refined(likelihood, found, rng.spawn(len(found)), n_jobs, max_rounds=_FIRST_ROUNDS)
        report(len(candidates), total)
    places = np.argsort(-gain, kind="stable")[:n_kept]
    voters = [found[i] for i in places]
    if joint:
        voters, final = _refined(likelihood, voters, rng.spawn(n_kept), n_jobs)
        gain[places] = final
        order = np.argsort(-final, kind="stable")
        places, voters = places[order], [voters[i] for i in order]
    report(total, total)
    return Screening(candidates, voters, places, at_start, gain)


def _refined(
    likelihood: JointLikelihood,
    models: Sequence[BlockModel],
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None,
    **limits: int,
) -> tuple[list[BlockModel], FloatArray]:
    results = Parallel(n_jobs=n_jobs, prefer="threads")(  # compiled moves release the interpreter: no copies
        delayed(likelihood.improve)(model, rng=rng, **limits) for model, rng in zip(models, rngs, strict=True)
    )
    return [result.model for result in results], np.array([-result.objective[-1] for result in results])
