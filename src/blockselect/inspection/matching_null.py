"""Matching null: how the blocks would fit the features if these had been assigned to the nodes at random.

The final scores cannot be tested: they have unit length, so features compete, and if some features match the graph, all
others end up lower than they would on a graph that no feature matches. We test a *pull* instead: how both losses would
change the score of a feature if features and graph were matched at random, D̄ₗᵀ K D̄ₗ. K depends on the graph, its
blocks, and sums over all nodes, so it is the same for every permutation of the nodes. D̄ contains block means of the
residuals of a feature given the totals of the nodes, and only nodes with similar totals are permuted. Under the null
hypothesis the real pull is therefore exchangeable with the pulls of random matchings, whatever the other features do,
and no optimisation is needed to compare them.

A core and its periphery differ in degree, which block models normalise or hardly see. Groups of nodes may therefore be
given in addition; their statistic is the sum of squares between groups, Σ_g n_g D̄²_gl. Both statistics are expressed
in standard deviations of their random matchings, and the larger one counts. The statistic of the groups is multiplied
by 0.85, so that it costs little power where the blocks are sufficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import norm
from blockselect.bmgufs.losses import pair_sizes, profile_terms
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.inspection.given_totals import GivenTotals, given_totals
from blockselect.rows.statistics import in_units
from blockselect.utils.arrays import Features, FloatArray, IntArray
from blockselect.utils.progress import StepProgress, no_step_progress

_OF_GROUPS = 0.85  # 0.75 lowers the power by .06 for core-periphery and small blocks and raises it by .02 elsewhere
_ROUNDING = 1e-10  # variation below this share of the largest pull of a feature is rounding error
_PROFILE_RATIO = 0.6  # weight of the profile loss relative to the reconstruction loss (paper: β̄)
_SMOOTHING = 1e-6  # added to densities, in units of their mean, before their rows are compared (paper: δ)


@dataclass(frozen=True, slots=True, eq=False)
class MatchPulls:
    """How strongly the blocks pull the score of each feature up, for the real and for random matchings, centred."""

    real: FloatArray  # (m,)
    null: FloatArray  # (B, m) one row per round; a round permutes all features in the same way


def match_pulls(
    features: Features,
    models: Sequence[BlockModel],
    *,
    n_rounds: int,
    rng: np.random.Generator,
    reference: NDArray[np.bool_],
    groups: IntArray | None = None,
    progress: StepProgress = no_step_progress,
) -> MatchPulls:
    """Compute the pull of each feature towards the graph for the real and for random matchings, averaged over models.

    The block models must be found, and chosen, without the features: blocks that were found with the features fit them
    better than their permuted copies even without any relation. The result does not depend on the scale of a feature
    or of the densities.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        Non-negative. (paper: Y)
    models : sequence of BlockModel
        All candidates that do not use the features.
    n_rounds : int
        Number of random matchings; 20 are enough, 50 find slightly more.
    rng : numpy.random.Generator
    reference : boolean array of shape (m,)
        Features whose total shows how much of everything a node has.
    groups : array of shape (n,), optional
        Labels of groups of nodes that depend only on the graph, such as groups by degree.
    progress : callable
        Called as ``progress(done, total)`` after each model.
    """
    features = in_units(features)
    m = features.shape[1]
    given = given_totals(features, reference)
    orders = [np.arange(features.shape[0]), *(given.permutation(rng) for _ in range(n_rounds))]
    moments = _moments(features)
    total = np.zeros((n_rounds + 1, m))
    for done, model in enumerate(models, start=1):
        reconstruction, profile = _directions(model, moments)
        means = (given.block_means(model.labels[order], model.n_blocks) for order in orders)
        pulls = np.stack([[_along(reconstruction, D), _along(profile, D)] for D in means], axis=1)  # (2, B + 1, m)
        total += (1 - _PROFILE_RATIO) * _spread_to_one(pulls[0]) + _PROFILE_RATIO * _spread_to_one(pulls[1])
        progress(done, len(models))
    total /= len(models)
    if groups is not None:
        between = np.stack([_between(given, groups[order]) for order in orders])
        total = np.maximum(_in_spreads(total), _OF_GROUPS * _in_spreads(between))
    return MatchPulls(total[0], total[1:])


def _moments(features: Features) -> tuple[float, float]:
    """Squared mean and variance of the values of a feature, averaged over the features."""
    squares = features.power(2) if sparse.issparse(features) else features**2
    n = features.shape[0]
    mean = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel() / n
    variance = np.maximum(np.asarray(squares.sum(axis=0, dtype=np.float64)).ravel() - n * mean**2, 0) / max(n - 1, 1)
    return float(np.mean(mean**2)), float(np.mean(variance))


def _directions(model: BlockModel, moments: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """The matrix K of each loss at the expected induced density under random matching: (k, k) each."""
    squared_mean, variance = moments
    n, sizes = len(model.labels), model.block_sizes
    # The expected products of block means, if the nodes of a block are drawn without replacement.
    M_hat: FloatArray = squared_mean - variance / n + np.diag(variance / sizes)
    M_hat = _of_mean_one(np.maximum(M_hat, 0))[None, None]
    nothing = np.zeros((n, 0))
    statistics = BlockStatistics.of(nothing, [replace(model, density=_of_mean_one(model.density))])
    _, B = profile_terms(statistics, M_hat, smoothing=_SMOOTHING, gradient="exact")
    return (M_hat * pair_sizes(statistics))[0, 0], -B[0, 0]


def _of_mean_one(density: FloatArray) -> FloatArray:
    mean = density.mean()
    return density / mean if mean > 0 else density


def _along(direction: FloatArray, block_means: FloatArray) -> FloatArray:
    """D̄ₗᵀ K D̄ₗ for each feature l: (m,)."""
    along: FloatArray = np.sum((direction @ block_means) * block_means, axis=0)
    return along


def _between(given: GivenTotals, groups: IntArray) -> FloatArray:
    """Sum of squares between groups for each feature: (m,)."""
    sizes = np.bincount(groups)
    return np.asarray(sizes @ given.block_means(groups, len(sizes)) ** 2)


def _in_spreads(pulls: FloatArray) -> FloatArray:
    """Standardise the pulls (B + 1, m) of each feature; real and random matchings are treated in the same way."""
    centred = pulls - pulls.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > _ROUNDING * np.abs(pulls).max(axis=0)
    in_spreads: FloatArray = np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
    return in_spreads


def _spread_to_one(pulls: FloatArray) -> FloatArray:
    """Centre the pulls (B + 1, m) of each feature and scale them, so that models and losses have equal weight.

    Real and random matchings are treated in the same way, so that they remain exchangeable.
    """
    centred = pulls - pulls.mean(axis=0)
    rounding = _ROUNDING * np.abs(pulls).max(axis=0)
    centred[:, np.abs(centred).max(axis=0) <= rounding] = 0
    length = norm(centred.ravel())
    scaled: FloatArray = centred / np.where(length > 0, length, 1)
    return scaled
