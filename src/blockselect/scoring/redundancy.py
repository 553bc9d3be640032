"""Redundancy: the share of the selected features that repeats what the others say."""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray, IntArray
from blockselect.scoring.gram import DenseGramSquared, SparseGramSquared
from blockselect.scoring.set_quadratic import SetQuadratic


class Redundancy:
    """1 − d_eff/d, where d_eff = d² / Σ cos² over all ordered pairs of the d features is their effective number.

    With R the mean squared cosine of two different features it is (d − 1)R / (1 + (d − 1)R): 0 where no two features
    meet in a node, 1 − 1/d where all are copies of one. d_eff is the participation ratio of the eigenvalues of their
    matrix of cosines.
    """

    def __init__(self, gram: DenseGramSquared | SparseGramSquared, members: IntArray) -> None:
        # W_ab = (y_a·y_b)², so W_ab / √(W_aa W_bb) is the squared cosine. That of an empty feature is 0, also with
        # itself.
        lengths = np.sqrt(gram.diagonal().astype(np.float64))
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self._cosines = SetQuadratic(gram, members, scale=scale)
        self._size = len(members)

    @property
    def value(self) -> float:
        return float(self._share(np.array(self._cosines.value)))

    def swapped(self, removed: IntArray, added: IntArray) -> FloatArray:
        """Values with each of `removed` (x,) gone and each of `added` (y,) come. (x, y)"""
        return self._share(self._cosines.swapped(removed, added))

    def swap(self, removed: int, added: int) -> None:
        self._cosines.swap(removed, added)

    def _share(self, cosines: FloatArray) -> FloatArray:
        return 1 - self._size / np.maximum(cosines, self._size)
