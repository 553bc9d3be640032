"""SetLoss: the paper's two losses of a set of features (r is 1 in the set, 0 elsewhere), and after each swap.

Values alone, for many sets that differ by two features: the gradients of `losses` would cost three times as much.
"""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray, IntArray
from blockselect.scoring.gram import DenseGramSquared, SparseGramSquared
from blockselect.scoring.losses import pair_sizes, profiles
from blockselect.scoring.set_quadratic import NOTHING, SetQuadratic
from blockselect.scoring.statistics import BlockStatistics

_CACHE_BYTES = 2**20  # of induced densities in work at once

_nothing = np.array([NOTHING])


class SetLoss:
    """(1 − β̄) L_b + β̄ L_m, the mean over c block models, for a set that changes by swaps.

    L_b is 1 − rᵀW̄r / rᵀWr, where W̄_ab = (Σ_i s_i D̄_ia D̄_ib)² is to the blocks' means what W is to the nodes. L_m
    comes from M̂, to which a feature adds D̄_l D̄_lᵀ.
    """

    def __init__(
        self,
        gram: DenseGramSquared | SparseGramSquared,
        statistics: BlockStatistics,
        members: IntArray,
        *,
        profile_ratio: float,
        smoothing: float,
    ) -> None:
        c, k, m = statistics.block_means.shape
        self._means = np.zeros((c, m + 1, k))  # (paper: D̄ᵀ)
        self._means[:, :m] = np.moveaxis(statistics.block_means, 1, 2)
        self._weighted = self._means * statistics.block_sizes[:, None]
        self._own = np.sum(self._weighted * self._means, axis=-1) ** 2  # (c, m + 1) the diagonal of W̄
        self._pair_sizes = pair_sizes(statistics)[:, 0].astype(np.float64)  # (c, k, k)
        self._smoothing = smoothing * (self._pair_sizes > 0)
        target, _ = profiles(statistics, statistics.density[:, None], smoothing)
        self._log_target = _log(target.astype(np.float64))  # (c, 1, k, k)
        chosen = self._means[:, members]
        self._density = np.matrix_transpose(chosen) @ chosen  # (c, k, k) (paper: M̂)
        self._total = SetQuadratic(gram, members)
        self._ratio = profile_ratio

    @property
    def value(self) -> float:
        return float(self.swapped(_nothing, _nothing)[0, 0])

    def swapped(self, removed: IntArray, added: IntArray) -> FloatArray:
        """Values with each of `removed` (x,) gone and each of `added` (y,) come. (x, y)"""
        loss = np.zeros((len(removed), len(added)))
        if self._ratio < 1:
            loss += (1 - self._ratio) * self._reconstruction(removed, added)
        if self._ratio > 0:
            loss += self._ratio * self._profile(removed, added)
        return loss

    def swap(self, removed: int, added: int) -> None:
        out, into = self._means[:, [removed]], self._means[:, [added]]
        self._density += np.matrix_transpose(into) @ into - np.matrix_transpose(out) @ out
        self._total.swap(removed, added)

    def _reconstruction(self, removed: IntArray, added: IntArray) -> FloatArray:
        lost = 2 * self._projected(removed) - self._own[:, removed]
        gained = 2 * self._projected(added) + self._own[:, added]
        shared = (self._weighted[:, removed] @ np.matrix_transpose(self._means[:, added])) ** 2
        explained = np.sum(self._density**2 * self._pair_sizes, axis=(-2, -1))[:, None, None]  # rᵀW̄r
        explained = explained - lost[:, :, None] + gained[:, None, :] - 2 * shared  # (c, x, y)
        total = self._total.swapped(removed, added)
        share = np.divide(explained, total, out=np.zeros_like(explained), where=total > 0)
        return np.asarray(np.mean(1 - np.clip(share, 0, 1), axis=0))

    def _projected(self, features: IntArray) -> FloatArray:
        """W̄ r at some features: D̄_lᵀ (M̂ ∘ ssᵀ) D̄_l. (c, features)"""
        means = self._means[:, features]
        return np.asarray(np.sum((means @ (self._density * self._pair_sizes)) * means, axis=-1))

    def _profile(self, removed: IntArray, added: IntArray) -> FloatArray:
        c, k, _ = self._density.shape
        outs, ins = np.repeat(removed, len(added)), np.tile(added, len(removed))
        step = max(1, _CACHE_BYTES // (8 * c * k * k))
        parts = [slice(start, start + step) for start in range(0, len(outs), step)]
        loss = np.concatenate([self._profile_of_pairs(outs[part], ins[part]) for part in parts])
        return loss.reshape(len(removed), len(added))

    def _profile_of_pairs(self, removed: IntArray, added: IntArray) -> FloatArray:
        """Σ_i KL(q_i ‖ p_i) = Σ_ij N_ij (log N_ij − log P_ij) / N_i· − Σ_i log N_i·, N the smoothed M̂. (pairs,)"""
        c, k, _ = self._density.shape
        out, into = self._means[:, removed], self._means[:, added]  # (c, pairs, k)
        N = into[..., :, None] * into[..., None, :]
        N -= out[..., :, None] * out[..., None, :]
        N += self._density[:, None]
        np.maximum(N, 0, out=N)  # what a removal leaves of an entry that was its own is rounding
        N += self._smoothing[:, None]
        sums = (N.reshape(-1, k) @ np.ones(k)).reshape(out.shape)  # a short axis is summed faster as a product
        terms = _log(N)
        terms -= self._log_target
        terms /= np.where(sums > 0, sums, 1)[..., None]
        flat = (c, len(added), k * k)
        loss = np.einsum("cpe,cpe->cp", terms.reshape(flat), N.reshape(flat)) - _log(sums).sum(axis=-1)
        return np.asarray(loss.mean(axis=0))


def _log(values: FloatArray) -> FloatArray:
    """Logarithm; 0 where the value is 0, whose every use is multiplied by that value."""
    return np.asarray(np.log(np.where(values > 0, values, 1)))
