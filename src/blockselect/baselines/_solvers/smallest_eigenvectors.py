"""Smallest eigenvectors of a large symmetric operator, by preconditioned steps that never go up.

The method is Knyazev's LOBPCG. SciPy's own factorises Gram matrices of its vectors, which fails where eigenvalues lie
many orders of magnitude apart, as they do beside row weights; here all vectors are kept orthonormal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blockselect.arrays import FloatArray

Apply = Callable[[FloatArray], FloatArray]  # (m, c) → (m, c)


def smallest_eigenvectors(
    apply: Apply, start: FloatArray, precondition: Apply, *, count: int, tol: float, max_steps: int
) -> FloatArray:
    """Orthonormal approximations Z (m, count) of the eigenvectors with the smallest eigenvalues, smallest first.

    Parameters
    ----------
    apply : callable
        The symmetric operator A on each column.
    start : array of shape (m, c), 3c ≤ m
        c ≥ count independent columns. Every step keeps what there is in the space it searches: tr(ZᵀAZ) never rises,
        whether or not the steps suffice. Columns beyond `count` help the last ones to settle.
    precondition : callable
        Something like the inverse of A, symmetric and positive.
    count : int
    tol : float
        Residual ‖Az − λz‖ at which an eigenvector has settled.
    max_steps : int
    """
    Z = np.linalg.qr(start)[0]
    AZ = apply(Z)
    values, turn = np.linalg.eigh(Z.T @ AZ)
    Z, AZ, last = Z @ turn, AZ @ turn, np.zeros((len(Z), 0))
    c = len(values)
    for _ in range(max_steps):
        residual = AZ - Z * values
        if np.linalg.norm(residual[:, :count], axis=0).max() <= tol:
            break
        Q = _orthonormal_beside(Z, np.column_stack([precondition(residual), last]))
        AQ = apply(Q)
        across = Z.T @ AQ
        inner = np.block([[np.diag(values), across], [across.T, Q.T @ AQ]])
        values, turn = (found[..., :c] for found in np.linalg.eigh((inner + inner.T) / 2))
        last = Q @ turn[c:]
        Z, AZ = Z @ turn[:c] + last, AZ @ turn[:c] + AQ @ turn[c:]
    return np.asarray(Z[:, :count])


def _orthonormal_beside(Z: FloatArray, vectors: FloatArray) -> FloatArray:
    """Orthonormal columns that span, together with Z, the given vectors; twice, as the first leaves rounding."""
    for _ in range(2):
        vectors = np.linalg.qr(vectors - Z @ (Z.T @ vectors))[0]
    return vectors
