"""Blocks from non-negative tri-factorisations S ≈ F M Fᵀ, with several random starts at once (paper: F, M).

S is the graph itself ("onmtf", the family of the paper), the degree-normalised graph ("normalized") or its square
("two_hop"). The updates are those of Ding, Li, Peng and Park (KDD 2006) for F ≥ 0 and FᵀF = I.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from blockselect.blockmodels.embedding import degree_normalized, product_of, unit_weights
from blockselect.blockmodels.families import Search, Start
from blockselect.utils.arrays import FloatArray, IntArray, Sparse
from blockselect.utils.threads import Shared

Operator: TypeAlias = Callable[[FloatArray], FloatArray]  # symmetric: columns (n, q) → (n, q)

_STRIDE = 20  # iterations between tests of convergence
_GAIN = 2e-5  # relative improvement of the fit per stride below which a start has converged
_FLOOR = {  # smallest divisor; in single precision, a smaller one could cause an overflow
    np.dtype(np.float64): float(np.finfo(np.float64).tiny),
    np.dtype(np.float32): 1e-20,
}


def onmtf_starts(search: Search, *, n_iter: int = 100) -> list[Start]:
    """The paper's block model: A ≈ F M Fᵀ, 100 iterations; the largest entry of a node's row of F is its block.

    All starts advance together, with one sparse product A @ [F₁ F₂ …] per iteration, so `n_jobs` has no effect. Blocks
    without nodes are dropped.
    """

    def factorize() -> Sequence[IntArray]:
        A = search.adjacency
        factors = Factorization(lambda columns: A @ columns, A.shape[0], search.n_blocks, search.rngs)
        for done in range(n_iter):
            if done % _STRIDE == 0:
                search.progress(done, n_iter)
            factors.advance(1)
        return list(factors.labels())

    return _starts_together([Shared(factorize)], len(search.rngs))


def normalized_starts(search: Search) -> list[Start]:
    """Blocks of P ≈ F M Fᵀ, P = (D + τI)^-½ A (D + τI)^-½, τ the mean degree, so that hubs do not form blocks."""
    normalized = Shared(lambda: product_of(_normalized(search)))
    return settled_starts(normalized, search)


def two_hop_starts(search: Search) -> list[Start]:
    """Blocks of P² ≈ F M Fᵀ: nodes with common neighbours, linked or not. P² is never formed."""
    normalized = Shared(lambda: product_of(*[_normalized(search)] * 2))
    return settled_starts(normalized, search)


def _normalized(search: Search) -> Sparse:
    """P in single precision, which is enough for labels."""
    return degree_normalized(unit_weights(search.adjacency)).astype(np.float32)


class Factorization:
    """Several random starts of the multiplicative updates of Ding, Li, Peng and Park (KDD 2006).

    The columns of all F are stored next to each other, so that each iteration needs only one product with the operator.
    The result of a start does not depend on the other starts.
    """

    def __init__(
        self,
        operator: Operator,
        n_nodes: int,
        n_blocks: int,
        rngs: Sequence[np.random.Generator],
        *,
        dtype: Any = np.float64,
    ) -> None:
        drawn = [(rng.random((n_nodes, n_blocks)), _random_symmetric(n_blocks, rng)) for rng in rngs]
        self._operator = operator
        self._floor = _FLOOR[np.dtype(dtype)]
        self._F = np.stack([F for F, _ in drawn], axis=1).astype(dtype, copy=False)  # (n, c, k)
        self._M = np.stack([M for _, M in drawn]).astype(dtype, copy=False)  # (c, k, k)
        self._SF = self._multiply()  # (n, c, k)

    def advance(self, n_iter: int) -> None:
        """Update F and M in place, `n_iter` times."""
        F, M, SF = self._F, self._M, self._SF  # (n, c, k) (c, k, k) (n, c, k)
        ratio, below = np.empty_like(F), np.empty_like(F)
        for _ in range(n_iter):
            np.matmul(_by_start(SF), M, out=_by_start(ratio))
            np.matmul(_by_start(F), _inner_products(F, ratio), out=_by_start(below))
            np.divide(ratio, np.maximum(below, self._floor, out=below), out=ratio)
            np.sqrt(ratio, out=ratio)
            np.multiply(F, ratio, out=F)
            SF[...] = self._multiply()
            FF = _inner_products(F, F)
            np.multiply(M, np.sqrt(_inner_products(F, SF) / np.maximum(FF @ M @ FF, self._floor)), out=M)

    def fit(self) -> FloatArray:
        """‖S‖² − ‖S − F M Fᵀ‖² of each start, computed without the norm of S: (c,)."""
        F, M = self._F, self._M
        MFF = M @ _inner_products(F, F)
        fits: FloatArray = np.sum(2 * M * _inner_products(F, self._SF) - MFF * MFF.mT, axis=(1, 2), dtype=np.float64)
        return fits

    def labels(self) -> IntArray:
        """The block of each node in each start, which is the (first) largest entry of its row of F: (c, n)."""
        return np.array(self._F.argmax(axis=2).T)

    def keep(self, starts: NDArray[np.bool_]) -> None:
        """Drop all starts except these."""
        self._M = self._M[starts]
        self._F, self._SF = (np.ascontiguousarray(part[:, starts]) for part in (self._F, self._SF))

    def _multiply(self) -> FloatArray:
        n, c, k = self._F.shape
        return self._operator(self._F.reshape(n, c * k)).reshape(n, c, k)


def settled_starts(operator: Callable[[], Operator], search: Search) -> list[Start]:
    """Blocks from each random start, which is advanced in single precision until its fit has converged.

    The starts are split into as many groups as there are threads, and each group advances together.
    """
    n_groups = min(effective_n_jobs(search.n_jobs), len(search.rngs))

    def settle(rngs: Sequence[np.random.Generator]) -> Sequence[IntArray]:
        n_nodes = search.adjacency.shape[0]
        factors = Factorization(operator(), n_nodes, search.n_blocks, rngs, dtype=np.float32)
        return list(_settle(factors, search.max_iter))

    groups = [Shared(partial(settle, search.rngs[at::n_groups])) for at in range(n_groups)]
    return _starts_together(groups, len(search.rngs))


def _starts_together(groups: Sequence[Shared[Sequence[IntArray]]], n_starts: int) -> list[Start]:
    """Starts that are computed together in groups: start i is in group i modulo the number of groups."""
    n = len(groups)
    return [partial(_labels_of, groups[at % n], at // n) for at in range(n_starts)]


def _labels_of(group: Shared[Sequence[IntArray]], at: int) -> IntArray:
    return group()[at]


def _settle(factors: Factorization, max_iter: int) -> IntArray:
    labels, fit = factors.labels(), factors.fit()
    running = np.arange(len(labels))
    for _ in range(ceil(max_iter / _STRIDE)):
        factors.advance(_STRIDE)
        before, fit = fit, factors.fit()
        labels[running] = factors.labels()
        gains = np.abs(fit - before) > _GAIN * fit
        if not gains.all():
            running, fit = running[gains], fit[gains]
            if not len(running):
                break
            factors.keep(gains)
    return labels


def _by_start(columns: FloatArray) -> FloatArray:
    return columns.swapaxes(0, 1)


def _inner_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Fᵀ G for each of c starts: (n, c, k) and (n, c, q) give (c, k, q)."""
    return _by_start(left).mT @ _by_start(right)


def _random_symmetric(n_blocks: int, rng: np.random.Generator) -> FloatArray:
    half = rng.random((n_blocks, n_blocks))
    return (half + half.T) / 2
