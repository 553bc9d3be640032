"""Clusters of the rows of an embedding by K-means, the same on any number of threads."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from blockselect.arrays import FloatArray, IntArray
from blockselect.blockmodels.families.search import Search


def cluster_starts(embedding: FloatArray, search: Search) -> list[IntArray]:
    """Clusters of each start of a search."""
    seeds = [draw_seed(rng) for rng in search.rngs]
    jobs = (delayed(cluster_rows)(embedding, search.n_blocks, seed) for seed in seeds)
    return list(Parallel(n_jobs=search.n_jobs)(jobs))


def cluster_rows(embedding: FloatArray, n_clusters: int, seed: int) -> IntArray:
    """At most this many clusters: K-means refills a cluster that loses its last row, but cannot split equal rows."""
    distinct = len(np.unique(embedding.round(12), axis=0))
    with threadpool_limits(limits=1):  # sums over threads arrive in any order: one thread, one result
        kmeans = KMeans(min(n_clusters, distinct), n_init=1, random_state=seed).fit(embedding)
    return np.asarray(kmeans.labels_, dtype=np.intp)


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for libraries that take no generator."""
    return int(rng.integers(2**31))
