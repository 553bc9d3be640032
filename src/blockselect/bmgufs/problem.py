"""ScoreProblem: features and settings with which the scores of any block models are solved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.reflection import reflected
from blockselect.bmgufs.descent import descend
from blockselect.bmgufs.device import problem_to_device, to_numpy
from blockselect.bmgufs.gram_squared import DenseGramSquared, SparseGramSquared
from blockselect.bmgufs.block_statistics import BlockStatistics


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Of c block models with s sparsities each, as NumPy arrays."""

    scores: FloatArray  # (c, s, m) non-negative, unit length; zero where no node has the feature
    reconstruction_loss: FloatArray  # (c, s, t + 1) (paper: L_b)
    profile_loss: FloatArray  # (c, s, t + 1) (paper: L_m)
    n_iter: IntArray  # (c, s)

    def at(self, sparsities: slice) -> Solution:
        """The same of some of the sparsities."""
        return Solution(
            self.scores[:, sparsities],
            self.reconstruction_loss[:, sparsities],
            self.profile_loss[:, sparsities],
            self.n_iter[:, sparsities],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ScoreProblem:
    features: Features  # (n, m)
    gram: DenseGramSquared | SparseGramSquared
    reflect: bool  # whether scores follow how alike blocks link, rather than how densely (see `reflected`)
    device: str
    dtype: Any
    descent: Mapping[str, Any]  # settings of `descend`

    def statistics(self, models: Sequence[BlockModel]) -> BlockStatistics:
        """What the losses know of these block models."""
        targets = [reflected(model) for model in models] if self.reflect else models
        return BlockStatistics.of(self.features, targets, dtype=self.dtype)

    def solve(
        self,
        models: Sequence[BlockModel],
        sparsities: Sequence[float],
        progress: Callable[[int, int], None] | None = None,
    ) -> Solution:
        """One descent over all models and sparsities."""
        gram, statistics = self.gram, self.statistics(models)
        empty = statistics.empty_features
        if self.device != "cpu":
            gram, statistics = problem_to_device(gram, statistics, self.device)
        result = descend(gram, statistics, sparsity=tuple(sparsities), progress=progress, **self.descent)
        scores = np.array(to_numpy(result.scores))
        scores[..., empty] = 0
        return Solution(
            scores,
            to_numpy(result.reconstruction_loss),
            to_numpy(result.profile_loss),
            to_numpy(result.n_iter).astype(np.intp),
        )
