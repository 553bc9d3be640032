"""Consensus: which candidate block models are kept, and how stable their blocks are.

The criterion is the penalised log-likelihood gain of links and features together over a single block (see
`JointLikelihood`). If blocks may be refined with the features, every candidate is refined for a few rounds, and the
best quarter of them until convergence.

The stability of the blocks is how closely the blocks of a fit with another seed would match them. Such a fit keeps the
best model from other random starts, and the candidates of a single fit can simulate this. Split them at random into two
halves: the best model of one half is the best of all, m₁, and the best model of the other half is m₂ with
probability 1/2, m₃ with probability 1/4, and so on. So m₁ is compared with the other consensus models, with weights
1/2, 1/4, …, scaled to sum to 1. Equal weights would give influence to models that no fit would choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.refine import MAX_ROUNDS, RefinedModel, refine_blocks
from blockselect.utils.arrays import FloatArray, IntArray, best_first
from blockselect.utils.progress import StepProgress, no_step_progress

KEPT = 0.25  # share of the candidates that are kept: the consensus models
FIRST_ROUNDS = 2  # rounds of refinement of every candidate


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """The candidates, the models that are kept, and their penalised log-likelihood gains in nats; larger is better."""

    candidates: Sequence[BlockModel]  # as found
    models: list[BlockModel]  # the best quarter, the best first, and refined if requested
    places: IntArray  # positions of these models among the candidates
    gain_at_start: FloatArray  # (c,) gain of each candidate as found
    gain: FloatArray  # (c,) gain of each candidate after its refinement

    def table(self) -> pd.DataFrame:
        """One row per candidate, in the order of the candidates."""
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

    With `refine`, blocks are refined with the features: all candidates for two rounds, and the ones that are
    kept for at most `max_rounds` more.
    """
    n_kept = ceil(KEPT * len(candidates))
    total = len(candidates) + n_kept if refine else len(candidates)
    progress(0, total)
    if not refine:
        labels = [model.labels for model in candidates]
        gain = likelihood.gains(labels)
        same_k = len({model.n_blocks for model in candidates}) == 1
        places = best_first(gain if same_k else likelihood.comparable_gains(labels))[:n_kept]
        progress(total, total)
        return Consensus(candidates, [candidates[i] for i in places], places, gain, gain)

    def refined(models: Sequence[BlockModel], rounds: int, done: int) -> list[RefinedModel]:
        results = []
        for result in refine_blocks(likelihood, models, rngs=rng.spawn(len(models)), max_rounds=rounds, n_jobs=n_jobs):
            results.append(result)
            progress(done + len(results), total)
        return results

    first = refined(candidates, FIRST_ROUNDS, 0)
    gain_at_start = np.array([-result.objective[0] for result in first])
    gain = np.array([-result.objective[-1] for result in first])
    places = _best_refined(first)[:n_kept]
    last = refined([first[i].model for i in places], max_rounds, len(candidates))
    gain[places] = [-result.objective[-1] for result in last]
    order = _best_refined(last)
    return Consensus(candidates, [last[i].model for i in order], places[order], gain_at_start, gain)


def _best_refined(results: Sequence[RefinedModel]) -> IntArray:
    """Positions of the models, best first: by −J, or by comparable gain if their numbers of blocks differ."""
    same_k = len({result.model.n_blocks for result in results}) == 1
    return best_first(np.array([-result.objective[-1] if same_k else result.comparable_gain for result in results]))


def expected_agreement(models: Sequence[IntArray]) -> tuple[FloatArray | None, float | None]:
    """Expected agreement of the best model, which comes first, with the other models: per block, and overall.

    The agreement of a block is its Jaccard index with the closest block of another model; the overall agreement is the
    adjusted Rand index. Returns an array of shape (k,) and a number, or None for both if there is only one model.

    Parameters
    ----------
    models : sequence of arrays of shape (n,)
        The block of each node, 0 … k − 1, in each model, the best model first.

    Examples
    --------
    >>> whole, halved = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])
    >>> of_blocks, overall = expected_agreement([whole, halved])
    >>> of_blocks
    array([0.5, 1. ])
    """
    best, *others = models
    if not others:
        return None, None
    weights = 0.5 ** np.arange(len(others))
    return (
        np.average([closest_overlaps(best, other) for other in others], axis=0, weights=weights),
        float(np.average([adjusted_rand_score(best, other) for other in others], weights=weights)),
    )


def closest_overlaps(blocks: IntArray, others: IntArray) -> FloatArray:
    """Jaccard index of each block with the most similar block of another model: (k,)"""
    shared = contingency_matrix(blocks, others, sparse=True, dtype=np.float64).tocoo()
    united = np.bincount(blocks)[shared.row] + np.bincount(others)[shared.col] - shared.data
    overlaps = np.zeros(shared.shape[0])
    np.maximum.at(overlaps, shared.row, shared.data / united)
    return overlaps
