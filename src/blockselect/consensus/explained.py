"""How much of the block structure features explain, alone and together, and the ranking of the features by it.

The target T encodes in which block a node is, and in which blocks its neighbours are. Let H be the one-hot block
membership of a block model with column means removed, and P = D⁻¹A the average over neighbours (0 for isolated nodes).
T has the columns of H + σ P H of the best block models. σ is −1 for a block whose nodes link to other blocks rather
than to their own, so that a node and its neighbours do not cancel, and 1 otherwise. U are the features with rows of
unit length and centred columns. A set S of features explains the share

    R²(S) = 1 − min_W (‖T − U_S W‖² + λ‖W‖²) / ‖T‖²

of the block structure: a ridge regression, whose λ is the median squared length of the columns of U.

Greedy forward selection (orthogonal least squares [1]_) adds one feature after the other. The best next feature is not
simply the one that raises R² most. Such a feature may be very common and slightly more so in some blocks, which a
regression can use, but a clustering cannot. So the rise of R² is multiplied by the effect size of the feature,
√(2E / c): E is the log-likelihood gain of the feature by the blocks, c the number of nodes that have it. This is
Cohen's w, by which a test statistic becomes independent of the number of observations.

Features that may follow the graph by chance come after all others: those with √(2 (E + N)) ≤ 3, where N is the
log-likelihood gain by links. This root is comparable to a z-value.

References
----------
.. [1] S. Chen, S. A. Billings, W. Luo. Orthogonal least squares methods and their application to non-linear system
   identification. International Journal of Control, 1989.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from sklearn.preprocessing import normalize

from blockselect.arrays import BoolArray, Features, FloatArray, IntArray, Sparse
from blockselect.base import best_first
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.likelihood import link_gains, scaled_for_links
from blockselect.consensus.refine import JointLikelihood
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.statistics import constant_columns

MAX_STEPS = 500  # of greedy selection; later features are ranked by what each would add next
MAX_COUNTED = 1000  # features whose shares are computed one after the other; later ones are compared with these
_AT_ONCE = 4096  # columns per slice of a product
_CLEAR = 3.0  # √(2 × log-likelihood gain) above which a feature follows the graph clearly
_SMALLEST_GAIN = 0.25  # nats, so that a feature without any gain still has an effect size above zero
_TIE = 1e-9  # relative difference below which two features are equally good
_LARGEST_PRODUCT = 10**9  # multiplications per iteration of the regression on all features
_MAX_ITER, _CONVERGED = 100, 1e-5  # largest number of these iterations, and the relative rise of R² that ends them


@dataclass(frozen=True, slots=True, eq=False)
class BlockRegression:
    """The regression of the block structure on the features. It needs only sums over the nodes."""

    features: Features  # (n, m) U before its columns are centred; CSR or dense
    means: FloatArray  # (m,) of its columns
    squares: FloatArray  # (m,) squared lengths of the centred columns
    products: FloatArray  # (m, q) UᵀT
    total: float  # ‖T‖²
    ridge: float  # λ

    @classmethod
    def of(cls, features: Features, adjacency: Sparse, labels: Sequence[IntArray]) -> BlockRegression:
        """From the features (n, m), the graph, and the labels (n,) of each block model."""
        U = normalize(features)
        n = U.shape[0]
        means = np.asarray(U.mean(axis=0)).ravel()
        lengths = np.asarray(U.power(2).sum(axis=0) if sparse.issparse(U) else np.square(U).sum(axis=0)).ravel()
        squares = lengths - n * means**2
        squares = np.where(squares > _TIE * lengths, squares, 0.0)  # constant columns, up to rounding
        degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
        share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
        walk = sparse.diags_array(share) @ adjacency
        linked = (degrees > 0).astype(np.float64)  # P 1
        of_linked = U.T @ linked
        products, total = [], 0.0
        for of_node in labels:
            member = sparse.csr_array((np.ones(n), (np.arange(n), of_node)))  # F
            around = walk @ member  # P F
            shares = np.bincount(of_node) / n
            within = around.multiply(member).sum(axis=0) - shares * (member.T @ linked + around.sum(axis=0))
            sign = np.where(within + shares**2 * linked.sum() < -_TIE * n, -1.0, 1.0)  # of the diagonal of Hᵀ P H
            target = sparse.csr_array(member + around @ sparse.diags_array(sign))
            # T is `target` − (1 + σ P 1) mean(F), minus its own column means.
            sums = target.sum(axis=0) - shares * (n + sign * linked.sum())
            lengths = target.power(2).sum(axis=0)
            crossed = target.sum(axis=0) + sign * (target.T @ linked)
            squared = lengths - 2 * shares * crossed + shares**2 * (n + (2 * sign + 1) * linked.sum()) - sums**2 / n
            if squared.sum() <= _TIE * lengths.sum():  # a single block leaves nothing to explain
                products.append(np.zeros((U.shape[1], len(shares))))
                continue
            total += float(squared.sum())
            by_block = U.T @ target if sparse.issparse(U) else (target.T @ U).T
            dense = by_block.toarray() if sparse.issparse(by_block) else by_block
            shift = np.outer(n * means, shares) + np.outer(of_linked, sign * shares)
            products.append(dense - shift - np.outer(means, sums))
        positive = squares[squares > 0]
        ridge = float(np.median(positive)) if len(positive) else 1.0
        return cls(U, means, squares, np.hstack(products), total or 1.0, ridge)

    @property
    def alone(self) -> FloatArray:
        """R² of each feature by itself: (m,)"""
        return np.where(self.squares > 0, np.square(self.products).sum(axis=1) / self.penalised, 0.0) / self.total

    def of_all(self) -> float | None:
        """R² of all features together, by conjugate gradients; None if that would take minutes."""
        U, B = self.features, self.products
        if (U.nnz if sparse.issparse(U) else U.size) * B.shape[1] > _LARGEST_PRODUCT:
            return None
        solution, residual = np.zeros_like(B), B.copy()  # of (UᵀU + λI) W = UᵀT
        direction, squares, explained = residual, np.sum(B * B, axis=0), 0.0
        for _ in range(_MAX_ITER):
            image = U.T @ (U @ direction) + self.ridge * direction
            image -= U.shape[0] * np.outer(self.means, self.means @ direction)  # columns are centred
            step = squares / np.maximum(np.sum(direction * image, axis=0), np.finfo(np.float64).tiny)
            solution += step * direction
            residual = residual - step * image
            before, explained = explained, float(np.sum(solution * B))
            if explained - before <= _CONVERGED * explained:
                break
            new = np.sum(residual * residual, axis=0)
            direction = residual + new / np.maximum(squares, np.finfo(np.float64).tiny) * direction
            squares = new
        return explained / self.total

    @property
    def penalised(self) -> FloatArray:
        """Diagonal of UᵀU + λI: (m,)"""
        return self.squares + self.ridge

    def added(self, chosen: IntArray, others: IntArray) -> tuple[FloatArray, FloatArray]:
        """Share that each chosen column adds to those before it, and that each other column would add to all of them.

        With L Lᵀ = U_SᵀU_S + λI of the chosen columns S, R²(S) is the sum of squares of L⁻¹U_SᵀT over ‖T‖², row by row.
        """
        factor = cholesky(self._gram(chosen, chosen) + self.ridge * np.eye(len(chosen)), lower=True)
        along = solve_triangular(factor, self.products[chosen], lower=True)
        would_add = np.empty(len(others))
        for start in range(0, len(others), _AT_ONCE):
            part = others[start : start + _AT_ONCE]
            spanned = solve_triangular(factor, self._gram(chosen, part), lower=True)
            left = self.penalised[part] - np.square(spanned).sum(axis=0)
            rest = self.products[part] - spanned.T @ along
            would_add[start : start + _AT_ONCE] = np.square(rest).sum(axis=1) / left
        return np.square(along).sum(axis=1) / self.total, would_add / self.total

    def _gram(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Some rows and columns of UᵀU."""
        products = self.features[:, rows].T @ self.features[:, columns]
        dense = products.toarray() if sparse.issparse(products) else products
        return np.asarray(dense - self.features.shape[0] * np.outer(self.means[rows], self.means[columns]))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGains:
    """Log-likelihood gains of each feature in nats, minus one nat per extra parameter (AIC): (m,)"""

    by_blocks: FloatArray  # E, the mean over block models
    by_links: FloatArray  # N
    is_constant: BoolArray  # features that have the same value for all nodes

    @classmethod
    def of(
        cls,
        likelihood: JointLikelihood,
        graph: AttributedGraph,
        models: Sequence[BlockModel],
        scaled: Features | None = None,
    ) -> FeatureGains:
        """How much better these block models, and the links, explain each feature than chance does.

        `scaled` is the result of `scaled_for_links`, for callers that need the gains on many graphs.
        """
        by_blocks = np.mean(
            [likelihood.gains_by_feature(model.labels) - likelihood.penalty(model.n_blocks) for model in models], axis=0
        )
        scaled = scaled_for_links(graph.features) if scaled is None else scaled
        by_links = link_gains(scaled, graph.adjacency, likelihood.link_unit)
        return cls(by_blocks, by_links - likelihood.penalty(2), constant_columns(graph.features))

    @property
    def total(self) -> FloatArray:
        """Gain by blocks and by links: (m,)"""
        return self.by_blocks + self.by_links

    @property
    def weights(self) -> FloatArray:
        """√(2 × total gain) of each feature; 0 if the gain is negative: (m,)"""
        weights: FloatArray = np.sqrt(2 * np.maximum(self.total, 0.0))
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """All features in the order of their selection, and what each explains."""

    order: IntArray  # (m,) columns, the best first
    scores: FloatArray  # (m,) share added times effect size, at most the score before it
    added: FloatArray  # (m,) share added to the features before it, or for unwanted features to the wanted ones
    alone: FloatArray  # (m,) share explained by the feature alone
    is_useful: BoolArray  # (m,) features with different values
    regression: BlockRegression

    def explained(self, columns: IntArray) -> FloatArray:
        """R² of the first 1, 2, … of these columns; columns after the first `MAX_COUNTED` add nothing."""
        counted, others = np.split(columns, [MAX_COUNTED])
        shares, _ = self.regression.added(counted, others[:0])
        return np.cumsum(np.concatenate([shares, np.zeros(len(others))]))


def rank_by_models(
    graph: AttributedGraph,
    likelihood: JointLikelihood,
    models: Sequence[BlockModel],
    n_wanted: int,
    scaled: Features | None = None,
) -> Ranking:
    """Rank the features by how much of these block models they explain; `scaled` as in `FeatureGains.of`."""
    gains = FeatureGains.of(likelihood, graph, models, scaled)
    regression = BlockRegression.of(graph.features, graph.adjacency, [model.labels for model in models])
    return rank_features(regression, gains, n_wanted)


def rank_features(regression: BlockRegression, gains: FeatureGains, n_wanted: int) -> Ranking:
    """Rank all features: the first `n_wanted` by greedy selection, if as many clearly follow the graph."""
    is_useful = (regression.squares > 0) & ~gains.is_constant
    is_clear = is_useful & (gains.weights > _CLEAR)
    effect = effect_sizes(gains, regression.features)
    clear = np.flatnonzero(is_clear)
    greedy = select_together(regression, clear, n_wanted, effect[clear])
    next_to_greedy = np.zeros(len(effect))
    next_to_greedy[clear] = greedy.added * effect[clear]
    groups = (np.setdiff1d(clear, greedy.chosen), np.flatnonzero(is_useful & ~is_clear), np.flatnonzero(~is_useful))
    values = (next_to_greedy if greedy.added.any() else gains.total, gains.total, gains.total)
    ranked = [group[best_first(value[group])] for group, value in zip(groups, values, strict=True)]
    order = np.concatenate([greedy.chosen, *ranked])
    counted, others = np.split(order[: np.count_nonzero(is_useful)], [min(n_wanted, MAX_COUNTED)])
    added = np.zeros(len(effect))
    added[counted], added[others] = regression.added(counted, others)
    scores = np.zeros(len(effect))
    criterion = np.where(is_useful, np.maximum(added * effect, np.finfo(np.float64).tiny), 0.0)
    scores[order] = np.minimum.accumulate(criterion[order])
    return Ranking(order, scores, added, np.where(is_useful, regression.alone, 0.0), is_useful, regression)


def effect_sizes(gains: FeatureGains, features: Features) -> FloatArray:
    """Cohen's w of each feature by the blocks, √(2E / c): (m,)"""
    if sparse.issparse(features):
        n_holders = np.bincount(features.indices, minlength=features.shape[1])
    else:
        n_holders = np.count_nonzero(features, axis=0)
    sizes: FloatArray = np.sqrt(2 * np.maximum(gains.by_blocks, _SMALLEST_GAIN) / np.maximum(n_holders, 1))
    return sizes


@dataclass(frozen=True, slots=True, eq=False)
class Greedy:
    """The result of greedy selection among some candidate columns."""

    chosen: IntArray  # (s,) columns in the order of their selection
    added: FloatArray  # (candidates,) share each added when it was chosen, or would add next


def select_together(
    regression: BlockRegression, candidates: IntArray, n_steps: int, effect: FloatArray | None = None
) -> Greedy:
    """Orthogonal least squares among the candidate columns, at most `MAX_STEPS` of them.

    Each step takes the column with the largest rise of R² times `effect` (1 if not given). Of columns that are equally
    good up to rounding, the lowest index is taken. With the chosen columns orthogonalised (rows of `basis` are their
    products with all candidates), a step costs one column of the Gram matrix and two matrix-vector products.
    """
    n_steps = min(n_steps, MAX_STEPS, len(candidates)) if regression.products.any() else 0
    columns = _Columns(regression, candidates)
    products = regression.products[candidates]  # (c, q)
    left = regression.penalised[candidates]  # squared length of what is not yet spanned
    unexplained = np.square(products).sum(axis=1)  # ‖residual productᵀ‖² of each candidate
    weight = np.ones(len(candidates)) if effect is None else effect
    basis, coefficients = np.zeros((n_steps, len(candidates))), np.zeros((n_steps, products.shape[1]))
    is_free = np.ones(len(candidates), dtype=bool)
    added, chosen = np.zeros(len(candidates)), []
    for step in range(n_steps):
        gains = np.maximum(unexplained, 0.0) / left
        place = _first_of_largest(np.where(is_free, gains * weight, -1.0))
        added[place] = gains[place]
        chosen.append(place)
        is_free[place] = False
        length = np.sqrt(left[place])
        before, weights_before = basis[:step], coefficients[:step]
        direction = (columns.products_with(place) - before.T @ before[:, place]) / length
        target = (products[place] - weights_before.T @ before[:, place]) / length
        along = products @ target - before.T @ (weights_before @ target)  # residual productᵀ target
        unexplained = unexplained - 2 * direction * along + direction**2 * (target @ target)
        left = left - np.where(is_free, direction**2, 0.0)
        basis[step], coefficients[step] = direction, target
    added[is_free] = np.maximum(unexplained, 0.0)[is_free] / left[is_free]
    return Greedy(candidates[np.array(chosen, dtype=np.intp)], added / regression.total)


class _Columns:
    """Columns of UᵀU + λI among the candidates, one at a time."""

    def __init__(self, regression: BlockRegression, candidates: IntArray) -> None:
        self._features = regression.features[:, candidates]
        self._means, self._ridge = regression.means[candidates], regression.ridge
        self._by_column = sparse.csc_array(self._features) if sparse.issparse(self._features) else None

    def products_with(self, place: int) -> FloatArray:
        if self._by_column is None:
            products = self._features.T @ self._features[:, place]
        else:
            part = slice(*self._by_column.indptr[place : place + 2])
            products = self._features[self._by_column.indices[part]].T @ self._by_column.data[part]
        products = products - self._features.shape[0] * self._means[place] * self._means
        products[place] += self._ridge
        return np.asarray(products)


def _first_of_largest(values: FloatArray) -> int:
    return int(np.argmax(values >= (1 - _TIE) * values.max()))
