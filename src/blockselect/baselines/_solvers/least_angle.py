"""Least angle regression on sparse or dense features: one more feature a step, all in use equally correlated.

Scikit-learn's takes no sparse matrix, gives up below an absolute correlation, and turns the sign of a feature whose
coefficient passes zero, which the algorithm of Efron, Hastie, Johnstone and Tibshirani (2004) does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

from blockselect.arrays import Features, FloatArray
from blockselect.graphs.column_statistics import constant_columns, mean_and_variance
from blockselect.graphs.convert import as_dense

_TIED = 1e-12  # of the first correlation: two this close are equal
_COLLINEAR = 1e-12  # of a feature's centred square: what must be left of it, once those in use are projected out


class LeastAngleRegression:
    """Explains targets by few of the features, which are centred; sparse ones without filling them.

    That costs digits where the mean of a sparse feature is far above its spread: pass such dense.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
    """

    def __init__(self, features: Features) -> None:
        X = features.astype(np.float64, copy=False)
        self._mean, variance = mean_and_variance(X)  # (m,) each
        self._varies = ~constant_columns(X)  # (m,)
        if sparse.issparse(X):
            self._X = X.tocsc()
        else:
            self._X, self._mean = X - self._mean, np.zeros_like(self._mean)
        # Centred squares, larger where a mean far above the spread adds rounding of that size to the covariances.
        self._squares = X.shape[0] * np.sqrt(variance * (variance + self._mean**2))  # (m,)

    def fit(self, target: FloatArray, n_nonzero: int) -> FloatArray:
        """Coefficients (m,) of the centred target after `n_nonzero` features came in.

        Fewer come in where fewer explain all of the target. One that those in use already explain (a copy, say) is
        passed over.
        """
        correlation = self._correlate(target - target.mean())
        coefficients = np.zeros(len(correlation))
        first = float(np.abs(correlation).max(initial=0))
        active = _ActiveSet(min(n_nonzero, *self._X.shape))
        free = self._varies.copy()
        while first > 0:
            level = self._enter(active, free, correlation, first)
            if level <= _TIED * first:
                break
            chosen, signs = active.chosen, np.sign(correlation[active.chosen])
            weights = active.solve(signs)  # correlations of all in use fall by 1 for each unit of a step
            slope = self._slope(chosen, weights)
            step = _first_to_tie(level, correlation[free], slope[free])
            coefficients[chosen] += step * weights
            correlation -= step * slope
            if active.is_full or step == level:
                break
        return coefficients

    def _enter(self, active: _ActiveSet, free: NDArray[np.bool_], correlation: FloatArray, first: float) -> float:
        """Let in the features that are as correlated as those in use, and return how much that is."""
        level = float(np.abs(correlation[active.chosen]).max(initial=0))
        while not active.is_full and free.any():
            best = int(np.argmax(np.where(free, np.abs(correlation), -1)))
            height = abs(float(correlation[best]))
            if height < level - _TIED * first:
                break
            free[best] = False
            if active.enter(best, self._covariances(best, active.chosen), self._squares[best]):
                level = max(level, height)
        return level

    def _correlate(self, direction: FloatArray) -> FloatArray:
        return np.asarray(self._X.T @ direction - self._mean * direction.sum())

    def _slope(self, chosen: NDArray[np.intp], weights: FloatArray) -> FloatArray:
        full = np.zeros(len(self._mean))
        full[chosen] = weights
        return self._correlate(np.asarray(self._X @ full) - self._mean @ full)

    def _covariances(self, feature: int, chosen: NDArray[np.intp]) -> FloatArray:
        """Of one feature with those in use, and with itself as the last. (a + 1,)"""
        column = as_dense(self._X[:, [feature]])
        covariances: FloatArray = self._correlate(column.ravel() - self._mean[feature])[np.append(chosen, feature)]
        return covariances


class _ActiveSet:
    """Features in use, with the Cholesky factor of their covariances."""

    def __init__(self, most: int) -> None:
        self._features = np.empty(most, dtype=np.intp)
        self._factor = np.zeros((most, most))
        self._size = 0

    @property
    def chosen(self) -> NDArray[np.intp]:
        return self._features[: self._size]

    @property
    def is_full(self) -> bool:
        return self._size == len(self._features)

    def enter(self, feature: int, covariances: FloatArray, square: float) -> bool:
        """Take a feature in, unless those in use explain it."""
        a = self._size
        row = covariances[:a]
        if a:
            row = solve_triangular(self._factor[:a, :a], row, lower=True, check_finite=False)
        left = covariances[a] - row @ row
        if left <= _COLLINEAR * square:
            return False
        self._factor[a, :a] = row
        self._factor[a, a] = np.sqrt(left)
        self._features[a] = feature
        self._size += 1
        return True

    def solve(self, right: FloatArray) -> FloatArray:
        L = self._factor[: self._size, : self._size]
        half = solve_triangular(L, right, lower=True, check_finite=False)
        return np.asarray(solve_triangular(L, half, lower=True, trans=1, check_finite=False))


def _first_to_tie(level: float, correlation: FloatArray, slope: FloatArray) -> float:
    """The step at which a feature not in use becomes as correlated as those in use; `level` explains all there is.

    Those in use fall by 1 for each unit, from `level`: |c − step·slope| = level − step. One that falls as
    fast (a copy of the last to come in) stays as it is, beside them.
    """
    meets = [
        np.divide(
            level - sign * correlation, 1 - sign * slope, out=np.full_like(slope, level), where=sign * slope < 1 - _TIED
        )
        for sign in (1, -1)
    ]
    return float(np.clip(np.min(meets, initial=level), 0, level))
