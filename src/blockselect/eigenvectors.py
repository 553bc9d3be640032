"""Eigenvectors at the end of a spectrum, found in bounded time even where eigenvalues crowd there.

Lanczos iterations take ever more products the closer eigenvalues lie together: along a path or a ring of a few thousand
nodes they do not settle at all. So they get a bounded number of restarts. After that a small matrix is decomposed as it
is, and of a large one the best approximations come from a random block and what products make of it [1]_: their
eigenvalues are close to the true ones whether or not there are gaps, and a vector may mix those of eigenvalues that
hardly differ.

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

from blockselect.arrays import FloatArray

_RESTARTS = 500  # of Lanczos: graphs with weak blocks among 40,000 nodes take 250
_SMALL = 1000  # rows of a matrix that is decomposed as a whole within a second
_ROUNDING = 1e3  # times the float's precision: what is smaller, relatively, is none
_KRYLOV_SIZE = 200  # least dimension of the space that a random block and its products span
_SEEDED = "rng" in inspect.signature(eigsh).parameters  # SciPy ≥ 1.17: vectors that eigsh draws come from a generator


def extreme_eigenvectors(
    matrix: Any,
    count: int,
    *,
    which: Literal["magnitude", "largest"],
    rng: np.random.Generator,
    tol: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (count,) and orthonormal eigenvectors (n, count), in no particular order.

    Parameters
    ----------
    matrix : array, sparse matrix or LinearOperator of shape (n, n)
        Symmetric, with n > count.
    count : int
    which : {"magnitude", "largest"}
        Eigenvalues largest by magnitude, or largest.
    rng : numpy.random.Generator
        Draws where to start.
    tol : float, default=0.0
        Relative error allowed to eigenvalues; 0: rounding.
    """
    n = matrix.shape[0]
    try:
        return lanczos(matrix, count, which=which, rng=rng, restarts=_RESTARTS, tol=tol)
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
    """As `extreme_eigenvectors`, by restarted Lanczos iterations alone, whose numbers all come from the generator.

    Parameters
    ----------
    restarts : int
        The most that are made.
    n_held : int, optional
        Vectors held at once; default: 2·count + 1, at least 20.

    Raises
    ------
    ArpackError
        Where eigenvectors are not found with so many restarts, or not without numbers that cannot be seeded.
    """
    n = matrix.shape[0]
    n_held = min(n, max(2 * count + 1, 20)) if n_held is None else n_held
    start = rng.standard_normal(n).astype(matrix.dtype, copy=False)
    if not _SEEDED and _is_exhausted(matrix, start, n_held):
        raise ArpackNoConvergence("a start and its products span too few dimensions", np.zeros(0), np.zeros((n, 0)))
    code = {"magnitude": "LM", "largest": "LA"}[which]
    values, vectors = eigsh(matrix, k=count, which=code, v0=start, ncv=n_held, tol=tol, maxiter=restarts, **draws(rng))
    return values, vectors


def draws(rng: np.random.Generator) -> dict[str, np.random.Generator]:
    """Option of eigsh for vectors that it draws on its way; older versions of SciPy have none."""
    return {"rng": rng} if _SEEDED else {}


def _is_exhausted(matrix: Any, start: FloatArray, size: int) -> bool:
    """Whether a start and its products span fewer dimensions than that, those of a basis of eigsh.

    There eigsh goes on with a vector drawn at random. Before SciPy 1.17 the numbers come from where the last call of
    the process left off, so that two calls with the same matrix would differ.
    """
    basis = np.zeros((len(start), size), dtype=start.dtype)
    new, scale = start, 0.0  # the largest product so far
    for column in range(size):
        left = new
        for _ in range(2):  # the first time leaves rounding
            left = left - basis @ (basis.T @ left)
        length = float(np.linalg.norm(left))
        if length <= _ROUNDING * float(np.finfo(start.dtype).eps) * scale:
            return True
        basis[:, column] = left / length
        new = np.asarray(matrix @ basis[:, column])
        scale = max(scale, float(np.linalg.norm(new)))
    return False


def _krylov_basis(matrix: Any, count: int, rng: np.random.Generator) -> FloatArray:
    """Orthonormal columns that span a random block, its product with the matrix, the product of that, and so on."""
    n = matrix.shape[0]
    width = min(n, max(_KRYLOV_SIZE, 3 * count))
    basis = np.zeros((n, width), dtype=matrix.dtype)
    block = rng.standard_normal((n, count)).astype(matrix.dtype, copy=False)
    for first in range(0, width, count):
        for _ in range(2):  # the first time leaves rounding
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis[:, first : first + count] = block[:, : width - first]
        block = np.asarray(matrix @ block)
    return np.asarray(np.linalg.qr(basis)[0])  # a block of rounding alone may lean on earlier ones


def _within(basis: FloatArray, matrix: Any, count: int, which: str) -> tuple[FloatArray, FloatArray]:
    """The best approximations within the space of orthonormal columns (Rayleigh and Ritz)."""
    inner = basis.T @ np.asarray(matrix @ basis)
    values, turn = np.linalg.eigh((inner + inner.T) / 2)
    best = np.argsort(np.abs(values) if which == "magnitude" else values, kind="stable")[-count:]
    return values[best], basis @ turn[:, best]
