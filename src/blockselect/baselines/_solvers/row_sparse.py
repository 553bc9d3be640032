"""Minimise f(Z) + penalty · ‖Z‖₂,₁, where ‖Z‖₂,₁ is the sum of the row norms of Z, by reweighting.

With the weights wᵢ = 1/(2‖zᵢ‖) of the previous Z, ‖Z‖₂,₁ is at most Σᵢ wᵢ‖zᵢ‖² plus a constant, with equality at the
previous Z. Each iteration minimises this quadratic bound instead of the norm, so the objective never increases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils.extmath import row_norms

from blockselect.utils.arrays import Features, FloatArray, IntArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers, check_n_blocks, check_start
from blockselect.utils.threads import one_thread

Solve = Callable[[FloatArray, FloatArray], tuple[FloatArray, float]]  # row weights (m,), last Z → Z (m, c), f(Z)


@dataclass(frozen=True, slots=True, eq=False)
class Reweighted:
    """Row-sparse coefficients and the history of the iterations."""

    coefficients: FloatArray  # (m, c) (paper: Z)
    history: FloatArray  # (t,) objective after each iteration
    settled: bool  # whether the iterations stopped because of the tolerance


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
    """Solve repeatedly with the row weights of the previous solution.

    Parameters
    ----------
    solve : callable
        Row weights w (m,) and the previous Z → the minimiser Z of f(Z) + penalty · Σᵢ wᵢ‖zᵢ‖² (or a point closer to
        it), and f(Z). The first weights are 1.
    start : array of shape (m, c)
        The Z that the first solve receives as the previous one.
    penalty : float
        Weight of ‖Z‖₂,₁.
    max_iter : int
        Maximum number of iterations.
    tol : float
        Stop once the objective changes by less than this, or by less than this fraction of it if `relative` is true.
        with 0, all iterations are run.
    shortest : float
        Lower limit of the row norms from which the weights are computed.
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


def row_weights(Z: FloatArray, shortest: float = 1e-16) -> FloatArray:
    """1/(2‖zᵢ‖), where row norms below `shortest` are replaced by it."""
    return np.asarray(0.5 / np.maximum(row_norms(Z), shortest))


@contextmanager
def explain_singular(features: Features, parameter: str, value: float) -> Iterator[None]:
    """Explain why a matrix is singular although a penalty should make it definite."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ParameterError(
            parameter,
            f"is {value:g}, which is lost to rounding next to features as large as {abs(features).max():.3g}; divide "
            f"the features by their largest value, or increase {parameter}.",
        ) from error


def check_initial_clusters(clusters: Any, n_blocks: int, n_nodes: int) -> None:
    """Check that initial clusters are finite and non-negative with one row per node; if None, check `n_blocks`."""
    if clusters is None:
        check_n_blocks(n_blocks, n_nodes)
        return
    expected = f"one row for each of the {n_nodes} nodes and one column per cluster"
    check_start("initial_clusters", as_numbers("initial_clusters", clusters, (n_nodes, None), expected))


def kmeans_labels(rows: Features, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Cluster of each row by K-means with ten random starts; any number of threads gives the same result. (n,)"""
    seed = int(rng.integers(2**31))
    with one_thread():  # sums over several threads would round differently
        labels = KMeans(n_clusters, n_init=10, random_state=seed).fit(rows).labels_
    return np.asarray(labels, dtype=np.intp)
