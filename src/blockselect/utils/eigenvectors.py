"""Leading eigenvectors, found in bounded time even if eigenvalues are close together.

The closer the eigenvalues are, the more products Lanczos iterations take; for a path or a ring of a few thousand nodes
they do not converge. Therefore the restarts are limited. If they do not suffice, a small matrix is decomposed
completely, and the eigenvectors of a large one are approximated in the Krylov space of a random block [1]_: their
eigenvalues are close to the true ones with or without gaps, and a vector may mix eigenvectors with almost equal
eigenvalues.

References
----------
.. [1] C. Musco, C. Musco. Randomized block Krylov methods for stronger and faster approximate singular value
   decomposition. Advances in Neural Information Processing Systems, 2015.
"""

from __future__ import annotations

import inspect
from typing import Any, Literal

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

from blockselect.utils.arrays import FloatArray

_RESTARTS = 500  # limit for Lanczos iterations; graphs of 40,000 nodes with weak blocks need 250
_SMALL = 1000  # size of a matrix whose complete decomposition takes less than a second
_ROUNDING = 1e3  # relative norms below this multiple of the machine precision count as zero
_KRYLOV_SIZE = 200  # smallest dimension of the Krylov space of a random block
_SEEDED = "rng" in inspect.signature(eigsh).parameters  # SciPy ≥ 1.17: eigsh draws vectors from a given generator


def extreme_eigenvectors(
    matrix: Any,
    count: int,
    *,
    which: Literal["magnitude", "largest"],
    rng: np.random.Generator,
    restarts: int = _RESTARTS,
    tol: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (count,) and orthonormal eigenvectors (n, count), in no particular order.

    Parameters
    ----------
    matrix : array, sparse matrix or LinearOperator of shape (n, n)
        Symmetric, with n > count.
    count : int
    which : {"magnitude", "largest"}
        The eigenvalues of largest magnitude, or the largest ones.
    rng : numpy.random.Generator
        Draws the starting vector.
    restarts : int
        Maximum number of restarts of Lanczos iterations.
    tol : float, default=0.0
        Allowed relative error of eigenvalues; 0 stands for machine precision.
    """
    n = matrix.shape[0]
    try:
        return lanczos(matrix, count, which=which, rng=rng, restarts=restarts, tol=tol)
    except ArpackError:
        pass
    basis = np.eye(n, dtype=matrix.dtype) if n <= _SMALL else _krylov_basis(matrix, count, rng)
    return _within(basis, matrix, count, which)


def lanczos(
    matrix: Any,
    count: int,
    *,
    which: Literal["magnitude", "largest"],
    rng: np.random.Generator,
    restarts: int,
    n_held: int | None = None,
    tol: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Like `extreme_eigenvectors`, but only with restarted Lanczos iterations, seeded by the generator.

    Parameters
    ----------
    restarts : int
        Maximum number of restarts.
    n_held : int, optional
        Number of vectors stored at once; the default is 2·count + 1, at least 20.

    Raises
    ------
    ArpackError
        If the restarts do not suffice, or if SciPy would need random numbers that cannot be seeded.
    """
    n = matrix.shape[0]
    n_held = min(n, max(2 * count + 1, 20)) if n_held is None else n_held
    start = rng.standard_normal(n).astype(matrix.dtype, copy=False)
    if not _SEEDED and _is_exhausted(matrix, start, n_held):
        raise ArpackNoConvergence(
            "the Krylov space of the starting vector has too few dimensions", np.zeros(0), np.zeros((n, 0))
        )
    code = {"magnitude": "LM", "largest": "LA"}[which]
    values, vectors = eigsh(matrix, k=count, which=code, v0=start, ncv=n_held, tol=tol, maxiter=restarts, **draws(rng))
    return values, vectors


def draws(rng: np.random.Generator) -> dict[str, np.random.Generator]:
    """The keyword argument of eigsh for random vectors; empty for older versions of SciPy, which lack it."""
    return {"rng": rng} if _SEEDED else {}


def _is_exhausted(matrix: Any, start: FloatArray, size: int) -> bool:
    """Whether the Krylov space of the start has fewer dimensions than `size`, the size of the basis in eigsh.

    In that case eigsh continues with a random vector. Before SciPy 1.17, its random numbers cannot be seeded, so two
    calls with the same matrix would give different results.
    """
    basis = np.zeros((len(start), size), dtype=start.dtype)
    new, scale = start, 0.0  # the largest product so far
    for column in range(size):
        left = new
        for _ in range(2):  # the first pass leaves rounding errors
            left = left - basis @ (basis.T @ left)
        length = float(np.linalg.norm(left))
        if length <= _ROUNDING * float(np.finfo(start.dtype).eps) * scale:
            return True
        basis[:, column] = left / length
        new = np.asarray(matrix @ basis[:, column])
        scale = max(scale, float(np.linalg.norm(new)))
    return False


def _krylov_basis(matrix: Any, count: int, rng: np.random.Generator) -> FloatArray:
    """An orthonormal basis of the Krylov space of a random block."""
    n = matrix.shape[0]
    width = min(n, max(_KRYLOV_SIZE, 3 * count))
    basis = np.zeros((n, width), dtype=matrix.dtype)
    block = rng.standard_normal((n, count)).astype(matrix.dtype, copy=False)
    for first in range(0, width, count):
        for _ in range(2):  # the first pass leaves rounding errors
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis[:, first : first + count] = block[:, : width - first]
        block = np.asarray(matrix @ block)
    return np.asarray(np.linalg.qr(basis)[0])  # blocks of rounding errors may depend on earlier blocks


def _within(basis: FloatArray, matrix: Any, count: int, which: str) -> tuple[FloatArray, FloatArray]:
    """The best approximations in the space of the orthonormal columns of `basis` (Rayleigh–Ritz)."""
    inner = basis.T @ np.asarray(matrix @ basis)
    values, turn = np.linalg.eigh((inner + inner.T) / 2)
    best = np.argsort(np.abs(values) if which == "magnitude" else values, kind="stable")[-count:]
    return values[best], basis @ turn[:, best]
