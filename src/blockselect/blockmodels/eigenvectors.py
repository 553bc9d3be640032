"""Leading eigenvectors of a symmetric matrix or operator, the same every time."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

from blockselect.arrays import FloatArray

_SMALL = 200  # nodes up to which a dense eigendecomposition is at least as quick, and exact for any k
_RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest are rounding
_SEEDED = "rng" in inspect.signature(eigsh).parameters  # SciPy ≥ 1.17: restarts within eigsh draw fresh vectors


def leading_eigenvectors(matrix: Any, count: int, *, tol: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues largest by magnitude (at most count,) and their vectors (n, at most count), the largest first.

    `tol` is the relative error allowed to eigenvalues of large matrices, 0: rounding. Vectors of eigenvalues that are
    zero but for rounding are arbitrary: they come as zero.
    """
    n = matrix.shape[0]
    if n <= max(_SMALL, count + 1):
        values, vectors = np.linalg.eigh(matrix @ np.eye(n))
    else:
        rng = np.random.default_rng(0)  # a start that follows the graph's symmetries would miss what breaks them
        seeded = {"rng": rng} if _SEEDED else {}
        values, vectors = eigsh(matrix, k=count, which="LM", v0=rng.standard_normal(n), tol=tol, **seeded)
    leading = np.argsort(-np.abs(values), kind="stable")[:count]
    real = np.abs(values[leading]) > _RANK_TOLERANCE * np.abs(values[leading[0]])
    return np.where(real, values[leading], 0.0), np.where(real, vectors[:, leading], 0.0)
