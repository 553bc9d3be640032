"""Blocks by non-negative tri-factorisation S ≈ F M Fᵀ, from many random starts at once (paper: F, M).

S is the graph itself ("onmtf", the paper's family), the degree-normalised graph ("normalized") or its square
("two_hop"). The updates are those of Ding, Li, Peng and Park (KDD 2006) for F ≥ 0, FᵀF = I.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import ceil
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from blockselect.arrays import Array, FloatArray, IntArray
from blockselect.blockmodels.embedding import degree_normalized, one_thread, unit_weights
from blockselect.blockmodels.families.search import Search
from blockselect.cuda import replayed
from blockselect.tensors import Operator, chain, import_torch, inner_products, to_device, to_numpy

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
    A = to_device(search.adjacency, search.device)
    factors = Factorization(chain(A), A.shape[0], search.n_blocks, search.rngs, device=search.device)
    with factors.iterating() as iterate:
        for done in range(n_iter):
            if done % _STRIDE == 0:
                search.progress(done, n_iter)
            iterate()
    return list(factors.labels())


def normalized_labels(search: Search) -> list[IntArray]:
    """Blocks of P ≈ F M Fᵀ, P = (D + τI)^-½ A (D + τI)^-½, τ the mean degree: hubs form no blocks of their own."""
    return settled_labels(chain(_normalized(search)), search)


def two_hop_labels(search: Search) -> list[IntArray]:
    """Blocks of P² ≈ F M Fᵀ: nodes that share neighbours, whether or not they are linked. P² is never formed."""
    P = _normalized(search)
    return settled_labels(chain(P, P), search)


def _normalized(search: Search) -> Array:
    """P in single precision, as labels need no more."""
    return to_device(degree_normalized(unit_weights(search.adjacency)).astype(np.float32), search.device)


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
        device: str = "cpu",
    ) -> None:
        drawn = [(rng.random((n_nodes, n_blocks)), _random_symmetric(n_blocks, rng)) for rng in rngs]
        self._operator = operator
        self._floor = _FLOOR[np.dtype(dtype)]
        self._F = to_device(np.stack([F for F, _ in drawn], axis=1).astype(dtype, copy=False), device)  # (n, c, k)
        self._M = to_device(np.stack([M for _, M in drawn]).astype(dtype, copy=False), device)  # (c, k, k)
        self._SF = self._multiply()  # (n, c, k)

    def iterating(self) -> AbstractContextManager[Callable[[], None]]:
        """A function that updates F and M once, in place; on a CUDA device it is captured, and replayed."""
        xp, ratio = _library(self._F), _library(self._F).empty_like(self._F)
        below = xp.empty_like(ratio)
        F, M, SF = self._F, self._M, self._SF  # (n, c, k) (c, k, k) (n, c, k)

        def iterate() -> None:
            xp.matmul(_by_start(SF), M, out=_by_start(ratio))
            xp.matmul(_by_start(F), inner_products(F, ratio), out=_by_start(below))
            xp.divide(ratio, self._at_least_floor(below), out=ratio)
            xp.sqrt(ratio, out=ratio)
            xp.multiply(F, ratio, out=F)
            SF[...] = self._multiply()
            FF = inner_products(F, F)
            xp.multiply(M, xp.sqrt(inner_products(F, SF) / self._at_least_floor(FF @ M @ FF)), out=M)

        return nullcontext(iterate) if isinstance(F, np.ndarray) else replayed(iterate, F)

    def advance(self, n_iter: int) -> None:
        """Update F and M this many times."""
        with self.iterating() as iterate:
            for _ in range(n_iter):
                iterate()

    def fit(self) -> FloatArray:
        """‖S‖² − ‖S − F M Fᵀ‖² of each start, which needs no norm of S: (c,)."""
        xp, F, M = _library(self._F), self._F, self._M
        MFF = M @ inner_products(F, F)
        fits = xp.sum(2 * M * inner_products(F, self._SF) - MFF * MFF.mT, axis=(1, 2), dtype=xp.float64)
        return np.array(to_numpy(fits))

    def labels(self) -> IntArray:
        """The block of each node by each start, the largest entry of a row of F, the first of equals: (c, n)."""
        return np.array(to_numpy(self._F.argmax(axis=2)).T)

    def keep(self, starts: NDArray[np.bool_]) -> None:
        """Go on with these starts (c,) alone."""
        kept = [int(start) for start in np.flatnonzero(starts)]
        self._M = self._M[kept]
        self._F, self._SF = (
            _library(part).stack([part[:, start] for start in kept], axis=1) for part in (self._F, self._SF)
        )

    def _multiply(self) -> Array:
        n, c, k = self._F.shape
        return self._operator(self._F.reshape(n, c * k)).reshape(n, c, k)

    def _at_least_floor(self, x: Array) -> Array:
        """In place: nothing is divided by zero."""
        return np.maximum(x, self._floor, out=x) if isinstance(x, np.ndarray) else x.clamp_(min=self._floor)


def settled_labels(operator: Operator, search: Search) -> list[IntArray]:
    """Blocks of each random start, advanced until its fit stands still; single precision, as labels need no more.

    The starts are divided among `n_jobs` threads: the products release the interpreter lock.
    """
    n_parts = min(effective_n_jobs(search.n_jobs), len(search.rngs)) if search.device == "cpu" else 1
    parts = [list(search.rngs[at::n_parts]) for at in range(n_parts)]
    with one_thread():  # sums over threads arrive in any order: one thread, one result
        found = Parallel(n_jobs=n_parts, prefer="threads")(
            delayed(_settle)(
                Factorization(
                    operator, search.adjacency.shape[0], search.n_blocks, part, dtype=np.float32, device=search.device
                ),
                search.max_iter,
            )
            for part in parts
        )
    return [found[at % n_parts][at // n_parts] for at in range(len(search.rngs))]


def _settle(factors: Factorization, max_iter: int) -> IntArray:
    labels, fit = factors.labels(), factors.fit()
    running, strides = np.arange(len(labels)), iter(range(ceil(max_iter / _STRIDE)))
    gains = np.ones(len(labels), dtype=bool)
    while gains.any():
        with factors.iterating() as iterate:
            for _ in strides:
                for _ in range(_STRIDE):
                    iterate()
                before, fit = fit, factors.fit()
                gains = np.abs(fit - before) > _GAIN * fit
                if not gains.all():
                    break
            else:
                gains[:] = False  # as far as may be
        labels[running] = factors.labels()
        if gains.any():
            running, fit = running[gains], fit[gains]
            factors.keep(gains)
            gains = gains[gains]
    return labels


def _by_start(columns: Array) -> Array:
    return columns.swapaxes(0, 1)


def _library(array: Array) -> Any:
    """NumPy or torch itself, whose functions write into a given array."""
    return np if isinstance(array, np.ndarray) else import_torch(str(array.device))


def _random_symmetric(n_blocks: int, rng: np.random.Generator) -> FloatArray:
    half = rng.random((n_blocks, n_blocks))
    return (half + half.T) / 2
