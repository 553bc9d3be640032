"""Blocks by non-negative tri-factorisation S ≈ F M Fᵀ, from many random starts at once (paper: F, M).

S is the graph itself ("onmtf", the paper's family), the degree-normalised graph ("normalized") or its square
("two_hop"). The updates are those of Ding, Li, Peng and Park (KDD 2006) for F ≥ 0, FᵀF = I.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import degree_normalized, unit_weights
from blockselect.blockmodels.families.search import Search

Operator = Callable[[FloatArray], FloatArray]  # symmetric, non-negative: (n, q) → (n, q)

_STRIDE = 20  # iterations between two looks at how far a start has come
_GAIN = 2e-5  # of the fit over one stride: a start at rest gains less; one between two climbs gains more
_FLOOR = {  # of what is divided by: in single precision, ratios by anything less could overflow
    np.dtype(np.float64): float(np.finfo(np.float64).tiny),
    np.dtype(np.float32): 1e-20,
}


def onmtf_labels(search: Search, *, n_iter: int = 100) -> list[IntArray]:
    """The paper's block model: A ≈ F M Fᵀ, 100 iterations; the largest entry of each row of F names the block.

    All starts advance together: one sparse product A @ [F₁ F₂ …] an iteration serves them all, so `n_jobs` has
    nothing to add. A block that no node prefers at the end is left out of the numbering.
    """
    factors = Factorization(chain(search.adjacency), search.adjacency.shape[0], search.n_blocks, search.rngs)
    for done in range(0, n_iter, _STRIDE):
        search.progress(done, n_iter)
        factors.advance(min(_STRIDE, n_iter - done))
    return list(factors.labels())


def normalized_labels(search: Search) -> list[IntArray]:
    """Blocks of P ≈ F M Fᵀ, P = (D + τI)^-½ A (D + τI)^-½, τ the mean degree: hubs form no blocks of their own."""
    P = degree_normalized(unit_weights(search.adjacency)).astype(np.float32)
    return settled_labels(chain(P), search)


def two_hop_labels(search: Search) -> list[IntArray]:
    """Blocks of P² ≈ F M Fᵀ: nodes that share neighbours, whether or not they are linked. P² is never formed."""
    P = degree_normalized(unit_weights(search.adjacency)).astype(np.float32)
    return settled_labels(chain(P, P), search)


def chain(*factors: Sparse) -> Operator:
    """The product of these matrices as an operator, never formed: the last is applied first."""

    def apply(columns: FloatArray) -> FloatArray:
        for factor in reversed(factors):
            columns = factor @ columns
        return columns

    return apply


class Factorization:
    """Random starts that advance together by the multiplicative updates of Ding, Li, Peng and Park (KDD 2006).

    The columns of all F stand side by side, so that one product with the operator serves every start. No number of a
    start depends on which others stand beside it.
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
        """Update F and M this many times."""
        F, M, SF = _by_start(self._F), self._M, _by_start(self._SF)  # (c, n, k) (c, k, k) (c, n, k)
        ratio, below = (_by_start(np.empty_like(self._F)) for _ in range(2))
        for _ in range(n_iter):
            np.matmul(SF, M, out=ratio)
            np.matmul(F, F.mT @ ratio, out=below)
            np.maximum(below, self._floor, out=below)
            np.divide(ratio, below, out=ratio)
            np.sqrt(ratio, out=ratio)
            np.multiply(F, ratio, out=F)
            self._SF = self._multiply()
            SF = _by_start(self._SF)
            FF = F.mT @ F
            M *= np.sqrt(F.mT @ SF / np.maximum(FF @ M @ FF, self._floor))

    def fit(self) -> FloatArray:
        """‖S‖² − ‖S − F M Fᵀ‖² of each start, which needs no norm of S: (c,)."""
        F, M, SF = _by_start(self._F), self._M, _by_start(self._SF)
        MFF = M @ (F.mT @ F)
        return np.asarray(np.sum(2 * M * (F.mT @ SF) - MFF * MFF.mT, axis=(1, 2), dtype=np.float64))

    def labels(self) -> IntArray:
        """The block of each node by each start, the largest entry of a row of F, the first of equals: (c, n)."""
        return np.asarray(self._F.argmax(axis=2).T)

    def keep(self, starts: NDArray[np.bool_]) -> None:
        """Go on with these starts (c,) alone."""
        self._F, self._M, self._SF = self._F[:, starts], self._M[starts], self._SF[:, starts]

    def _multiply(self) -> FloatArray:
        n, c, k = self._F.shape
        return np.asarray(self._operator(self._F.reshape(n, c * k))).reshape(n, c, k)


def settled_labels(operator: Operator, search: Search) -> list[IntArray]:
    """Blocks of each random start, advanced until its fit stands still; single precision, as labels need no more.

    The starts are divided among `n_jobs` threads: the products release the interpreter lock.
    """
    n_parts = min(effective_n_jobs(search.n_jobs), len(search.rngs))
    parts = [list(search.rngs[at::n_parts]) for at in range(n_parts)]
    with threadpool_limits(limits=1):  # sums over threads arrive in any order: one thread, one result
        found = Parallel(n_jobs=n_parts, prefer="threads")(
            delayed(_settle)(
                Factorization(operator, search.adjacency.shape[0], search.n_blocks, part, dtype=np.float32),
                search.max_iter,
            )
            for part in parts
        )
    return [found[at % n_parts][at // n_parts] for at in range(len(search.rngs))]


def _settle(factors: Factorization, max_iter: int) -> IntArray:
    labels, fit = factors.labels(), factors.fit()
    running = np.arange(len(labels))
    for _ in range(ceil(max_iter / _STRIDE)):
        factors.advance(_STRIDE)
        labels[running], before, fit = factors.labels(), fit, factors.fit()
        gains = np.abs(fit - before) > _GAIN * fit
        if not gains.all():
            running, fit = running[gains], fit[gains]
            factors.keep(gains)
        if not len(running):
            break
    return labels


def _by_start(columns: FloatArray) -> FloatArray:
    return columns.transpose(1, 0, 2)


def _random_symmetric(n_blocks: int, rng: np.random.Generator) -> FloatArray:
    half = rng.random((n_blocks, n_blocks))
    return (half + half.T) / 2
