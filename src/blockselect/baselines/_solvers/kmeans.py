"""K-means of the rows of a matrix, the same on any number of threads."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from blockselect.arrays import Features, IntArray


def kmeans_labels(rows: Features, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Cluster of each row, the best of ten starts. (n,)"""
    seed = int(rng.integers(2**31))
    with threadpool_limits(limits=1):  # sums over threads arrive in any order: one thread, one result
        labels = KMeans(n_clusters, n_init=10, random_state=seed).fit(rows).labels_
    return np.asarray(labels, dtype=np.intp)
