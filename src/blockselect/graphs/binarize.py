"""How features are read: counts as present or absent, values in units of their mean."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.errors import ParameterError
from blockselect.graphs.column_statistics import constant_columns

_LARGEST_MULTIPLE = 1e4  # of larger ones in another unit rounding leaves no trace of whole numbers


def are_sparse_counts(features: Features) -> bool:
    """Whether the features count something seldom: whole numbers, some above one, and more zeros than not.

    They may come in any unit, such as thousandths: multiples of the smallest of them are counts too.
    """
    values = features.data if sparse.issparse(features) else features
    if np.count_nonzero(values) * 2 >= np.prod(features.shape):
        return False
    counts = values.max(initial=0) > 1 and (values == np.floor(values)).all()
    return bool((counts or _are_multiples(values)) and not constant_columns(_present(features)).all())


def _are_multiples(values: FloatArray) -> bool:
    """Whether values are small multiples of the smallest, some of it more than once."""
    positive = values[values > 0]
    if not len(positive) or not 1.5 < positive.max() / positive.min() < _LARGEST_MULTIPLE:
        return False
    multiples = positive / positive.min()
    rounding = 8 * np.finfo(positive.dtype).eps * multiples
    return bool((np.abs(multiples - np.rint(multiples)) <= rounding).all())


def presence(features: Features) -> Features:
    """1 where a node has a feature, else 0, in the features' own float type and form."""
    present = _present(features)
    if constant_columns(present).all():
        raise ParameterError(
            "binarize",
            "is True, which leaves every feature constant: none is zero for some nodes and not for others; "
            "set binarize=False.",
        )
    return present


def in_units(features: Features) -> Features:
    """Each non-negative feature divided by the mean of its non-zero values, in double precision, dense or CSR as given.

    Zeros and ones stay as they are, and a feature's sum is the number of nodes that have it.
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
    """1 where nobody has the feature."""
    means: FloatArray = np.where(n_holders > 0, sums / np.maximum(n_holders, 1), 1.0)
    return means


def _present(features: Features) -> Features:
    return (features != 0).astype(features.dtype)
