"""SetQuadratic: rᵀWr of a set of features (r is 1 in the set, 0 elsewhere), and what it would be after each swap."""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray, IntArray
from blockselect.scoring.gram import DenseGramSquared, SparseGramSquared

NOTHING = -1  # stands for no feature: removing or adding it changes nothing

_ROUNDING = 16 * np.finfo(np.float64).eps  # a value smaller than that beside the one before is zero


class SetQuadratic:
    """The squared Gram matrix W, its rows and columns scaled if asked for, over a set that changes by swaps.

    Arrays over features have one place more, the last, which is zero: that of `NOTHING`.
    """

    def __init__(
        self, gram: DenseGramSquared | SparseGramSquared, members: IntArray, *, scale: FloatArray | None = None
    ) -> None:
        diagonal = gram.diagonal().astype(np.float64)
        weights = np.ones_like(diagonal) if scale is None else scale
        indicator = np.zeros_like(diagonal)
        indicator[members] = weights[members]
        self._gram = gram
        self._scale = np.append(weights, 0.0)
        self._diagonal = np.append(diagonal * weights**2, 0.0)
        product = gram.apply(indicator.astype(gram.values.dtype)[None])[0].astype(np.float64)
        self._product = np.append(weights * product, 0.0)  # (m + 1,) W r
        self._everything = np.append(np.arange(len(diagonal)), NOTHING)
        self.value = float(indicator @ product)

    def swapped(self, removed: IntArray, added: IntArray) -> FloatArray:
        """Values with each of `removed` (x,) gone and each of `added` (y,) come. (x, y)

        (r − e_a + e_l)ᵀ W (r − e_a + e_l) = rᵀWr − 2(Wr)_a + W_aa + 2(Wr)_l + W_ll − 2W_al.
        """
        lost = 2 * self._product[removed] - self._diagonal[removed]
        gained = 2 * self._product[added] + self._diagonal[added]
        changed = self.value - lost[:, None] + gained - 2 * self._entries(removed, added)
        return np.where(changed > _ROUNDING * self.value, changed, 0.0)

    def swap(self, removed: int, added: int) -> None:
        out, into = np.array([removed]), np.array([added])
        self.value = float(self.swapped(out, into)[0, 0])
        self._product += self._entries(into, self._everything)[0] - self._entries(out, self._everything)[0]

    def _entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        scale = np.outer(self._scale[rows], self._scale[columns])  # zero where either is nothing
        return scale * self._gram.entries(rows, columns)
