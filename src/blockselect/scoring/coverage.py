"""Coverage: the share of the nodes that have features, but none of the selected ones."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray


class Coverage:
    """Counts, for a set of features that changes by swaps, how many of them each node has.

    Nodes without any feature at all are left out: no selection can help them.
    """

    def __init__(self, features: Features, members: IntArray) -> None:
        pattern = sparse.csr_array(features != 0).astype(np.float64)
        nothing = sparse.csr_array((1, pattern.shape[0]))  # of no feature: the last row
        self._nodes = sparse.csr_array(sparse.vstack([pattern.T, nothing], format="csr"))  # (m + 1, n)
        self._counts = self._nodes[members].sum(axis=0)  # (n,)
        self.n_coverable = int(np.count_nonzero(pattern.sum(axis=1)))
        self._n_without_features = int(pattern.shape[0]) - self.n_coverable

    @property
    def n_uncovered(self) -> int:
        return int(np.count_nonzero(self._counts == 0)) - self._n_without_features

    @property
    def value(self) -> float:
        return self.n_uncovered / max(self.n_coverable, 1)

    def swapped(self, removed: IntArray, added: IntArray) -> FloatArray:
        """Values with each of `removed` (x,) gone and each of `added` (y,) come. (x, y)"""
        out, into = self._nodes[removed], self._nodes[added]
        alone = sparse.csr_array(out * (self._counts == 1))  # nodes that have this one of the set and no other
        lost = alone.sum(axis=1)[:, None] - (alone @ into.T).toarray()
        gained = into @ (self._counts == 0).astype(np.float64)
        return np.asarray(self.n_uncovered + lost - gained) / max(self.n_coverable, 1)

    def swap(self, removed: int, added: int) -> None:
        self._counts += self._nodes[[added]].sum(axis=0) - self._nodes[[removed]].sum(axis=0)
