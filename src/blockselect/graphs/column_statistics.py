"""Columns of a feature matrix: mean, variance, inner products, and which are constant. Sparse stays sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from blockselect.arrays import Features, FloatArray


def mean_and_variance(features: Features, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each column in float64, rows weighted by `weights` (n,): (m,) each."""
    columns = features.astype(np.float64, copy=False)
    if sparse.issparse(columns):
        mean, variance = mean_variance_axis(columns, axis=0, weights=weights)
        return mean, variance
    mean = np.average(columns, axis=0, weights=weights)
    return mean, np.average((columns - mean) ** 2, axis=0, weights=weights)


def column_inner_products(left: Features, right: Features) -> FloatArray:
    """Σᵢ leftᵢⱼ rightᵢⱼ of each column j; sparse where `left` is: (m,)."""
    if sparse.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=0)).ravel()
    return np.asarray(np.einsum("ij,ij->j", left, right))


def constant_columns(features: Features) -> NDArray[np.bool_]:
    """Which columns hold one value only, exactly: (m,). Rounding leaves their computed variance above zero."""
    low, high = features.min(axis=0), features.max(axis=0)
    if sparse.issparse(features):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low == high)
