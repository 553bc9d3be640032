"""Minimise f(Z) + penalty · ‖Z‖₂,₁, the sum of the lengths of the rows of Z, by reweighting.

‖Z‖₂,₁ lies below Σᵢ wᵢ‖zᵢ‖² plus a constant, with weights wᵢ = 1/(2‖zᵢ‖) of the last Z, and meets it there. Each
iteration minimises this quadratic bound in place of the norm, so that the objective never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from blockselect.arrays import FloatArray

Solve = Callable[[FloatArray, FloatArray], tuple[FloatArray, float]]  # row weights (m,), last Z → Z (m, c), f(Z)


@dataclass(frozen=True, slots=True, eq=False)
class Reweighted:
    """Row-sparse coefficients, and how they were reached."""

    coefficients: FloatArray  # (m, c) (paper: Z)
    history: FloatArray  # (t,) objective after each iteration
    settled: bool  # within the tolerance before the last iteration


def reweight(
    solve: Solve,
    start: FloatArray,
    *,
    penalty: float,
    max_iter: int,
    tol: float,
    relative: bool = True,
    shortest: float = 1e-16,
) -> Reweighted:
    """Solve again and again with the row weights of the last solution.

    Parameters
    ----------
    solve : callable
        Row weights w (m,) and the last Z → the minimiser Z of f(Z) + penalty · Σᵢ wᵢ‖zᵢ‖² (or some steps towards it),
        and f(Z). The first weights are 1.
    start : array of shape (m, c)
        What the first solve gets as the last Z.
    penalty : float
        Weight of ‖Z‖₂,₁.
    max_iter : int
        Most iterations.
    tol : float
        Stop once the objective changes by less than this, or this share of it where `relative`. 0 never stops early.
    shortest : float
        Rows shorter than this count as this long in their weights.
    """
    Z = start
    weights: FloatArray = np.ones(len(start))
    history: list[float] = []
    for _ in range(max_iter):
        Z, value = solve(weights, Z)
        weights = row_weights(Z, shortest)
        history.append(value + penalty * float(row_norms(Z).sum()))
        scale = abs(history[-1]) if relative else 1.0
        if len(history) > 1 and abs(history[-1] - history[-2]) < tol * scale:
            return Reweighted(Z, np.array(history), settled=True)
    return Reweighted(Z, np.array(history), settled=False)


def row_norms(Z: FloatArray) -> FloatArray:
    """‖zᵢ‖ of each row."""
    norms: FloatArray = np.sqrt(np.einsum("ij,ij->i", Z, Z))
    return norms


def row_weights(Z: FloatArray, shortest: float = 1e-16) -> FloatArray:
    """1/(2‖zᵢ‖), rows shorter than `shortest` counted as that long."""
    return 0.5 / np.maximum(row_norms(Z), shortest)
