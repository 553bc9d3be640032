"""The regression of the block structure, at all levels, on the features; its R² is the share that they explain.

Let F be the one-hot block membership of a block model, merged to the blocks of one level (see
:mod:`blockselect.blockmodels.levels`), F̃ the same matrix with column means removed, and Ā = D⁻¹A the average over
neighbours (0 for isolated nodes). The target of this level,

    T = F̃ + Ā F̃ (Ψ + Π Ψ² + Π² Ψ³ + Π³ Ψ⁴),

contains the block of each node and the blocks that a random walk from the node visits in four steps. The first step
goes to a neighbour, the others go from block to block with the transition probabilities Π between blocks. Ψ is
diagonal: −1 for a disassortative block, whose nodes link to other blocks rather than to their own, so that a node and
its neighbours do not cancel, and 1 otherwise. The columns of T are centred, and T is divided by its Frobenius norm, so
that each level of each consensus model has the same weight.

U contains the features, with rows of unit length and centred columns. A set S of features explains the share

    R²(S) = 1 − min_Ω (‖T − U_S Ω‖² + λ‖Ω‖²) / ‖T‖²

of all targets T side by side, which is the mean of the shares of the individual targets. This is a ridge regression; λ
is the median squared length of the columns of U.

Every T is a linear combination of the columns of Φ = [F, Ā F] of the finest level, so all targets follow from two sums
over the nodes, UᵀΦ and ΦᵀΦ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.preprocessing import normalize

from blockselect.blockmodels.levels import groups_at, numbers_of_groups
from blockselect.rows.matrices import as_dense, membership_matrix, without_zeros
from blockselect.rows.sums import in_memory, map_rows, n_values, squared_lengths, sum_over_rows
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

_STEPS = 4  # steps of the random walk
_COLUMNS_PER_SLICE = 4096  # of the Gram matrix, if features are in memory
_CELLS_PER_SLICE = 2**25  # of the Gram matrix, if features come in row chunks: large, so that chunks are rarely read
_TIE = 1e-9  # relative difference below which two numbers are equal
# For the regression on all features, the Gram matrix of up to 2000 features is factorised, which takes less than a
# second. With more features, conjugate gradients are used, unless an iteration takes more than 10⁹ multiplications.
_MAX_FACTORISED = 2000
_MAX_MULTIPLICATIONS = 10**9
_MAX_ITER, _CONVERGED = 100, 1e-5  # of conjugate gradients: they end if R² rises by a smaller share


@dataclass(frozen=True, slots=True, eq=False)
class BlockRegression:
    """The regression of the block structure on the features, which only needs sums over the nodes."""

    features: Features  # (n, m) U without centring; CSR, dense or RowChunks
    means: FloatArray  # (m,) means of the columns of U
    squares: FloatArray  # (m,) squared lengths of the centred columns; 0 for constant columns
    products: FloatArray  # (m, q) UᵀT
    widths: list[int]  # number of columns of the target of each level of the first block model, the finest first
    total: float  # ‖T‖²
    ridge: float  # λ

    @classmethod
    def of(
        cls, features: Features, adjacency: Sparse, labels: Sequence[IntArray], linkages: Sequence[FloatArray]
    ) -> BlockRegression:
        """Build it from the features (n, m), the graph, and the labels (n,) and tree (k − 1, 4) of each block model."""
        U, n = map_rows(features, _unit_rows), features.shape[0]
        degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
        share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
        data = np.repeat(share, np.diff(adjacency.indptr))
        data *= adjacency.data
        walk = sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)  # Ā
        sums: _BlockSums = sum_over_rows(U, _sums_with_blocks, walk, list(labels))
        means = sums.plain / n
        squares = sums.squares - n * means**2
        squares = np.where(squares > _TIE * sums.squares, squares, 0.0)  # constant columns, up to rounding
        products, widths, total = [], [], 0
        for with_features, among, linkage in zip(sums.with_features, sums.among, linkages, strict=True):
            targets = [_target(among, groups_at(linkage, k)) for k in numbers_of_groups(len(linkage) + 1)]
            products.append(with_features @ np.hstack(targets))
            widths.append([target.shape[1] for target in targets])
            total += sum(bool(target.any()) for target in targets)
        positive = squares[squares > 0]
        ridge = float(np.median(positive)) if len(positive) else 1.0
        varying = np.where((squares > 0)[:, None], np.hstack(products), 0.0)  # without rounding errors of constants
        return cls(U, means, squares, varying, widths[0], float(total or 1), ridge)

    def only(self, columns: IntArray) -> BlockRegression:
        """The same regression on some of the features, with the same λ."""
        return replace(
            self,
            features=self.features[:, columns],
            means=self.means[columns],
            squares=self.squares[columns],
            products=self.products[columns],
        )

    @property
    def alone(self) -> FloatArray:
        """R² of each feature by itself: (m,)"""
        return np.where(self.squares > 0, np.square(self.products).sum(axis=1) / self.penalised, 0.0) / self.total

    def share_of_all(
        self, *, max_factorised: int = _MAX_FACTORISED, max_multiplications: int = _MAX_MULTIPLICATIONS
    ) -> float | None:
        """R² of all features together; None if computing it would take minutes.

        The result is also None for row chunks, because each iteration would read all of them.
        """
        U, B = self.features, self.products
        if not in_memory(U):
            return None
        if len(B) <= max_factorised:
            return float(self.added(np.flatnonzero(self.squares), np.arange(0))[0].sum())
        if n_values(U) * B.shape[1] > max_multiplications:
            return None
        solution, residual = np.zeros_like(B), B.copy()  # of (UᵀU + λI) Ω = UᵀT
        direction, squares, explained = residual, np.sum(B * B, axis=0), 0.0
        for _ in range(_MAX_ITER):
            image = U.T @ (U @ direction) + self.ridge * direction
            image -= U.shape[0] * np.outer(self.means, self.means @ direction)  # columns are centred
            image[self.squares == 0] = 0.0  # rounding errors of constant columns
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
        """The share that each chosen column adds to the previous ones, and that each other column would add to all.

        With L Lᵀ = U_SᵀU_S + λI for the chosen columns S, R²(S) = ‖L⁻¹U_SᵀT‖² / ‖T‖²; row i of L⁻¹U_SᵀT gives the share
        of column i.
        """
        factor = self._factor(chosen)
        along = solve_triangular(factor, self.products[chosen], lower=True)
        would_add = np.empty(len(others))
        at_once = _COLUMNS_PER_SLICE if in_memory(self.features) else _CELLS_PER_SLICE // max(len(chosen), 1)
        for start in range(0, len(others), at_once):
            part = others[start : start + at_once]
            spanned = solve_triangular(factor, self.gram(chosen, part), lower=True)
            left = self.penalised[part] - np.square(spanned).sum(axis=0)
            rest = self.products[part] - spanned.T @ along
            would_add[start : start + at_once] = np.square(rest).sum(axis=1) / left
        return np.square(along).sum(axis=1) / self.total, would_add / self.total

    def cumulative(self, columns: IntArray) -> FloatArray:
        """R² of the first 1, 2, … of these columns: (d,)"""
        added, _ = self.added(columns, columns[:0])
        return np.cumsum(added)

    def by_level(self, chosen: IntArray) -> FloatArray:
        """R² of the chosen columns at each level of the first block model, the finest first."""
        products = self.products[chosen, : sum(self.widths)]
        along = solve_triangular(self._factor(chosen), products, lower=True)
        return np.add.reduceat(np.square(along).sum(axis=0), np.cumsum([0, *self.widths[:-1]]))

    def _factor(self, chosen: IntArray) -> FloatArray:
        """L of L Lᵀ = U_SᵀU_S + λI."""
        penalised = self.gram(chosen, chosen) + self.ridge * np.eye(len(chosen))
        try:
            factor: FloatArray = cholesky(penalised, lower=True)
        except LinAlgError:  # rounding errors exceed λ: lengths of columns differ by many orders of magnitude
            lengths = self.squares + self.features.shape[0] * self.means**2
            factor = cholesky(penalised + _TIE * np.diag(lengths[chosen]), lower=True)
        return factor

    def gram(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Some rows and columns of UᵀU."""
        products = sum_over_rows(self.features, _column_products, rows, columns)
        return np.asarray(products - self.features.shape[0] * np.outer(self.means[rows], self.means[columns]))


def _unit_rows(block: Features, rows: slice) -> Features:
    if sparse.issparse(block):
        block = without_zeros(block, own_values=True)  # `normalize` would copy the indices too
    return normalize(block, copy=not sparse.issparse(block)) if block.shape[0] else block


def _column_products(block: Features, rows: slice, left: IntArray, right: IntArray) -> FloatArray:
    """Products of some columns with other columns: (left, right)."""
    first = block[:, left]
    return as_dense(first.T @ (first if right is left else block[:, right]))


def _target(among: FloatArray, groups: IntArray) -> FloatArray:
    """Coefficients that combine the columns of Φ = [F, Ā F] to the target of one level: (2k, k_j); 0 for one block.

    `among` is ΦᵀΦ (2k, 2k), and `groups` (k,) contains the block of this level that each block belongs to.
    """
    k, n = len(groups), among[: len(groups), : len(groups)].sum()
    Z = np.eye(groups.max() + 1)[groups]  # (k, k_j)
    steps = among[:k, k:]  # Fᵀ Ā F
    means = among[:k, :k].sum(axis=0) / n @ Z  # of the columns of F Z
    between, out, into = Z.T @ steps @ Z, steps.sum(axis=1) @ Z, steps.sum(axis=0) @ Z
    within = between.diagonal() - means * (out + into) + means**2 * steps.sum()  # diagonal of F̃ᵀ Ā F̃
    sign = np.where(within < -_TIE * n, -1.0, 1.0)
    onward = between / np.maximum(out, np.finfo(np.float64).tiny)[:, None]  # Π
    visits, power = np.zeros_like(between), np.eye(len(between))
    for step in range(1, _STEPS + 1):
        visits += power * sign**step
        power = power @ onward
    combination = np.vstack([Z - means, Z @ visits - means @ visits])
    column_means = np.concatenate([among[:k, :k].sum(axis=0), steps.sum(axis=0)]) @ combination / n
    combination[:k] -= column_means  # the columns of F add up to 1
    squared = float(np.sum(combination * (among @ combination)))
    return combination / np.sqrt(squared) if squared > _TIE * n else np.zeros_like(combination)


@dataclass(frozen=True, slots=True, eq=False)
class _BlockSums:
    """The sums over the nodes that the regression needs."""

    plain: FloatArray  # (m,) of each column of U
    squares: FloatArray  # (m,)
    with_features: list[FloatArray]  # (m, 2k) of each block model, UᵀΦ with Φ = [F, Ā F]
    among: list[FloatArray]  # (2k, 2k) ΦᵀΦ of each block model

    def __add__(self, other: _BlockSums) -> _BlockSums:
        return _BlockSums(
            self.plain + other.plain,
            self.squares + other.squares,
            [one + two for one, two in zip(self.with_features, other.with_features, strict=True)],
            [one + two for one, two in zip(self.among, other.among, strict=True)],
        )


def _sums_with_blocks(block: Features, rows: slice, walk: Sparse, labels: Sequence[IntArray]) -> _BlockSums:
    of_rows = walk if rows == slice(0, walk.shape[0]) else walk[rows]
    with_features, among = [], []
    for of_node in labels:
        member = membership_matrix(of_node)  # F
        both = sparse.hstack([member[rows], of_rows @ member], format="csr")
        with_features.append(as_dense(block.T @ both if sparse.issparse(block) else (both.T @ block).T))
        among.append(as_dense(both.T @ both))
    plain = np.asarray(block.sum(axis=0)).ravel()
    return _BlockSums(plain, squared_lengths(block, rows), with_features, among)
