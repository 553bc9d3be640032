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
√(2E / h): E is the penalised log-likelihood gain of the feature by the blocks, h the number of nodes that have it.
This is Cohen's w, which makes a test statistic independent of the number of observations.

Features that may follow the graph by chance come after all others: those with √(2 (E + N − 1)) ≤ 3, where N is the
log-likelihood gain by links, and 1 is its AIC penalty. This root is comparable to a z-value.

References
----------
.. [1] S. Chen, S. A. Billings, W. Luo. Orthogonal least squares methods and their application to non-linear system
   identification. International Journal of Control, 1989.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from sklearn.preprocessing import normalize

from blockselect.arrays import BoolArray, Features, FloatArray, IntArray, Sparse
from blockselect.base import best_first
from blockselect.blockmodels.model import BlockModel, sums_between_blocks
from blockselect.blockmodels.threads import in_threads
from blockselect.consensus.likelihood import link_gains, scaled_for_links
from blockselect.consensus.refine import JointLikelihood, penalty
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.chunks import RowChunks
from blockselect.graphs.features import as_dense, membership_matrix, without_zeros
from blockselect.graphs.over_rows import map_rows, n_holders, squared_lengths, sum_over_rows
from blockselect.graphs.statistics import constant_columns

MAX_STEPS = 500  # of greedy selection; later features are ranked by what each would add next
MAX_COUNTED = 1000  # features whose shares are computed one after the other; later ones are compared with these
_AT_ONCE = 4096  # columns per slice of a product
_CELLS = 2**25  # numbers per slice of a product whose features come in row chunks, so that they are read seldom
_BATCH = 64  # columns of the Gram matrix that are computed by one reading of all row chunks
_CLEAR = 3.0  # √(2 × log-likelihood gain) above which a feature follows the graph clearly
_SMALLEST_GAIN = 0.25  # nats, so that a feature without any gain still has an effect size above zero
_TIE = 1e-9  # relative difference below which two features are equally good
_LARGEST_PRODUCT = 10**9  # multiplications per iteration of the regression on all features
_MAX_ITER, _CONVERGED = 100, 1e-5  # largest number of these iterations, and the relative rise of R² that ends them


@dataclass(frozen=True, slots=True, eq=False)
class BlockRegression:
    """The regression of the block structure on the features. It needs only sums over the nodes."""

    features: Features  # (n, m) U before its columns are centred; CSR, dense or RowChunks
    means: FloatArray  # (m,) of its columns
    squares: FloatArray  # (m,) squared lengths of the centred columns
    products: FloatArray  # (m, q) UᵀT
    total: float  # ‖T‖²
    ridge: float  # λ

    @classmethod
    def of(cls, features: Features, adjacency: Sparse, labels: Sequence[IntArray]) -> BlockRegression:
        """From the features (n, m), the graph, and the labels (n,) of each block model."""
        U, n = map_rows(features, _unit_rows), features.shape[0]
        degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
        share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
        data = np.repeat(share, np.diff(adjacency.indptr))
        data *= adjacency.data
        walk = sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)  # P
        linked = (degrees > 0).astype(np.float64)  # P 1
        targets = [_Target.of(walk, linked, of_node) for of_node in labels]
        place = U.place if isinstance(U, RowChunks) else lambda shared: shared
        sums: _Sums = sum_over_rows(U, _sums_with_targets, place(walk), linked, place(targets))
        means = sums.plain / n
        squares = sums.squares - n * means**2
        squares = np.where(squares > _TIE * sums.squares, squares, 0.0)  # constant columns, up to rounding
        products, total = [], 0.0
        for target, by_block, of_target in zip(targets, sums.by_target, sums.of_targets, strict=True):
            column_sums, squared = target.centred_lengths(of_target, n, float(linked.sum()))
            if squared <= _TIE * of_target[1].sum():  # a single block leaves nothing to explain
                products.append(np.zeros_like(by_block))
                continue
            total += squared
            shift = np.outer(sums.plain, target.shares) + np.outer(sums.of_linked, target.sign * target.shares)
            products.append(by_block - shift - np.outer(means, column_sums))
        positive = squares[squares > 0]
        ridge = float(np.median(positive)) if len(positive) else 1.0
        return cls(U, means, squares, np.hstack(products), total or 1.0, ridge)

    @property
    def alone(self) -> FloatArray:
        """R² of each feature by itself: (m,)"""
        return np.where(self.squares > 0, np.square(self.products).sum(axis=1) / self.penalised, 0.0) / self.total

    def of_all(self) -> float | None:
        """R² of all features together, by conjugate gradients; None if that would take minutes.

        Each iteration would read all row chunks, so the result is None for these too.
        """
        U, B = self.features, self.products
        if isinstance(U, RowChunks) or (U.nnz if sparse.issparse(U) else U.size) * B.shape[1] > _LARGEST_PRODUCT:
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
        at_once = _CELLS // len(chosen) if isinstance(self.features, RowChunks) else _AT_ONCE
        for start in range(0, len(others), at_once):
            part = others[start : start + at_once]
            spanned = solve_triangular(factor, self._gram(chosen, part), lower=True)
            left = self.penalised[part] - np.square(spanned).sum(axis=0)
            rest = self.products[part] - spanned.T @ along
            would_add[start : start + at_once] = np.square(rest).sum(axis=1) / left
        return np.square(along).sum(axis=1) / self.total, would_add / self.total

    def _gram(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Some rows and columns of UᵀU."""
        products = sum_over_rows(self.features, _column_products, rows, columns)
        return np.asarray(products - self.features.shape[0] * np.outer(self.means[rows], self.means[columns]))


def _unit_rows(block: Features, rows: slice) -> Features:
    if sparse.issparse(block):
        block = without_zeros(block, own_values=True)  # `normalize` would copy the indices too
    return normalize(block, copy=not sparse.issparse(block)) if block.shape[0] else block


def _column_products(block: Features, rows: slice, left: IntArray, right: IntArray) -> FloatArray:
    """Products of some columns with others: (left, right)."""
    return as_dense(block[:, left].T @ block[:, right])


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """The target T of one block model: F + P F diag(σ) − (1 + σ P 1) mean(F), minus its own column means."""

    labels: IntArray  # (n,)
    shares: FloatArray  # (k,) of the nodes in each block, mean(F)
    sign: FloatArray  # (k,) σ

    @classmethod
    def of(cls, walk: Sparse, linked: FloatArray, labels: IntArray) -> _Target:
        """From P, P 1 and the labels of the nodes."""
        n, shares = len(labels), np.bincount(labels) / len(labels)
        between = sums_between_blocks(walk.indptr, walk.indices, walk.data, labels)  # Fᵀ P F
        outside = np.bincount(labels, linked) + between.sum(axis=0)
        diagonal = between.diagonal() - shares * outside + shares**2 * linked.sum()  # of Hᵀ P H
        return cls(labels, shares, np.where(diagonal < -_TIE * n, -1.0, 1.0))

    def of_rows(self, walk: Sparse, rows: slice) -> Sparse:
        """F + P F diag(σ) of some nodes, from their rows of P."""
        member = membership_matrix(self.labels)  # F
        return sparse.csr_array(member[rows] + walk @ member @ sparse.diags_array(self.sign))

    def centred_lengths(self, sums: FloatArray, n: int, n_linked: float) -> tuple[FloatArray, float]:
        """Column sums of T before its means are removed, and ‖T‖².

        `sums` (3, k) are column sums, sums of squares and sums over linked nodes of F + P F diag(σ).
        """
        plain, squares, of_linked = sums
        column_sums = plain - self.shares * (n + self.sign * n_linked)
        crossed = plain + self.sign * of_linked
        squared = squares - 2 * self.shares * crossed + self.shares**2 * (n + (2 * self.sign + 1) * n_linked)
        return column_sums, float((squared - column_sums**2 / n).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums over the nodes that a regression needs."""

    plain: FloatArray  # (m,) of each column of U
    squares: FloatArray  # (m,)
    of_linked: FloatArray  # (m,) Uᵀ P 1
    by_target: list[FloatArray]  # (m, k) each, Uᵀ(F + P F diag(σ))
    of_targets: list[FloatArray]  # (3, k) each, see `_Target.centred_lengths`

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(
            self.plain + other.plain,
            self.squares + other.squares,
            self.of_linked + other.of_linked,
            [one + two for one, two in zip(self.by_target, other.by_target, strict=True)],
            [one + two for one, two in zip(self.of_targets, other.of_targets, strict=True)],
        )


def _sums_with_targets(
    block: Features, rows: slice, walk: Sparse, linked: FloatArray, targets: Sequence[_Target]
) -> _Sums:
    of_rows = walk if rows == slice(0, walk.shape[0]) else walk[rows]
    by_target, of_targets = [], []
    for target in targets:
        matrix = target.of_rows(of_rows, rows)
        by_target.append(as_dense(block.T @ matrix if sparse.issparse(block) else (matrix.T @ block).T))
        squares = matrix.power(2).sum(axis=0)
        of_targets.append(np.stack([matrix.sum(axis=0), squares, matrix.T @ linked[rows]]))
    plain = np.asarray(block.sum(axis=0)).ravel()
    return _Sums(plain, squared_lengths(block, rows), block.T @ linked[rows], by_target, of_targets)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGains:
    """Log-likelihood gains of each feature in nats, minus one nat per extra parameter (AIC): (m,)"""

    by_blocks: FloatArray  # E, the mean over block models
    by_links: FloatArray  # N − 1
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
        penalties = np.array([penalty(model.n_blocks) for model in models])
        by_blocks = (likelihood.gains_by_feature([model.labels for model in models]) - penalties[:, None]).mean(axis=0)
        scaled = scaled_for_links(graph.features) if scaled is None else scaled
        by_links = link_gains(scaled, graph.adjacency, likelihood.link_unit)
        return cls(by_blocks, by_links - penalty(2), constant_columns(graph.features))

    @property
    def total(self) -> FloatArray:
        """Gain by blocks and by links: (m,)"""
        return self.by_blocks + self.by_links

    @property
    def z_values(self) -> FloatArray:
        """√(2 × total gain) of each feature, which is comparable to a z-value; 0 if the gain is negative: (m,)"""
        values: FloatArray = np.sqrt(2 * np.maximum(self.total, 0.0))
        return values


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
    *,
    scaled: Features | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the features by how much of these block models they explain; `scaled` as in `FeatureGains.of`."""
    labels = [model.labels for model in models]
    parts: list[Callable[[], Any]] = [
        partial(FeatureGains.of, likelihood, graph, models, scaled),
        partial(BlockRegression.of, graph.features, graph.adjacency, labels),
    ]
    n_jobs = 1 if isinstance(graph.features, RowChunks) else n_jobs  # chunks are read by one thread at a time
    gains, regression = in_threads(n_jobs, parts)
    return rank_features(regression, gains, n_wanted)


def rank_features(regression: BlockRegression, gains: FeatureGains, n_wanted: int) -> Ranking:
    """Rank all features: the first `n_wanted` by greedy selection, if as many clearly follow the graph."""
    is_useful = (regression.squares > 0) & ~gains.is_constant
    is_clear = is_useful & (gains.z_values > _CLEAR)
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
    """Cohen's w of each feature by the blocks, √(2E / h): (m,)"""
    sizes: FloatArray = np.sqrt(2 * np.maximum(gains.by_blocks, _SMALLEST_GAIN) / np.maximum(n_holders(features), 1))
    return sizes


@dataclass(frozen=True, slots=True, eq=False)
class Greedy:
    """The result of greedy selection among some candidate columns."""

    chosen: IntArray  # (s,) columns in the order of their selection
    added: FloatArray  # (candidates,) share each added when it was chosen, or would add next


def select_together(regression: BlockRegression, candidates: IntArray, n_steps: int, effect: FloatArray) -> Greedy:
    """Orthogonal least squares among the candidate columns, at most `MAX_STEPS` of them.

    Each step takes the column with the largest rise of R² times its `effect`. Of columns that are equally
    good up to rounding, the lowest index is taken. With the chosen columns orthogonalised (rows of `basis` are their
    products with all candidates), a step costs one column of the Gram matrix and two matrix-vector products.
    """
    n_steps = min(n_steps, MAX_STEPS, len(candidates)) if regression.products.any() else 0
    columns = _columns(regression, candidates)
    products = regression.products[candidates]  # (c, q)
    left = regression.penalised[candidates]  # squared length of what is not yet spanned
    unexplained = np.square(products).sum(axis=1)  # ‖residual productᵀ‖² of each candidate
    basis, coefficients = np.zeros((n_steps, len(candidates))), np.zeros((n_steps, products.shape[1]))
    is_free = np.ones(len(candidates), dtype=bool)
    added, chosen = np.zeros(len(candidates)), []
    for step in range(n_steps):
        gains = np.maximum(unexplained, 0.0) / left
        place = _first_of_largest(np.where(is_free, gains * effect, -1.0))
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
    return Greedy(candidates[np.array(chosen, dtype=np.intp)], added / regression.total)


def _columns(regression: BlockRegression, candidates: IntArray) -> _Columns | _ColumnsOfChunks:
    of_chunks = isinstance(regression.features, RowChunks)
    return (_ColumnsOfChunks if of_chunks else _Columns)(regression, candidates)


class _ColumnsOfChunks:
    """Columns of UᵀU + λI among the candidates. One reading of all chunks computes those that may be wanted next."""

    def __init__(self, regression: BlockRegression, candidates: IntArray) -> None:
        self._regression, self._candidates = regression, candidates
        self._known: dict[int, FloatArray] = {}

    def products_with(self, place: int, criterion: FloatArray) -> FloatArray:
        """The column of a candidate. `criterion` says how good each of the others is."""
        if place not in self._known:
            others = best_first(criterion)
            wanted = np.array([place, *(int(at) for at in others if at not in self._known and at != place)][:_BATCH])
            columns = self._regression._gram(self._candidates, self._candidates[wanted])
            self._known.update(zip(wanted.tolist(), columns.T, strict=True))
        column = self._known.pop(place)
        column[place] += self._regression.ridge
        return column


class _Columns:
    """Columns of UᵀU + λI among the candidates, one at a time."""

    def __init__(self, regression: BlockRegression, candidates: IntArray) -> None:
        self._features = regression.features[:, candidates]
        self._means, self._ridge = regression.means[candidates], regression.ridge
        self._by_column = sparse.csc_array(self._features) if sparse.issparse(self._features) else None

    def products_with(self, place: int, criterion: FloatArray) -> FloatArray:
        """The column of a candidate; the others need not be known."""
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
