"""The ranking of the features, by greedy selection of those that together explain the block structure.

The share of the block structure that a set of features explains is the R² of :mod:`blockselect.consensus.target`.
Forward selection (orthogonal least squares [1]_) adds one feature after the other. The next feature is not simply the
one that raises R² most: that feature may be common everywhere and only slightly more common in some blocks, which a
regression can use but a clustering cannot. So the increase of R² is multiplied by the effect size of the feature,
√(2E / h), where E is the penalised log-likelihood gain of the feature from the blocks, and h the number of nodes that
have it. This is Cohen's w, a test statistic made independent of the number of observations.

Features whose association with the graph may be due to chance come after all others: those with √(2 (E + N − 1)) ≤ 3,
where N is the log-likelihood gain from the links, and 1 its AIC penalty. This root is comparable to a z-value.

References
----------
.. [1] S. Chen, S. A. Billings, W. Luo. Orthogonal least squares methods and their application to non-linear system
   identification. International Journal of Control, 1989.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.blockmodels.levels import BlockTree
from blockselect.consensus.likelihood import JointLikelihood, penalty
from blockselect.consensus.link_gains import gains_by_links
from blockselect.consensus.target import BlockRegression
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import constant_columns, in_units
from blockselect.rows.sums import in_memory, jobs_for, n_holders
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, best_first
from blockselect.utils.threads import in_threads

MAX_GREEDY_STEPS = 500  # the remaining features are ranked by what each would add next
ENOUGH = 0.8  # the default number of features explains this share of what all features explain
MAX_REGRESSED = 1000  # further selected features are left out of the regression
_COLUMNS_PER_PASS = 64  # of the Gram matrix, computed in one pass over all row chunks
_CLEAR = 3.0  # √(2 × log-likelihood gain) above which a feature is clearly associated with the graph
_SMALLEST_GAIN = 0.25  # nats, so that a feature without any gain still has an effect size above zero
_TIE = 1e-9  # relative difference below which two features are equally good
_FALLING = 1 - 1e-6  # largest ratio of the scores of two successive features
_ROUNDING = 1e-12  # smallest score of a clear feature, relative to the largest


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGains:
    """Log-likelihood gains of each feature in nats, minus one nat per extra parameter (AIC): (m,)"""

    by_blocks: FloatArray  # E, the mean over block models
    by_links: FloatArray  # N − 1
    is_constant: BoolArray  # whether the feature has the same value for all nodes

    @classmethod
    def of(
        cls,
        likelihood: JointLikelihood,
        graph: AttributedGraph,
        trees: Sequence[BlockTree],
        scaled: Features | None = None,
    ) -> FeatureGains:
        """Compute how much better than chance these block models, and the links, explain each feature.

        `scaled` is the result of `in_units`, for callers that compute the gains on many graphs.
        """
        by_blocks = np.mean([tree.gains - penalty(tree.model.n_blocks) for tree in trees], axis=0)
        scaled = in_units(graph.features) if scaled is None else scaled
        by_links = gains_by_links(scaled, graph.adjacency, likelihood.unit)
        return cls(by_blocks, by_links - penalty(2), constant_columns(graph.features))

    @property
    def total(self) -> FloatArray:
        """Gain from blocks and links together: (m,)"""
        return self.by_blocks + self.by_links

    @property
    def z_values(self) -> FloatArray:
        """√(2 × total gain), which is comparable to a z-value; 0 if the gain is negative: (m,)"""
        values: FloatArray = np.sqrt(2 * np.maximum(self.total, 0.0))
        return values


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """All features in the order of their selection, and the share that each explains."""

    order: IntArray  # (m,) columns, the best first
    scores: FloatArray  # (m,) decreasing along the order
    added: FloatArray  # (m,) share added to the features before it or, if not selected, to all selected ones
    alone: FloatArray  # (m,) share explained by the feature by itself
    is_useful: BoolArray  # (m,) whether its values differ
    is_clear: BoolArray  # (m,) whether it is clearly associated with the graph
    n_wanted: int  # features to select: the requested number, or as many as explain enough
    regression: BlockRegression
    share_of_all: float | None = None  # share explained by all features together, if it was computed


def rank_by_trees(
    graph: AttributedGraph,
    likelihood: JointLikelihood,
    trees: Sequence[BlockTree],
    n_wanted: int | None,
    *,
    scaled: Features | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the features by how much of these block models they explain, at all levels.

    If `n_wanted` is None, it is the smallest number that explains enough, see `enough_features`. For `scaled`, see
    `FeatureGains.of`.
    """
    labels, linkages = [tree.model.labels for tree in trees], [tree.linkage for tree in trees]
    parts: list[Callable[[], Any]] = [
        partial(FeatureGains.of, likelihood, graph, trees, scaled),
        partial(BlockRegression.of, graph.features, graph.adjacency, labels, linkages),
    ]
    gains, regression = in_threads(jobs_for(graph.features, n_jobs), parts)
    if n_wanted is not None:
        return rank_features(regression, gains, n_wanted)
    share_of_all = regression.share_of_all()
    return replace(
        rank_features(regression, gains, enough_features(regression, gains, share_of_all)), share_of_all=share_of_all
    )


def enough_features(regression: BlockRegression, gains: FeatureGains, share_of_all: float | None) -> int:
    """The fewest features, by rank, that explain 80 % of what all features explain together; at least 1, at most 500.

    `share_of_all` is the share of all features together. If it is unknown, because that regression is too expensive,
    the share of the first 500 is used instead.
    """
    ranking = rank_features(regression, gains, min(MAX_GREEDY_STEPS, len(gains.total)))
    useful = ranking.order[ranking.is_useful[ranking.order]][:MAX_GREEDY_STEPS]
    shares = regression.cumulative(useful) if len(useful) else np.zeros(1)
    return min(1 + int(np.searchsorted(shares, ENOUGH * (share_of_all or float(shares[-1])))), len(shares))


def rank_features(regression: BlockRegression, gains: FeatureGains, n_wanted: int) -> Ranking:
    """Rank all features; the first `n_wanted` are selected greedily among those clearly associated with the graph."""
    is_useful = (regression.squares > 0) & ~gains.is_constant
    is_clear = is_useful & (gains.z_values > _CLEAR)
    effect = effect_sizes(gains, regression.features)
    clear = np.flatnonzero(is_clear)
    chosen, share = select_together(regression, clear, n_wanted, effect[clear])
    would_add = np.zeros(len(effect))
    would_add[clear] = share * effect[clear]

    def best_among(columns: IntArray, values: FloatArray) -> IntArray:
        return columns[best_first(values[columns])]

    order = np.concatenate(
        [
            chosen,
            best_among(np.setdiff1d(clear, chosen), would_add if share.any() else gains.total),
            best_among(np.flatnonzero(is_useful & ~is_clear), gains.total),
            best_among(np.flatnonzero(~is_useful), gains.total),
        ]
    )
    regressed, others = np.split(order[: np.count_nonzero(is_useful)], [min(n_wanted, MAX_REGRESSED)])
    added = np.zeros(len(effect))
    added[regressed], added[others] = regression.added(regressed, others)
    scores = _falling_scores(added * effect, order, is_clear, is_useful, gains.total)
    alone = np.where(is_useful, regression.alone, 0.0)
    return Ranking(order, scores, added, alone, is_useful, is_clear, n_wanted, regression)


def _falling_scores(
    criterion: FloatArray, order: IntArray, is_clear: BoolArray, is_useful: BoolArray, total: FloatArray
) -> FloatArray:
    """Scores that decrease along the order: (m,).

    The score of a clear feature is its criterion, or slightly less than the score before it if that is lower. The
    scores of the other features follow their total gains and are at most half of the lowest score of a clear feature.
    Features with the same value for all nodes score 0. If there is nothing to explain, the scores only reflect the
    order.
    """
    clear, unclear = order[is_clear[order]], order[(is_useful & ~is_clear)[order]]
    scores = np.zeros(len(order))
    largest = least = float(np.max(criterion, initial=0.0)) or 1.0
    for column in clear:
        least = scores[column] = min(max(criterion[column], _ROUNDING * largest), _FALLING * least)
    if len(unclear):
        span = total[unclear].max() - total[unclear].min()
        shares = (total[unclear] - total[unclear].min()) / span if span > 0 else np.ones(len(unclear))
        steps = np.arange(len(unclear), 0, -1) / len(unclear)  # so that equal gains have different scores too
        scores[unclear] = least / 2 * (0.9 * shares + 0.1 * steps)
    return scores


def effect_sizes(gains: FeatureGains, features: Features) -> FloatArray:
    """Effect size of each feature with respect to the blocks, Cohen's w = √(2E / h): (m,)"""
    sizes: FloatArray = np.sqrt(2 * np.maximum(gains.by_blocks, _SMALLEST_GAIN) / np.maximum(n_holders(features), 1))
    return sizes


def select_together(
    regression: BlockRegression, candidates: IntArray, n_steps: int, effect: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Select candidate columns by orthogonal least squares, at most `MAX_GREEDY_STEPS` of them.

    Returns the chosen columns in order, and the share that each candidate added when it was chosen, or would add next.
    Each step chooses the column with the largest increase of R² times its `effect`, and the lowest index among columns
    that are equally good up to rounding. Because the chosen columns are orthogonalised (rows of `basis` are their
    products with all candidates), a step costs one column of the Gram matrix and two matrix-vector products.
    """
    n_steps = min(n_steps, MAX_GREEDY_STEPS, len(candidates)) if regression.products.any() else 0
    columns = (_Columns if in_memory(regression.features) else _ColumnsOfChunks)(regression, candidates)
    products = regression.products[candidates]  # (c, q)
    left = regression.penalised[candidates]  # squared length of the part that is not yet spanned
    unexplained = np.square(products).sum(axis=1)  # ‖residual productᵀ‖² of each candidate
    basis, coefficients = np.zeros((n_steps, len(candidates))), np.zeros((n_steps, products.shape[1]))
    is_free = np.ones(len(candidates), dtype=bool)
    added, chosen = np.zeros(len(candidates)), []
    for step in range(n_steps):
        gains = np.maximum(unexplained, 0.0) / left
        criterion = np.where(is_free, gains * effect, -1.0)
        place = int(np.argmax(criterion >= (1 - _TIE) * criterion.max()))  # the first of the largest
        added[place] = gains[place]
        chosen.append(place)
        is_free[place] = False
        length = np.sqrt(left[place])
        before, weights_before = basis[:step], coefficients[:step]
        direction = (columns.products_with(place, gains * effect * is_free) - before.T @ before[:, place]) / length
        target = (products[place] - weights_before.T @ before[:, place]) / length
        along = products @ target - before.T @ (weights_before @ target)  # residual productᵀ target
        unexplained = unexplained - 2 * direction * along + direction**2 * (target @ target)
        left = left - np.where(is_free, direction**2, 0.0)
        basis[step], coefficients[step] = direction, target
    added[is_free] = np.maximum(unexplained, 0.0)[is_free] / left[is_free]
    return candidates[np.array(chosen, dtype=np.intp)], added / regression.total


class _ColumnsOfChunks:
    """Columns of UᵀU + λI for the candidates. One pass over all chunks computes several that may be needed next."""

    def __init__(self, regression: BlockRegression, candidates: IntArray) -> None:
        self._regression, self._candidates = regression, candidates
        self._known: dict[int, FloatArray] = {}

    def products_with(self, place: int, criterion: FloatArray) -> FloatArray:
        """The column of a candidate; `criterion` is how good each candidate is, to guess which are needed next."""
        if place not in self._known:
            others = [int(at) for at in best_first(criterion) if at not in self._known and at != place]
            wanted = np.array([place, *others][:_COLUMNS_PER_PASS])
            columns = self._regression.gram(self._candidates, self._candidates[wanted])
            self._known.update(zip(wanted.tolist(), columns.T, strict=True))
        column = self._known.pop(place)
        column[place] += self._regression.ridge
        return column


class _Columns:
    """Columns of UᵀU + λI for the candidates, computed one at a time."""

    def __init__(self, regression: BlockRegression, candidates: IntArray) -> None:
        self._features = regression.features[:, candidates]
        self._means, self._ridge = regression.means[candidates], regression.ridge
        self._by_column = sparse.csc_array(self._features) if sparse.issparse(self._features) else None

    def products_with(self, place: int, criterion: FloatArray) -> FloatArray:
        """The column of a candidate; `criterion` is not used."""
        if self._by_column is None:
            products = self._features.T @ self._features[:, place]
        else:
            part = slice(*self._by_column.indptr[place : place + 2])
            products = self._features[self._by_column.indices[part]].T @ self._by_column.data[part]
        products = products - self._features.shape[0] * self._means[place] * self._means
        products[place] += self._ridge
        return np.asarray(products)
