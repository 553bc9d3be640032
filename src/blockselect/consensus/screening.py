"""Screening: which candidate block models deserve a vote on the features, judged without labels.

A candidate is worth what its blocks tell of links and features together, as a penalised log-likelihood (see
`JointProblem`). Where blocks may follow the features that follow them, every candidate takes a few steps of that climb,
and only those that then stand best go on to the top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from joblib import Parallel, delayed

from blockselect.arrays import FloatArray, IntArray
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.joint import JointProblem

KEPT = 0.25  # share of the candidates that vote
_FIRST_ROUNDS = 2  # rounds of the climb that every candidate makes


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """Candidates with their evidence, in nats, larger is better."""

    models: list[BlockModel]  # those that are kept, the best first, improved where asked
    kept: IntArray  # their places among the candidates
    at_start: FloatArray  # (c,) evidence of each candidate as it was found
    evidence: FloatArray  # (c,) and as far as it was improved


def screen(
    problem: JointProblem,
    models: Sequence[BlockModel],
    *,
    joint: bool,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Screening:
    """Keep the best quarter of the candidates, at least one; `joint` improves blocks on the way."""
    report = progress or (lambda done, total: None)
    n_kept = ceil(KEPT * len(models))
    total = len(models) + n_kept if joint else len(models)
    report(0, total)
    evidence = at_start = np.array([problem.evidence(model.labels) for model in models])
    found = list(models)
    if joint:
        found, evidence = _improved(problem, found, rng.spawn(len(found)), n_jobs, max_rounds=_FIRST_ROUNDS)
        report(len(models), total)
    kept = np.argsort(-evidence, kind="stable")[:n_kept]
    finalists = [found[i] for i in kept]
    if joint:
        finalists, final = _improved(problem, finalists, rng.spawn(n_kept), n_jobs)
        evidence[kept] = final
        order = np.argsort(-final, kind="stable")
        kept, finalists = kept[order], [finalists[i] for i in order]
    report(total, total)
    return Screening(finalists, kept, at_start, evidence)


def _improved(
    problem: JointProblem,
    models: Sequence[BlockModel],
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None,
    **limits: int,
) -> tuple[list[BlockModel], FloatArray]:
    results = Parallel(n_jobs=n_jobs)(
        delayed(problem.improve)(model, rng=rng, **limits) for model, rng in zip(models, rngs, strict=True)
    )
    return [result.model for result in results], np.array([-result.objective[-1] for result in results])
