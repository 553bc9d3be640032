"""Matching null: what the blocks would say of the features if these had been assigned to the nodes at random.

Final scores cannot be tested: unit length makes features compete, so where some match the graph, all others end lower
than they would on a graph that nothing matches. We test a pull instead: how both losses would change a feature's score
if features and graph were matched at random, D̄ₗᵀ K D̄ₗ. K comes from the graph, its blocks, and sums over all nodes, so
it is the same for every permutation of the nodes. D̄ are block means of what is left of a feature once the total of
each node is given, and nodes of like totals are permuted. Under the null the real pull is therefore exchangeable with
those of the random matchings, whatever the other features do, and no solve is needed to compare them.

A core and its periphery differ by degree, which block models normalise or hardly see. So groups of nodes may be given
besides: of these we take the sum of squares between groups, Σ_g n_g D̄²_gl. Of the two the larger counts, in spreads of
its own random matchings; that of groups counts 0.85, so that they cost little where blocks say it all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import norm
from blockselect.bmgufs.losses import Gradient, pair_sizes, profile_terms
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.graphs.statistics import in_units
from blockselect.inspection.given_totals import GivenTotals, given_totals

_OF_GROUPS = 0.85  # measured: 0.75 finds .06 less on core and periphery and in small blocks, up to .02 more elsewhere
_ROUNDING = 1e-10  # of a feature's largest pull: what varies less does not vary


@dataclass(frozen=True, slots=True, eq=False)
class MatchPulls:
    """How strongly the blocks pull each feature's score up, as it is and rematched, about the mean of all these."""

    real: FloatArray  # (m,)
    null: FloatArray  # (B, m) one row a round; a round permutes all features alike


def match_pulls(
    features: Features,
    models: Sequence[BlockModel],
    *,
    n_rounds: int,
    rng: np.random.Generator,
    reference: NDArray[np.bool_] | None = None,
    groups: IntArray | None = None,
    profile_ratio: float = 0.6,
    smoothing: float = 1e-6,
    gradient: Gradient = "exact",
) -> MatchPulls:
    """Pull of each feature towards the graph, beside that of `n_rounds` random rematchings; mean over models.

    The block models must be found, and chosen, from the graph alone: blocks made with the features match these better
    than their rematched copies even if there is no relation. Neither the scale of a feature nor that of the densities
    matters.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        Non-negative. (paper: Y)
    models : sequence of BlockModel
        All candidates that read no features.
    n_rounds : int
        Rematchings; 20 are enough, 50 find a little more.
    rng : numpy.random.Generator
    reference : boolean array of shape (m,), optional
        Features whose total in a node says how much of everything it has; default: all.
    groups : array of shape (n,), optional
        Labels of groups of nodes by their degrees, or by anything else that the graph alone decides.
    profile_ratio : float
        Weight of how blocks connect against how well they fit, 0 to 1. (paper: β̄)
    smoothing : float
        Added to densities, in units of their mean, before their rows are compared. (paper: δ)
    gradient : {"exact", "paper"}
        Of the profile loss.
    """
    features = in_units(features)
    m = features.shape[1]
    given = given_totals(features, np.ones(m, dtype=bool) if reference is None else reference)
    orders = [np.arange(features.shape[0]), *(given.permutation(rng) for _ in range(n_rounds))]
    moments = _moments(features)
    total = np.zeros((n_rounds + 1, m))
    for model in models:
        reconstruction, profile = _directions(model, moments, smoothing, gradient)
        means = (given.block_means(rematched(model, order).labels, model.n_blocks) for order in orders)
        pulls = np.stack([[_along(reconstruction, D), _along(profile, D)] for D in means], axis=1)  # (2, B + 1, m)
        total += (1 - profile_ratio) * _spread_to_one(pulls[0]) + profile_ratio * _spread_to_one(pulls[1])
    total /= len(models)
    if groups is not None:
        between = np.stack([_between(given, groups[order]) for order in orders])
        total = np.maximum(_in_spreads(total), _OF_GROUPS * _in_spreads(between))
    return MatchPulls(total[0], total[1:])


def rematched(model: BlockModel, order: IntArray) -> BlockModel:
    """The same graph and blocks with features permuted: node `i` of the features is node `order[i]` of the graph.

    Relations among the features are kept, and so is their Gram matrix.
    """
    return replace(model, labels=model.labels[order])


def _moments(features: Features) -> tuple[float, float]:
    """Squared mean and variance of a feature's values over nodes, averaged over the features."""
    squares = features.power(2) if sparse.issparse(features) else features**2
    n = features.shape[0]
    mean = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel() / n
    variance = np.maximum(np.asarray(squares.sum(axis=0, dtype=np.float64)).ravel() - n * mean**2, 0) / max(n - 1, 1)
    return float(np.mean(mean**2)), float(np.mean(variance))


def _directions(
    model: BlockModel, moments: tuple[float, float], smoothing: float, gradient: Gradient
) -> tuple[FloatArray, FloatArray]:
    """The K of each loss where the induced density is what random matching makes it on average: (k, k) each."""
    squared_mean, variance = moments
    n, sizes = len(model.labels), model.block_sizes
    M_hat: FloatArray = (
        squared_mean - variance / n + np.diag(variance / sizes)
    )  # means of blocks, drawn without replacement
    M_hat = _of_mean_one(np.maximum(M_hat, 0))[None, None]
    nothing = np.zeros((n, 0))
    statistics = BlockStatistics.of(nothing, [replace(model, density=_of_mean_one(model.density))])
    _, B = profile_terms(statistics, M_hat, smoothing=smoothing, gradient=gradient)
    return (M_hat * pair_sizes(statistics))[0, 0], -B[0, 0]


def _of_mean_one(density: FloatArray) -> FloatArray:
    mean = density.mean()
    return density / mean if mean > 0 else density


def _along(direction: FloatArray, block_means: FloatArray) -> FloatArray:
    """D̄ₗᵀ K D̄ₗ for every feature l: (m,)."""
    along: FloatArray = np.sum((direction @ block_means) * block_means, axis=0)
    return along


def _between(given: GivenTotals, groups: IntArray) -> FloatArray:
    """Sum of squares of each feature between groups: (m,)."""
    sizes = np.bincount(groups)
    return np.asarray(sizes @ given.block_means(groups, len(sizes)) ** 2)


def _in_spreads(pulls: FloatArray) -> FloatArray:
    """Pulls (B + 1, m) about each feature's mean, in its standard deviations; real and rematched ones enter alike."""
    centred = pulls - pulls.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > _ROUNDING * np.abs(pulls).max(axis=0)
    in_spreads: FloatArray = np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
    return in_spreads


def _spread_to_one(pulls: FloatArray) -> FloatArray:
    """Pulls (B + 1, m) about each feature's mean, scaled so that models and losses weigh alike; nothing stays nothing.

    Real and rematched pulls enter alike, so that they stay draws of one kind.
    """
    centred = pulls - pulls.mean(axis=0)
    rounding = _ROUNDING * np.abs(pulls).max(axis=0)
    centred[:, np.abs(centred).max(axis=0) <= rounding] = 0
    length = norm(centred.ravel())
    scaled: FloatArray = centred / np.where(length > 0, length, 1)
    return scaled
