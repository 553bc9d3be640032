"""The protocol of the paper: K-means on the selected features, compared with known classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from blockselect.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from blockselect.evaluation.protocol import (
    Scores,
    SelectionProtocol,
    count_zero_rows,
    encode_classes,
    row_names,
    seeded_runs,
    selected_rows,
)
from blockselect.utils.arrays import Features, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ClusteringScores(Scores):
    """Agreement of the K-means clusters with the classes, one value per run; sds are over the runs only."""

    accuracies: FloatArray  # (n_runs,) (paper: ACC)
    nmis: FloatArray  # (n_runs,) (paper: NMI)

    @property
    def measures(self) -> dict[str, FloatArray]:
        return {"accuracy": self.accuracies, "nmi": self.nmis}

    @property
    def accuracy(self) -> float:
        return float(self.accuracies.mean())

    @property
    def accuracy_sd(self) -> float:
        return float(self.accuracies.std())

    @property
    def nmi(self) -> float:
        return float(self.nmis.mean())

    @property
    def nmi_sd(self) -> float:
        return float(self.nmis.std())


class Clustering(SelectionProtocol):
    """K-means with as many clusters as there are classes."""

    titles: ClassVar = {"accuracy": "ACC", "nmi": "NMI"}
    needs_classes = True

    def evaluate(self, columns: IntArray) -> ClusteringScores:
        return evaluate_selection(self.seen.features, self.classes, columns, n_runs=self.n_runs, n_jobs=self.n_jobs)

    def describe(self) -> str:
        return (
            "Rows of the selected features are scaled to unit length and clustered by K-means into "
            f"{len(np.unique(self.classes))} clusters, {self.n_runs} runs with 10 starts each; "
            "ACC uses the best matching of clusters to classes, NMI is relative to the larger entropy, and sd is over "
            "the runs."
        )


def evaluate_selection(
    features: Any,
    classes: ArrayLike,
    selected: ArrayLike,
    *,
    n_clusters: int | None = None,
    n_runs: int = 20,
    n_init: int = 10,
    first_seed: int = 0,
    n_jobs: int | None = None,
) -> ClusteringScores:
    """Cluster the nodes on the selected features and compare the clusters with known classes.

    Rows of ``features[:, selected]`` are scaled to unit length (a zero row stays zero), scikit-learn's K-means runs
    with the seeds ``first_seed``, ``first_seed + 1``, …, and each run is scored by ACC and NMI. The result does not
    depend on `n_jobs`, on the order of `selected`, or on whether features are dense or sparse.

    Parameters
    ----------
    features : array, sparse matrix or DataFrame of shape (n, m)
    classes : array or Series of shape (n,)
        Known class of each node; a Series is aligned with the index if features is a DataFrame.
    selected : array of int (d,) or boolean array of shape (m,)
        Columns to cluster on: their indices, each once, or a mask such as `support_`.
    n_clusters : int, optional
        Number of clusters; by default the number of classes.
    n_runs : int
        Number of K-means runs.
    n_init : int
        Random starts per run; K-means keeps the one with the lowest inertia.
    first_seed : int
        Seed of the first run.
    n_jobs : int, optional
        Number of processes that share the runs.

    Returns
    -------
    ClusteringScores

    Examples
    --------
    >>> from blockselect import load_cora
    >>> cora = load_cora()
    >>> scores = evaluate_selection(cora.features, cora.classes, [1177, 1263, 1425], n_runs=2)
    >>> scores.accuracies.shape, scores.n_zero_rows > 0
    ((2,), True)
    """
    rows = selected_rows(features, selected)
    known = encode_classes(classes, row_names(features, rows.shape[0]), rows.shape[0])
    wanted = len(np.unique(known)) if n_clusters is None else n_clusters
    clusterings = seeded_runs(kmeans, rows, wanted, n_init, n_runs=n_runs, first_seed=first_seed, n_jobs=n_jobs)
    return ClusteringScores(
        accuracies=np.array([clustering_accuracy(known, clusters) for clusters in clusterings]),
        nmis=np.array([normalized_mutual_information(known, clusters) for clusters in clusterings]),
        n_features=rows.shape[1],
        n_zero_rows=count_zero_rows(rows),
    )


def kmeans(rows: Features, n_clusters: int, n_init: int, seed: int) -> IntArray:
    """The clusters of one K-means run: (n,)."""
    with warnings.catch_warnings():
        # Fewer distinct rows than clusters leave clusters empty; ACC and NMI handle empty clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters: IntArray = KMeans(n_clusters, n_init=n_init, random_state=seed).fit_predict(rows).astype(np.intp)
    return clusters
