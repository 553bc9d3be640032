"""Leading eigenvectors on a device: Lanczos iterations with restarts, every vector orthogonal to all before.

A step is one product with the matrix and two with the basis, and never waits for the device, so that it is captured
and replayed. The host looks at the projected matrix now and then. When the basis is full, the best of its Ritz vectors
begin the next one (thick restart; Wu and Simon, 2000).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import Array, FloatArray
from blockselect.cuda import replayed
from blockselect.tensors import Operator, import_torch, to_numpy, to_torch

_STRIDE = 32  # steps between two looks
_SIZE = 64  # vectors of a basis, and four for each eigenvector that is wanted
_ROUNDING = 1e3  # times the float's precision: smaller residuals, relatively, are none
_MAX_STEPS = 5000  # where eigenvalues lie so close that more would be needed, blocks do not depend on them


def leading_on_device(
    product: Operator, start: FloatArray, count: int, *, tol: float, device: str
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues largest by magnitude (count,) and vectors (n, count) of a symmetric matrix; `start` has its size.

    `tol` is the relative error allowed to eigenvalues; 0: rounding.
    """
    rounding = _ROUNDING * float(np.finfo(start.dtype).eps)
    basis = _Basis(product, start, min(_SIZE + 4 * count, len(start) - 1), device)
    with replayed(basis.step, basis.vectors) as step:
        for _ in range(_MAX_STEPS // _STRIDE):
            basis.grow(step, _STRIDE)
            values, residuals = basis.ritz_pairs(rounding)
            order = np.argsort(-np.abs(values), kind="stable")
            leading = order[:count]
            allowed = np.maximum(tol * np.abs(values[leading]), rounding * np.abs(values[order[0]]))
            if len(leading) == count and (residuals[leading] <= allowed).all():
                break
            if basis.room == 0:
                basis.restart(order[: count + (basis.size - count) // 4], values)
        vectors = to_numpy(basis.ritz_vectors(leading)).T
    return values[leading], vectors


class _Basis:
    """Orthonormal vectors, and the matrix as they see it."""

    def __init__(self, product: Operator, start: FloatArray, size: int, device: str) -> None:
        torch = import_torch(device)
        first = to_torch(start, device)
        self.size, self._product, self._torch = size, product, torch
        self._rng = np.random.default_rng(1)
        self.vectors = first.new_zeros((size + 1, len(start)))
        self.vectors[0] = first / torch.linalg.vector_norm(first)
        self._projected = first.new_zeros((size, size))  # its lower triangle
        self._lengths = first.new_zeros(size)  # of what the product of each vector adds to the basis
        self._at = torch.zeros(1, dtype=torch.int64, device=device)  # the vector that comes next, on the device
        self._n = 0  # and on the host
        self._scale = 0.0  # of the first product, after a look: behind a closed basis, lengths may be anything
        self._rotation = self._projected  # vectors of the projected matrix, after a look

    @property
    def room(self) -> int:
        return self.size - self._n

    def grow(self, step: Callable[[], None], n_steps: int) -> None:
        for _ in range(min(n_steps, self.room)):
            step()
            self._n += 1

    def step(self) -> None:
        """One more vector: the product of the last, less what the basis holds of it."""
        V, at = self.vectors, self._at
        new = self._product(V[at].mT)[:, 0]  # (n,)
        held = V @ new
        new = new - _combined(V, held)
        rest = V @ new  # what rounding left
        new = new - _combined(V, rest)
        length = self._torch.linalg.vector_norm(new)
        self._projected[at] = (held + rest)[None, :-1]
        self._lengths[at] = length
        V[at + 1] = new / length
        self._at += 1

    def ritz_pairs(self, rounding: float) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of the projected matrix and the lengths of their residuals: (n,), (n,)."""
        lengths = to_numpy(self._lengths[: self._n])
        self._scale = self._scale or float(lengths[0] + to_numpy(self._projected[0, 0].abs()))
        closed = np.flatnonzero(~(lengths > rounding * self._scale))  # products that add nothing, and what follows them
        last = lengths[-1]
        if len(closed):
            last = 0.0
            self._begin_anew(int(closed[0]) + 1)
        values, self._rotation = self._torch.linalg.eigh(self._projected[: self._n, : self._n])
        return to_numpy(values), last * np.abs(to_numpy(self._rotation[-1]))

    def ritz_vectors(self, chosen: NDArray[np.intp]) -> Array:
        """Eigenvectors of the projected matrix as vectors of the whole one: (q, n)."""
        places = self._torch.asarray(chosen, device=self.vectors.device)
        return self._rotation[:, places].mT @ self.vectors[: self._n]

    def restart(self, kept: NDArray[np.intp], values: FloatArray) -> None:
        """With these Ritz vectors, and what the last product added."""
        kept_vectors, p = self.ritz_vectors(kept), len(kept)
        self.vectors[p] = self.vectors[self._n].clone()
        self.vectors[:p] = kept_vectors
        self.vectors[p + 1 :] = 0
        self._projected[:] = 0
        self._projected.diagonal()[:p] = to_torch(values[kept], str(self.vectors.device))
        self._lengths[:p] = np.inf
        self._move_to(p)

    def _begin_anew(self, n: int) -> None:
        """Go on behind the first vectors, which the matrix maps onto themselves, with another at random."""
        V = self.vectors
        V[n:] = 0
        fresh = to_torch(self._rng.standard_normal(V.shape[1]).astype(to_numpy(V[0, :1]).dtype), str(V.device))
        for _ in range(2):
            fresh = fresh - V.mT @ (V @ fresh)
        V[n] = fresh / self._torch.linalg.vector_norm(fresh)
        self._projected[n:] = 0
        self._lengths[n - 1] = np.inf
        self._move_to(n)

    def _move_to(self, n: int) -> None:
        self._n = n
        self._at.fill_(n)


def _combined(vectors: Array, shares: Array) -> Array:
    """Vectors (q, n) added up in these shares (q,), as a product of two rows: it takes half as long as that of one."""
    return (shares.repeat(2, 1) @ vectors)[0]
