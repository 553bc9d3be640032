"""Least angle regression on sparse or dense features, which adds one feature per step.

The implementation in scikit-learn (`lars_path_gram` too) requires a dense matrix or all covariances, stops below an
absolute correlation, and, unlike the algorithm of Efron, Hastie, Johnstone and Tibshirani (2004), reverses the sign of
a feature whose coefficient crosses zero. With 200 features of Cora, its coefficients differ in the second digit.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve, solve_triangular

from blockselect.rows.matrices import as_dense
from blockselect.rows.statistics import constant_columns, mean_and_variance
from blockselect.utils.arrays import Features, FloatArray

_TIED = 1e-12  # correlations count as equal if they differ by less than this fraction of the first
_COLLINEAR = 1e-12  # fraction of a feature's centred sum of squares that the active features must leave unexplained


class LeastAngleRegression:
    """Explains targets with a few of the centred features; sparse features are never converted to dense ones.

    This loses precision if the mean of a sparse feature is far larger than its standard deviation.

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
        # Centred sums of squares, increased if a mean far above the standard deviation adds rounding errors to the
        # covariances.
        self._squares = X.shape[0] * np.sqrt(variance * (variance + self._mean**2))  # (m,)

    def fit(self, target: FloatArray, n_nonzero: int) -> FloatArray:
        """Coefficients (m,) of the centred target after `n_nonzero` features have entered.

        Fewer features enter if they explain the target completely. A feature that is a linear combination of the active
        features, such as a copy of one of them, is skipped.
        """
        correlation = self._correlate(target - target.mean())
        coefficients = np.zeros(len(correlation))
        first = float(np.abs(correlation).max(initial=0))
        most = min(n_nonzero, *self._X.shape)
        active: list[int] = []
        factor = np.zeros((most, most))  # Cholesky factor of the covariances of the active features
        free = self._varies.copy()
        while first > 0:
            level = float(np.abs(correlation[active]).max(initial=0))
            while len(active) < most and free.any():  # add all features that are as correlated as the active ones
                best = int(np.argmax(np.where(free, np.abs(correlation), -1)))
                height = abs(float(correlation[best]))
                if height < level - _TIED * first:
                    break
                free[best] = False
                if self._extend(factor, active, best):
                    active.append(best)
                    level = max(level, height)
            if level <= _TIED * first:
                break
            square = factor[: len(active), : len(active)]
            direction = np.zeros(len(coefficients))
            direction[active] = cho_solve((square, True), np.sign(correlation[active]), check_finite=False)
            slope = self._correlate(np.asarray(self._X @ direction) - self._mean @ direction)  # ±1 where active
            step = _first_to_tie(level, correlation[free], slope[free])
            coefficients += step * direction
            correlation -= step * slope
            if len(active) == most or step == level:
                break
        return coefficients

    def _correlate(self, direction: FloatArray) -> FloatArray:
        return np.asarray(self._X.T @ direction - self._mean * direction.sum())

    def _extend(self, factor: FloatArray, active: list[int], feature: int) -> bool:
        """Write the next row of the factor, unless the active features explain the feature."""
        a = len(active)
        column = as_dense(self._X[:, [feature]]).ravel()
        covariances = self._correlate(column - self._mean[feature])
        if a:
            factor[a, :a] = solve_triangular(factor[:a, :a], covariances[active], lower=True, check_finite=False)
        left = covariances[feature] - factor[a, :a] @ factor[a, :a]
        if left <= _COLLINEAR * self._squares[feature]:
            return False
        factor[a, a] = np.sqrt(left)
        return True


def _first_to_tie(level: float, correlation: FloatArray, slope: FloatArray) -> float:
    """The step at which an inactive feature becomes as correlated as the active ones, at most `level`.

    Active correlations decrease by 1 per unit from `level`: |c − step·slope| = level − step. A feature whose
    correlation decreases equally fast, such as a copy of the last feature, never reaches them.
    """
    ties = [
        np.divide(
            level - sign * correlation, 1 - sign * slope, out=np.full_like(slope, level), where=sign * slope < 1 - _TIED
        )
        for sign in (1, -1)
    ]
    return float(np.clip(np.min(ties, initial=level), 0, level))
