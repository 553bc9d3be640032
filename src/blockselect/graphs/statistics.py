"""Statistics of the columns of a feature matrix; sparse matrices stay sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.errors import ParameterError

_LARGEST_MULTIPLE = 1e4  # larger multiples cannot be distinguished from other numbers because of rounding


def mean_and_variance(features: Features, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each column in float64, with optional row weights (n,): (m,) each."""
    columns = features.astype(np.float64, copy=False)
    if sparse.issparse(columns):
        mean, variance = mean_variance_axis(columns, axis=0, weights=weights)
        return mean, variance
    mean = np.average(columns, axis=0, weights=weights)
    return mean, np.average((columns - mean) ** 2, axis=0, weights=weights)


def column_inner_products(left: Features, right: Features) -> FloatArray:
    """Σᵢ leftᵢⱼ rightᵢⱼ of each column j: (m,)."""
    if sparse.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=0)).ravel()
    return np.asarray(np.einsum("ij,ij->j", left, right))


def constant_columns(features: Features) -> NDArray[np.bool_]:
    """Which columns are exactly constant: (m,). Their computed variance may be above zero because of rounding."""
    low, high = features.min(axis=0), features.max(axis=0)
    if sparse.issparse(features):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low == high)


def are_sparse_counts(features: Features) -> bool:
    """Whether the features are counts that are mostly zero: whole numbers, some above one, and more zeros than not.

    They may have any unit: multiples of the smallest value count as whole numbers.
    """
    values = features.data if sparse.issparse(features) else features
    if np.count_nonzero(values) * 2 >= np.prod(features.shape):
        return False
    counts = values.max(initial=0) > 1 and (values == np.floor(values)).all()
    return bool((counts or _are_multiples(values)) and not constant_columns(_present(features)).all())


def _are_multiples(values: FloatArray) -> bool:
    """Whether all values are whole multiples of the smallest one, and some are larger than it."""
    positive = values[values > 0]
    if not len(positive) or not 1.5 < positive.max() / positive.min() < _LARGEST_MULTIPLE:
        return False
    multiples = positive / positive.min()
    rounding = 8 * np.finfo(positive.dtype).eps * multiples
    return bool((np.abs(multiples - np.rint(multiples)) <= rounding).all())


def presence(features: Features) -> Features:
    """1 if a node has a feature, otherwise 0, in the float type and storage of the features."""
    present = _present(features)
    if constant_columns(present).all():
        raise ParameterError(
            "binarize",
            "is True, which leaves every feature constant: none is zero for some nodes and not for others; "
            "set binarize=False.",
        )
    return present


def in_units(features: Features) -> Features:
    """Divide each non-negative feature by the mean of its non-zero values, in double precision.

    Zeros and ones do not change, and the sum of a feature becomes the number of nodes that have it.
    """
    if not sparse.issparse(features):
        values: FloatArray = np.asarray(features, dtype=np.float64)
        return values / _means(values.sum(axis=0), np.count_nonzero(values, axis=0))
    scaled = sparse.csr_array(features, dtype=np.float64, copy=True)
    scaled.eliminate_zeros()
    n_holders = np.bincount(scaled.indices, minlength=scaled.shape[1])
    scaled.data /= _means(scaled.sum(axis=0), n_holders)[scaled.indices]
    return scaled


def _means(sums: FloatArray, n_holders: IntArray) -> FloatArray:
    """Mean over the nodes that have the feature; 1 if no node has it."""
    means: FloatArray = np.where(n_holders > 0, sums / np.maximum(n_holders, 1), 1.0)
    return means


def _present(features: Features) -> Features:
    return (features != 0).astype(features.dtype)
