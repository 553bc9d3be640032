"""Statistics of the columns of a feature matrix; sparse matrices stay sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from blockselect.rows.chunks import ChunkSurvey, RowChunks
from blockselect.rows.matrices import without_zeros
from blockselect.rows.sums import extremes_by_column, in_memory, map_rows, n_holders, scale_by_column, sum_over_rows
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.errors import ParameterError

_LARGEST_MULTIPLE = 1e4  # because of rounding, larger multiples cannot be told from other numbers
_STORED_SPARSE = 1 / 3  # share of non-zero values up to which CSR takes at most half the memory of an array
_EQUAL = 1e-9  # relative difference from the mean below which values in row chunks count as equal


def mean_and_variance(features: Features, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Mean (m,) and variance (m,) of each column in float64, with optional row weights (n,)."""
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
    """Mask of the columns that are exactly constant: (m,). Rounding may make their computed variance positive.

    In row chunks, values with a relative difference below 1e-9 count as equal.
    """
    if not in_memory(features):
        n_equal = sum_over_rows(features, _equal_values, typical_values(features))
        return np.asarray((n_holders(features) == 0) | (n_equal == features.shape[0]))
    low, high = extremes_by_column(features)
    return np.asarray(low == high)


def check_varies(features: Features) -> None:
    """Check that at least one feature differs between nodes."""
    if constant_columns(features).all():
        raise ValueError(
            f"all {features.shape[1]} features are constant: none differs between nodes; check how they were loaded."
        )


def are_sparse_counts(features: Features) -> bool:
    """Whether the features are sparse counts: integers, some above one, and more than half of them zero.

    Counts may be in any unit: multiples of the smallest non-zero value count as integers.
    """
    found = [ChunkSurvey.of(features)] if in_memory(features) else features.survey().chunks
    largest, smallest = max(chunk.largest for chunk in found), min(chunk.smallest for chunk in found)
    are_whole = all(chunk.are_whole for chunk in found)
    if sum(chunk.n_values for chunk in found) * 2 >= np.prod(features.shape):
        return False
    are_counts = (largest > 1 and are_whole) or _are_multiples(features, smallest, largest)
    return bool(are_counts and not (n_holders(features) % features.shape[0] == 0).all())


def _are_multiples(features: Features, smallest: float, largest: float) -> bool:
    """Whether all values are integer multiples of the smallest non-zero value, and some exceed it."""
    if not np.isfinite(smallest) or not 1.5 < largest / smallest < _LARGEST_MULTIPLE:
        return False
    return bool(sum_over_rows(features, _broken_multiples, smallest) == 0)


def _broken_multiples(block: Features, rows: slice, unit: float) -> int:
    """Number of positive values that are not multiples of a unit, up to rounding."""
    values = block.data if sparse.issparse(block) else block
    multiples = values[values > 0] / values.dtype.type(unit)
    rounding = 8 * np.finfo(values.dtype).eps * multiples
    return int(np.count_nonzero(np.abs(multiples - np.rint(multiples)) > rounding))


def in_standard_form(features: Features) -> Features:
    """Convert to double precision, and to CSR if few values are non-zero, so that results do not depend on the format.

    Row chunks are always CSR.
    """
    features = map_rows(features, _in_double)
    if not in_memory(features):
        return features
    n_values = features.count_nonzero() if sparse.issparse(features) else np.count_nonzero(features)
    if n_values <= _STORED_SPARSE * features.shape[0] * features.shape[1]:
        return sparse.csr_array(features)
    return features.toarray() if sparse.issparse(features) else features


def presence(features: Features) -> Features:
    """1 if a node has a feature and 0 otherwise, in the float type and storage of the features."""
    if (n_holders(features) % features.shape[0] == 0).all():
        raise ParameterError(
            "binarize",
            "is True, which leaves every feature constant: none is zero for some nodes and not for others; "
            "set binarize=False.",
        )
    return map_rows(features, _present)


def in_units(features: Features) -> Features:
    """Divide each non-negative feature by the mean of its non-zero values, in double precision.

    Zeros and ones do not change, and the sum of a feature becomes the number of nodes that have it. The result must not
    be changed, because sparse features whose means are all 1 are not copied.
    """
    if not in_memory(features):
        return map_rows(features, scale_columns, 1 / typical_values(features))
    if not sparse.issparse(features):
        values: FloatArray = np.asarray(features, dtype=np.float64)
        return values / _means(values.sum(axis=0), np.count_nonzero(values, axis=0))
    rows = without_zeros(features)
    means = _means(rows.sum(axis=0), n_holders(rows))
    if (means == 1).all():
        return rows
    scaled = without_zeros(rows, own_values=True)
    scale_by_column(scaled, means, np.divide)
    return scaled


def _means(sums: FloatArray, holders: IntArray) -> FloatArray:
    """Mean over the nodes that have the feature; 1 if no node has it."""
    means: FloatArray = np.where(holders > 0, sums / np.maximum(holders, 1), 1.0)
    return means


def typical_values(chunks: RowChunks) -> FloatArray:
    """Mean of the non-zero values of each column: (m,)."""
    holders, sums = chunks.column_sums()
    return _means(sums, holders.astype(np.intp))


def scale_columns(block: Sparse, rows: slice, by: FloatArray) -> Sparse:
    """A copy with each column multiplied by a number, in double precision and without stored zeros."""
    scaled = without_zeros(block, own_values=True)
    scale_by_column(scaled, by)
    return scaled


def _equal_values(block: Sparse, rows: slice, units: FloatArray) -> IntArray:
    """Number of values of each column that are equal to its unit: (m,)."""
    equal = np.abs(block.data / units[block.indices] - 1) < _EQUAL
    return np.bincount(block.indices[equal], minlength=block.shape[1])


def _in_double(block: Features, rows: slice) -> Features:
    return block.astype(np.float64, copy=False)


def _present(features: Features, rows: slice) -> Features:
    if sparse.issparse(features) and features.has_canonical_format and features.data.all():  # indices are shared
        data = np.ones_like(features.data)
        return type(features)((data, features.indices, features.indptr), shape=features.shape)
    return (features != 0).astype(features.dtype)
