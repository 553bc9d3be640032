"""BlockStatistics: the sizes, densities and mean features of blocks. The solver needs nothing else about the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blockselect.blockmodels.model import BlockModel
from blockselect.rows.sums import block_sums, sum_over_rows
from blockselect.utils.arrays import Array, Features


@dataclass(frozen=True, slots=True, eq=False)
class BlockStatistics:
    """Statistics of c block models, padded with blocks of size zero if they have fewer than k blocks."""

    block_means: Array  # (c, k, m) mean feature row of each block (paper: D̄)
    block_sizes: Array  # (c, k) float (paper: the diagonal of D)
    density: Array  # (c, k, k) (paper: M)

    @property
    def n_models(self) -> int:
        return int(self.block_sizes.shape[0])

    @property
    def n_blocks(self) -> int:
        return int(self.block_sizes.shape[1])

    @property
    def n_features(self) -> int:
        return int(self.block_means.shape[2])

    @property
    def empty_features(self) -> Array:
        """Mask of the features that no node has: (m,). Their gradients are zero, so their scores do not change."""
        return (self.block_means == 0).all(axis=(0, 1))

    @classmethod
    def of(cls, features: Features, models: Sequence[BlockModel], *, dtype: Any = np.float64) -> BlockStatistics:
        """Compute the statistics of the features in the blocks of each model, as NumPy arrays."""
        c, k = len(models), max(model.n_blocks for model in models)
        labels = np.array([model.labels for model in models])  # (c, n)
        means = sum_over_rows(features, block_sums, labels, k, dtype)  # divided by the block sizes below
        sizes = np.zeros((c, k), dtype=dtype)
        density = np.zeros((c, k, k), dtype=dtype)
        for i, model in enumerate(models):
            blocks = slice(model.n_blocks)
            sizes[i, blocks] = model.block_sizes
            means[i, blocks] /= sizes[i, blocks, None]
            density[i, blocks, blocks] = model.density
        return cls(means, sizes, density)

    def induced_density(self, scores: Array) -> Array:
        """D̄ diag(r) D̄ᵀ: the mean similarity of each block pair in the induced graph (paper: M̂). (c, s, k, k)"""
        means = self.block_means[:, None]  # (c, 1, k, m)
        return (means * scores[:, :, None, :]) @ means.mT

    def quadratic_forms(self, T: Array, B: Array) -> tuple[Array, Array]:
        """D̄_lᵀ T D̄_l and D̄_lᵀ B D̄_l for every feature l: twice (c, s, k, k) → twice (c, s, m)."""
        means = self.block_means[:, None]  # (c, 1, k, m)
        return ((T @ means) * means).sum(-2), ((B @ means) * means).sum(-2)

    def models(self, chosen: slice) -> BlockStatistics:
        """Statistics of some of the models, as views."""
        return BlockStatistics(self.block_means[chosen], self.block_sizes[chosen], self.density[chosen])
