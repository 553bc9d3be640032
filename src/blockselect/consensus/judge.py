"""The judge: how much of the links the clusters of a selection explain. No labels are needed.

A selection is used as it would be: the nodes are clustered by exactly these features (K-means on rows of unit length).
Good clusters say who links to whom; what they explain of the links is

    I = Σ_ab (E_ab / w) log(E_ab w / (e_a e_b)),

E_ab the link weight between two clusters, e_a the degrees in one, w all degrees: the mutual information of the
clusters at both ends of a link, in nats. What clusters drawn at random would explain, k (k − 1) / 4 for each link, is
subtracted. Several numbers of clusters are tried unless one is known, and each selection is measured against the best
for that number, so that no number weighs more than another because it explains more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.preprocessing import normalize

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.consensus.batched_kmeans import clusterings
from blockselect.consensus.link_likelihood import link_information

N_CLUSTERS = (6, 8, 12, 16)  # tried where none is known; what fewer clusters explain varies most from start to start
_RUNS = 8, 24  # of K-means: for each selection, and then for the better half of them
_SURE = 2.0  # standard errors by which a selection must be better than the first
_LEAST = 1e-12  # nats a link: less is nothing
_N_LINKS = 100_000  # looked at in a large network, drawn at random
_N_NODES, _LEAST_NODES, _N_VALUES = 2_500, 500, 60_000  # on which centres are found: fewer where they have many values


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How some selections were judged, the first of them the one to beat."""

    runs: Sequence[FloatArray]  # of each selection (numbers of clusters, its runs): nats a link
    finalists: IntArray  # the better half and the first, judged by more runs
    n_links: float  # that were looked at

    @property
    def explained(self) -> FloatArray:
        """Mean over runs: (selections, numbers of clusters)."""
        return np.array([each.mean(axis=1) for each in self.runs])

    @property
    def share(self) -> FloatArray:
        """The mean, over numbers of clusters, of the share of what the best selection explains: (selections,)."""
        shares: FloatArray = (np.maximum(self.explained, 0.0) / self._largest).mean(axis=1)
        return shares

    @property
    def standard_error(self) -> FloatArray:
        """Of each share, from how runs differ: (selections,)."""
        variances = np.array([each.var(axis=1, ddof=1) / each.shape[1] for each in self.runs])
        errors: FloatArray = np.sqrt((variances / self._largest**2).mean(axis=1) / variances.shape[1])
        return errors

    @property
    def best(self) -> int:
        """The finalist with the largest share, if it beats the first by more than runs and links vary; else that."""
        winner = int(self.finalists[np.argmax(self.share[self.finalists])])
        by_links = np.sqrt(2 / (self.n_links * self._largest.mean()))  # 2nI is a non-central χ², its variance near 8nI
        errors = (self.standard_error[winner], self.standard_error[0], by_links)
        return winner if self.share[winner] - self.share[0] > _SURE * float(np.linalg.norm(errors)) else 0

    @property
    def _largest(self) -> FloatArray:
        largest: FloatArray = np.maximum(self.explained.max(axis=0), _LEAST)
        return largest


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What is needed of a network to judge selections of its features."""

    features: Features  # (v, m) of the nodes that have links looked at
    ends: IntArray  # (2, e) their numbers, at both ends of each link
    weights: FloatArray  # (e,)
    n_clusters: tuple[int, ...]

    @classmethod
    def of(cls, features: Features, adjacency: Sparse, n_clusters: int | None, rng: np.random.Generator) -> Judge:
        """Look at the links between two different nodes, at most 100,000 of them."""
        links = sparse.triu(adjacency, 1, format="coo")
        chosen = np.arange(links.nnz)
        if links.nnz > _N_LINKS:
            chosen = np.sort(rng.choice(links.nnz, _N_LINKS, replace=False))
        nodes, ends = np.unique(np.stack([links.row[chosen], links.col[chosen]]), return_inverse=True)
        wanted = N_CLUSTERS if n_clusters is None else (n_clusters,)
        feasible = tuple(k for k in wanted if k <= len(nodes)) or (len(nodes),)
        return cls(
            features=features[nodes],
            ends=ends.reshape(2, -1),
            weights=links.data[chosen].astype(np.float64),
            n_clusters=feasible,
        )

    def compare(self, selections: Sequence[IntArray], rng: np.random.Generator, n_jobs: int | None = None) -> Verdict:
        """What clusters by each of some selections explain; the better half, and the first, get more runs."""
        runs: list[list[FloatArray]] = [[] for _ in selections]
        remaining: IntArray = np.arange(len(selections))
        for n_runs in _RUNS:
            n_starts = -(-n_runs // len(self.n_clusters))
            seed = int(rng.integers(2**31))
            found = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(self.explained)(selections[int(place)], n_starts, np.random.default_rng(seed))
                for place in remaining
            )
            for place, explained in zip(remaining, found, strict=True):
                runs[place].append(explained)
            verdict = Verdict([np.hstack(each) for each in runs], remaining, self._n_links())
            better = remaining[np.argsort(-verdict.share[remaining], kind="stable")][: -(-len(remaining) // 2)]
            remaining = np.union1d(better, [0])
        return verdict

    def explained(self, selected: IntArray, n_starts: int, rng: np.random.Generator) -> FloatArray:
        """Nats a link that clusters by these features explain: for each number of clusters, in each run (c, s)."""
        rows = _unit_rows(self.features, selected)
        n_sample = int(np.clip(_N_VALUES * rows.shape[0] // max(rows.nnz, 1), _LEAST_NODES, _N_NODES))
        runs = clusterings(rows, self.n_clusters, n_starts=n_starts, rng=rng, n_sample=n_sample)
        sizes = np.repeat(self.n_clusters, n_starts)
        by_run = [self._information(labels, k) for labels, k in zip(runs, sizes, strict=True)]
        return np.array(by_run).reshape(len(self.n_clusters), n_starts)

    def _information(self, labels: IntArray, n_clusters: int) -> float:
        first, second = labels[self.ends]
        cells: FloatArray = np.bincount(first * n_clusters + second, self.weights, n_clusters**2).astype(np.float64)
        weight = cells.reshape(n_clusters, n_clusters)
        weight = weight + weight.T
        n_used = np.count_nonzero(weight.sum(axis=1))
        return link_information(weight) - n_used * (n_used - 1) / (4 * self._n_links())

    def _n_links(self) -> float:
        """As many links of equal weight vary as much as these."""
        return float(self.weights.sum() ** 2 / np.square(self.weights).sum())


def _unit_rows(features: Features, selected: IntArray) -> Sparse:
    return sparse.csr_array(normalize(sparse.csr_array(features[:, np.sort(selected)], dtype=np.float64)))
