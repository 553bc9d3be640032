"""The null model of discoveries: a random matching of features and nodes, given the total of each node.

The final scores cannot be tested: they have unit length, so features compete, and if some features match the graph, all
other features score lower than they would on a graph that no feature matches. We test a *pull* instead: how both losses
would change the score of a feature if features and graph were matched at random, D̄ₗᵀ K D̄ₗ. K depends on the graph, its
blocks, and sums over all nodes, so it is the same for every permutation of the nodes. D̄ contains block means of the
residuals of a feature given the totals of the nodes, and only nodes with similar totals are permuted. Under the null
hypothesis, the real pull is therefore exchangeable with the pulls of random matchings, whatever the other features are,
and no optimisation is needed to compare them.

A core and its periphery differ in degree, which block models normalise or hardly use. Groups of nodes can therefore be
tested in addition to the blocks; their statistic is the sum of squares between groups, Σ_g n_g D̄²_gl. Both statistics
are expressed in standard deviations over random matchings, and the larger one is used. The statistic of the groups is
multiplied by 0.85, so that it costs little power if the blocks are sufficient.

If some nodes have more of everything, and these nodes stand out in the graph (hubs with long texts, a block of active
members), every feature is associated with the graph. Such features are not discoveries. The null model therefore takes
the totals as given: each feature is a smooth function of the total plus a residual, and only nodes with similar totals
exchange their residuals. DeTomaso and Yosef (Cell Systems, 2021) introduced this idea for tests of features against a
graph.

The totals are sums over reference features, which are distributed over groups of nodes like most features. If many
features mark one block, the total of all features would suggest that its nodes have more of everything, and nothing
would be left to discover. So we look for the largest set of features that agree. The concentration steps of least
trimmed squares (Rousseeuw and Van Driessen, 2006) find the half of the features whose shares of each group are most
similar; then all features are added that differ from this half by no more than chance. This requires that more than
half of the features are unmarked or marked in the same way: the features cannot show which of two sets of features
marks a block and which is merely rare in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import chi2, false_discovery_control

from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import norm
from blockselect.bmgufs.losses import pair_sizes, profile_terms
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.rows.statistics import in_units
from blockselect.rows.sums import block_sums
from blockselect.utils.arrays import Features, FloatArray, IntArray
from blockselect.utils.progress import StepProgress, no_step_progress

_OF_GROUPS = 0.85  # 0.75 lowers the power by .06 for core–periphery and small blocks, and raises it by .02 elsewhere
_ROUNDING = 1e-10  # variation below this share of the largest pull of a feature is rounding error
_PROFILE_RATIO = 0.6  # weight of the profile loss relative to the reconstruction loss (paper: β̄)
_SMOOTHING = 1e-6  # added to densities, in units of their mean, before their rows are compared (paper: δ)
MIN_REFERENCE = 4  # smallest number of reference features; a total of fewer may be dominated by a single feature
_IN_STRATUM = 30  # smallest number of nodes in a stratum, if there are at least two strata
_SMALLEST_SPREAD = 0.1  # lower bound of the spread of a node, relative to the root mean square of all nodes
_DEPENDENT = 1e-10  # relative singular value below which columns count as linearly dependent
_UNEXPLAINED = 1e-12  # share of a feature's squares below which the residual is rounding error
_DIFFERS = 0.1  # q-value up to which the shares of a feature differ from those of most features
_MAX_STEPS = 20  # concentration steps; five are usually enough


def match_pulls(
    features: Features,
    models: Sequence[BlockModel],
    *,
    n_rounds: int,
    rng: np.random.Generator,
    reference: NDArray[np.bool_],
    groups: IntArray | None = None,
    progress: StepProgress = no_step_progress,
) -> FloatArray:
    """Compute the pull of each feature towards the graph for the real and for random matchings, averaged over models.

    The block models must be found and chosen from the graph only: blocks that were found with the features fit them
    better than their permuted copies, even if the features are unrelated to the graph. The result does not depend on
    the scale of a feature or of the densities.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        Non-negative. (paper: Y)
    models : sequence of BlockModel
        Candidates that were found without the features.
    n_rounds : int
        Number of random matchings; 20 are enough, but 50 have slightly more power.
    rng : numpy.random.Generator
    reference : boolean array of shape (m,)
        The features whose sum is the total of a node.
    groups : array of shape (n,), optional
        Labels of groups of nodes that only depend on the graph, such as groups by degree.
    progress : callable
        Called as ``progress(done, total)`` after each model.

    Returns
    -------
    array of shape (B + 1, m)
        Centred pulls: of the real matching in the first row, and of one random matching in each other row, which
        permutes all features in the same way.
    """
    features = in_units(features)
    m = features.shape[1]
    given = given_totals(features, reference)
    orders = [np.arange(features.shape[0]), *(given.permutation(rng) for _ in range(n_rounds))]
    moments = _mean_moments(features)
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
    return total


def _mean_moments(features: Features) -> tuple[float, float]:
    """Squared mean and variance of the values of a feature, each averaged over the features."""
    squares = features.power(2) if sparse.issparse(features) else features**2
    n = features.shape[0]
    mean = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel() / n
    variance = np.maximum(np.asarray(squares.sum(axis=0, dtype=np.float64)).ravel() - n * mean**2, 0) / max(n - 1, 1)
    return float(np.mean(mean**2)), float(np.mean(variance))


def _directions(model: BlockModel, moments: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """The matrix K of each loss, at the induced density that is expected under random matching: (k, k) each."""
    squared_mean, variance = moments
    n, sizes = len(model.labels), model.block_sizes
    # Expected products of block means if the nodes of each block are drawn without replacement.
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
    """Sum of squares between the groups, for each feature: (m,)."""
    sizes = np.bincount(groups)
    return np.asarray(sizes @ given.block_means(groups, len(sizes)) ** 2)


def _in_spreads(pulls: FloatArray) -> FloatArray:
    """Standardise the pulls (B + 1, m) of each feature; the real matching is treated like the random ones."""
    centred = pulls - pulls.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > _ROUNDING * np.abs(pulls).max(axis=0)
    in_spreads: FloatArray = np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
    return in_spreads


def _spread_to_one(pulls: FloatArray) -> FloatArray:
    """Centre the pulls (B + 1, m) of each feature and scale them, so that models and losses have equal weight.

    The real matching is treated like the random ones, so that they remain exchangeable.
    """
    centred = pulls - pulls.mean(axis=0)
    rounding = _ROUNDING * np.abs(pulls).max(axis=0)
    centred[:, np.abs(centred).max(axis=0) <= rounding] = 0
    length = norm(centred.ravel())
    scaled: FloatArray = centred / np.where(length > 0, length, 1)
    return scaled


@dataclass(frozen=True, slots=True, eq=False)
class GivenTotals:
    """Residuals of the features given the totals of the nodes, X − E R, with each row divided by its spread."""

    scaled: Features  # (n, m) X, the features with each row divided by its spread
    explaining: FloatArray  # (n, p) E, orthonormal functions of the total
    rates: FloatArray  # (p, m) R, regression coefficients
    varies: NDArray[np.bool_]  # (m,) whether the totals leave a residual
    strata: list[IntArray]  # the nodes in groups with similar totals

    def block_means(self, labels: IntArray, n_blocks: int) -> FloatArray:
        """Mean residual of each feature in each block (k, m); zero if the totals explain the feature completely."""
        n_nodes = len(labels)
        sums = [
            block_sums(part, slice(0, n_nodes), labels[None], n_blocks, np.float64)[0]
            for part in (self.scaled, self.explaining)
        ]
        means = (sums[0] - sums[1] @ self.rates) / np.bincount(labels, minlength=n_blocks)[:, None]
        return np.where(self.varies, means, 0.0)

    def permutation(self, rng: np.random.Generator) -> IntArray:
        """A random permutation of the nodes within each stratum: (n,)."""
        order: IntArray = np.empty(len(self.explaining), dtype=np.intp)
        for nodes in self.strata:
            order[nodes] = nodes[rng.permutation(len(nodes))]
        return order


def given_totals(features: Features, reference: NDArray[np.bool_]) -> GivenTotals:
    """Regress each feature on 1, √t and t, where t is the total of the reference features of a node.

    The regression is weighted: the spread of each node comes from its residuals in an unweighted regression. With fewer
    than four reference features, no totals are used, and each feature is only centred.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        In comparable units, see :func:`~blockselect.rows.statistics.in_units`.
    reference : boolean array of shape (m,)
    """
    n_nodes = features.shape[0]
    if np.count_nonzero(reference) < MIN_REFERENCE:
        totals: FloatArray = np.zeros(n_nodes)
    else:
        totals = np.asarray(features[:, reference].sum(axis=1), dtype=np.float64).ravel()
    explaining = np.column_stack([np.ones(n_nodes), np.sqrt(totals), totals])
    basis = _orthonormal(explaining)
    spread = _spread_of_nodes(features, basis, basis.T @ features)
    basis = _orthonormal(explaining / spread[:, None])
    if sparse.issparse(features):
        scaled = sparse.csr_array(sparse.diags_array(1 / spread) @ features)
    else:
        scaled = features / spread[:, None]
    rates = np.asarray(basis.T @ scaled)
    squares = np.asarray((scaled * scaled).sum(axis=0)).ravel()
    left = squares - (rates**2).sum(axis=0)
    strata = np.array_split(np.argsort(totals, kind="stable"), max(1, n_nodes // _IN_STRATUM))
    return GivenTotals(scaled, basis, rates, left > _UNEXPLAINED * n_nodes * squares, strata)


def _orthonormal(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of the column space; columns are linearly dependent if all totals are equal, for example."""
    lengths = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(np.float64).tiny)
    vectors, values, _ = np.linalg.svd(columns / lengths, full_matrices=False)
    return np.asarray(vectors[:, values > _DEPENDENT * values[0]])


def _spread_of_nodes(features: Features, basis: FloatArray, rates: FloatArray) -> FloatArray:
    """Root mean square residual of each node, without storing the residuals: (n,)."""
    squares = np.asarray((features * features).sum(axis=1)).ravel()
    rounding = np.finfo(np.float64).eps ** 2 * float(squares.mean())
    squares -= 2 * np.sum((features @ rates.T) * basis, axis=1) - np.sum((basis @ (rates @ rates.T)) * basis, axis=1)
    squares = np.maximum(squares, 0.0)
    least = max(_SMALLEST_SPREAD**2 * float(squares.mean()), rounding, np.finfo(np.float64).tiny)
    return np.asarray(np.sqrt(np.maximum(squares, least)))


def reference_features(features: Features, partitions: Sequence[IntArray]) -> NDArray[np.bool_]:
    """Find the features that are distributed over the groups like most features: (m,).

    Features that no node has are included; they contribute nothing to the totals.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        In comparable units, see :func:`~blockselect.rows.statistics.in_units`.
    partitions : sequence of arrays of shape (n,)
        The labels 0, 1, … of one or more ways to group the nodes; the differences are averaged over these.
    """
    totals = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
    squares = np.asarray((features * features).sum(axis=0), dtype=np.float64).ravel()
    is_reference, held = np.ones(len(totals), dtype=bool), totals > 0
    sums = [
        block_sums(features, slice(0, features.shape[0]), labels[None], labels.max() + 1, np.float64)[0][:, held]
        for labels in partitions
    ]
    sums = [one for one in sums if len(one) > 1]
    if not sums or not held.any():
        return is_reference
    totals, squares = totals[held], squares[held]
    shares = [_median_shares(one, totals) for one in sums]
    for _ in range(_MAX_STEPS):
        differences = _mean_differences(sums, shares, totals, squares)
        closest = np.argsort(differences, kind="stable")[: len(totals) // 2 + 1]
        before, shares = shares, [one[:, closest].sum(axis=1) / totals[closest].sum() for one in sums]
        if all(np.array_equal(one, other) for one, other in zip(before, shares, strict=True)):
            break
    freedom = float(np.mean([len(one) - 1 for one in sums]))
    is_reference[held] = false_discovery_control(chi2.sf(differences * freedom, freedom)) > _DIFFERS
    return is_reference


def _median_shares(sums: FloatArray, totals: FloatArray) -> FloatArray:
    """The median share of each group, over the features, scaled so that the shares add up to one: (k,)."""
    shares: FloatArray = np.median(sums / totals, axis=1)
    return shares / shares.sum() if shares.sum() > 0 else np.full(len(sums), 1 / len(sums))


def _mean_differences(
    sums: Sequence[FloatArray], shares: Sequence[FloatArray], totals: FloatArray, squares: FloatArray
) -> FloatArray:
    """Pearson's χ² per degree of freedom, for each feature and the expected shares of its total: (m,).

    The variance is computed from the squared values, because features need not be counts.
    """
    found: FloatArray = np.zeros(len(totals))
    for one, share in zip(sums, shares, strict=True):
        variance = np.outer(share, squares)
        excess = (one - np.outer(share, totals)) ** 2
        found += np.divide(excess, variance, out=np.zeros_like(excess), where=variance > 0).sum(axis=0) / (len(one) - 1)
    return found / len(sums)
