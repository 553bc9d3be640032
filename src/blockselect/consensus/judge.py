"""The judge: how good a selection is at what users do with it. No labels are needed.

A selection is used in two ways, by exactly its features, rows of unit length. Both count alike.

*Clusters.* The nodes are clustered by K-means. Good clusters say who links to whom; what they explain of the links is

    I = Σ_ab (E_ab / w) log(E_ab w / (e_a e_b)),

E_ab the link weight between two clusters, e_a the degrees in one, w all degrees: the mutual information of the
clusters at both ends of a link, in nats. What clusters drawn at random would explain, k (k − 1) / 4 for each link, is
subtracted. Several numbers of clusters are tried unless one is known.

*Classes.* The blocks of a few nodes are told, and the features say those of the others (`block_recall`), for each of
the best block models.

Each selection is measured against the best for each number of clusters and each block model, so that none weighs more
than another because it is easier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.consensus.batched_kmeans import clusterings
from blockselect.consensus.block_recall import draw_told, recalled
from blockselect.consensus.link_likelihood import link_information

N_CLUSTERS = (6, 8, 12, 16)  # tried where none is known; what fewer clusters explain varies most from start to start
_RUNS = 8, 24  # of K-means: for each selection, and then for the best third of them
_DRAWS = 2, 3  # of told nodes, for each block model: likewise
_N_MODELS = 3  # block models whose blocks are told, the best
_N_PLACED = 5_000  # nodes to find the blocks of, drawn at random in a large network
_SURE = 2.0  # standard errors by which a selection must be better than the first
_LEAST = 1e-12  # nats a link: less is nothing
_N_LINKS = 100_000  # looked at in a large network, drawn at random
_N_NODES, _LEAST_NODES, _N_VALUES = 1_500, 500, 60_000  # on which centres are found: fewer where they have many values


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """How good some selections are at one use, in several settings: numbers of clusters, or block models."""

    runs: Sequence[FloatArray]  # of each selection (settings, its runs)

    @property
    def mean(self) -> FloatArray:
        """Over runs: (selections, settings)."""
        return np.array([each.mean(axis=1) for each in self.runs])

    @property
    def largest(self) -> FloatArray:
        """Of the best selection in each setting: (settings,)."""
        largest: FloatArray = np.maximum(self.mean.max(axis=0), _LEAST)
        return largest

    @property
    def share(self) -> FloatArray:
        """The mean, over settings, of the share of the best: (selections,)."""
        shares: FloatArray = (np.maximum(self.mean, 0.0) / self.largest).mean(axis=1)
        return shares

    @property
    def standard_error(self) -> FloatArray:
        """Of each share, from how runs differ: (selections,)."""
        variances = np.array([each.var(axis=1, ddof=1) / each.shape[1] for each in self.runs])
        errors: FloatArray = np.sqrt((variances / self.largest**2).mean(axis=1) / variances.shape[1])
        return errors


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How some selections were judged, the first of them the one to beat."""

    explained: Use  # nats a link that clusters explain
    recalled: Use  # share of the nodes whose block is found
    finalists: IntArray  # the best third and the first, judged by more runs
    n_links: float  # that were looked at

    @property
    def share(self) -> FloatArray:
        """The mean of both uses: (selections,)."""
        return (self.explained.share + self.recalled.share) / 2

    @property
    def standard_error(self) -> FloatArray:
        """Of each share, from how runs differ: (selections,)."""
        return np.hypot(self.explained.standard_error, self.recalled.standard_error) / 2

    @property
    def best(self) -> int:
        """The finalist with the largest share, if it beats the first by more than runs and links vary; else that."""
        winner = int(self.finalists[np.argmax(self.share[self.finalists])])
        n_nats = self.n_links * self.explained.largest.mean()
        by_links = np.sqrt(2 / n_nats) / 2  # 2nI is a non-central χ², its variance near 8nI; half of the share
        errors = (self.standard_error[winner], self.standard_error[0], by_links)
        return winner if self.share[winner] - self.share[0] > _SURE * float(np.linalg.norm(errors)) else 0


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What is needed of a network to judge selections of its features."""

    features: Features  # (v, m) of the nodes that have links looked at
    ends: IntArray  # (2, e) their numbers, at both ends of each link
    weights: FloatArray  # (e,)
    n_clusters: tuple[int, ...]
    placed: IntArray  # nodes to find the blocks of
    blocks: Sequence[IntArray]  # of each block model: theirs, numbered from 0

    @classmethod
    def of(
        cls,
        features: Features,
        adjacency: Sparse,
        labels: Sequence[IntArray],
        n_clusters: int | None,
        rng: np.random.Generator,
    ) -> Judge:
        """Look at the links between two different nodes, at most 100,000 of them, and at some nodes' blocks.

        `labels` are those of the block models, the best first.
        """
        links = sparse.triu(adjacency, 1, format="coo")
        chosen = np.arange(links.nnz)
        if links.nnz > _N_LINKS:
            chosen = np.sort(rng.choice(links.nnz, _N_LINKS, replace=False))
        nodes, ends = np.unique(np.stack([links.row[chosen], links.col[chosen]]), return_inverse=True)
        wanted = N_CLUSTERS if n_clusters is None else (n_clusters,)
        feasible = tuple(k for k in wanted if k <= len(nodes)) or (len(nodes),)
        placed = np.sort(rng.choice(len(nodes), min(len(nodes), _N_PLACED), replace=False))
        return cls(
            features=features[nodes],
            ends=ends.reshape(2, -1),
            weights=links.data[chosen].astype(np.float64),
            n_clusters=feasible,
            placed=placed,
            blocks=[np.unique(each[nodes[placed]], return_inverse=True)[1] for each in labels[:_N_MODELS]],
        )

    def compare(self, selections: Sequence[IntArray], rng: np.random.Generator, n_jobs: int | None = None) -> Verdict:
        """Use each of some selections; the best third, and the first, get more runs."""
        explained: list[list[FloatArray]] = [[] for _ in selections]
        found: list[list[FloatArray]] = [[] for _ in selections]
        remaining: IntArray = np.arange(len(selections))
        for n_runs, n_draws in zip(_RUNS, _DRAWS, strict=True):
            n_starts = -(-n_runs // len(self.n_clusters))
            seed = int(rng.integers(2**31))
            told = [[draw_told(blocks, rng) for _ in range(n_draws)] for blocks in self.blocks]
            with threadpool_limits(limits=1):  # systems of equations are small: more threads would wait for each other
                uses = Parallel(n_jobs=n_jobs, prefer="threads")(
                    delayed(self.use)(selections[int(place)], n_starts, told, np.random.default_rng(seed))
                    for place in remaining
                )
            for place, (by_clusters, by_blocks) in zip(remaining, uses, strict=True):
                explained[place].append(by_clusters)
                found[place].append(by_blocks)
            verdict = Verdict(
                Use([np.hstack(each) for each in explained]),
                Use([np.hstack(each) for each in found]),
                remaining,
                self._n_links(),
            )
            better = remaining[np.argsort(-verdict.share[remaining], kind="stable")][: -(-len(remaining) // 3)]
            remaining = np.union1d(better, [0])
        return verdict

    def use(
        self, selected: IntArray, n_starts: int, told: Sequence[Sequence[IntArray]], rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Nats a link that clusters by these features explain (c, s), and shares of nodes with the right block (b, t).

        For each number of clusters in each run, and for each block model and draw of told nodes.
        """
        rows = _unit_rows(self.features, selected)
        placed = rows[self.placed]
        by_blocks = [recalled(placed, blocks, draws) for blocks, draws in zip(self.blocks, told, strict=True)]
        return self.explained(rows, n_starts, rng), np.array(by_blocks)

    def explained(self, rows: Sparse, n_starts: int, rng: np.random.Generator) -> FloatArray:
        """Nats a link that clusters of these rows explain: for each number of clusters, in each run (c, s)."""
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
