"""Array types, and the order of features by score."""

from __future__ import annotations

from typing import Any, TypeAlias

import array_api_compat.numpy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.intp]
ObjectArray: TypeAlias = NDArray[np.object_]
Sparse: TypeAlias = csr_array
Features: TypeAlias = Any  # float matrix (n, m): NumPy, CSR or RowChunks
Array: TypeAlias = Any  # NumPy or torch


def namespace(array: Array) -> Any:
    """The array namespace of NumPy or torch; unlike the lookup in array_api_compat, it can be compiled by torch."""
    if isinstance(array, (np.ndarray, np.generic)):
        return array_api_compat.numpy
    import array_api_compat.torch as torch_namespace

    return torch_namespace


def to_numpy(array: Array) -> NDArray[Any]:
    """Convert an array on any device to NumPy."""
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def best_first(scores: FloatArray) -> IntArray:
    """Indices ordered by decreasing score, equal scores by index.

    Scores that differ only by rounding count as equal, because sums over identical features may differ by rounding.
    """
    finite = np.abs(scores[np.isfinite(scores)])
    scale = finite.max() if finite.size and finite.max() > 0 else 1.0
    return np.argsort(-np.round(scores / scale, 12), kind="stable")
