"""Small random problems for slow reference formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from blockselect.blockmodels import BlockModel
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from references import bmgufs


@dataclass
class Problem:
    A: np.ndarray  # (n, n)
    Y: np.ndarray  # (n, m)
    r: np.ndarray  # (m,)
    models: list

    @property
    def gram(self):
        return gram_squared(self.Y)

    @property
    def statistics(self):
        return BlockStatistics.of(self.Y, self.models)

    def membership(self, i=0):
        return bmgufs.one_hot(self.models[i].labels)

    def density(self, i=0):
        return self.models[i].density


def make_problem(seed, n=20, m=9, blocks=(3,)):
    rng = np.random.default_rng(seed)
    links = np.triu(rng.random((n, n)) < 0.3, 1)
    A = (links | links.T).astype(float)
    A[0, 1] = A[1, 0] = 1.0
    Y = rng.poisson(0.8, size=(n, m)).astype(float)
    Y[rng.integers(n, size=m), np.arange(m)] += 1
    models = []
    for k in blocks:
        labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
        models.append(BlockModel.from_labels(sparse.csr_array(A), labels))
    return Problem(A, Y, rng.random(m) + 0.05, models)
