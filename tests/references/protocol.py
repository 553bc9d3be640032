"""The K-means protocol of the paper, literally, for dense features."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score


def accuracies_and_nmis(Y, classes, columns, n_runs):
    Z = np.array(Y[:, columns], dtype=float)
    for row in Z:
        length = np.sqrt((row**2).sum())
        if length > 0:
            row /= length
    k = len(set(classes.tolist()))
    accuracies, nmis = [], []
    for seed in range(n_runs):
        clusters = KMeans(n_clusters=k, n_init=10, random_state=seed).fit(Z).labels_
        accuracies.append(_accuracy(classes, clusters, k))
        nmis.append(normalized_mutual_info_score(classes, clusters, average_method="max"))
    return accuracies, nmis


def _accuracy(classes, clusters, k, taken=()):
    """The best matching of the remaining clusters to classes, by exhaustive search."""
    cluster = len(taken)
    if cluster == k:
        return 0.0
    return max(
        np.mean((clusters == cluster) & (classes == c)) + _accuracy(classes, clusters, k, (*taken, c))
        for c in range(k)
        if c not in taken
    )
