"""The paper's protocol: K-means on the selected features, many runs, against known classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.errors import ParameterError
from blockselect.evaluation.metrics import clustering_accuracy, normalized_mutual_information


@dataclass(frozen=True, slots=True, eq=False)
class ClusteringScores:
    """How well K-means on some features finds the classes, run by run. The spread is over runs alone."""

    accuracies: FloatArray  # (n_runs,) (paper: ACC)
    nmis: FloatArray  # (n_runs,) (paper: NMI)
    n_features: int
    n_zero_rows: int  # nodes that have none of the features: they make a clustering look better or worse than it is

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


def evaluate_selection(
    features: Features,
    classes: ArrayLike,
    selected: ArrayLike,
    *,
    n_clusters: int | None = None,
    n_runs: int = 20,
    n_init: int = 10,
    first_seed: int = 0,
    n_jobs: int | None = None,
) -> ClusteringScores:
    """Cluster the nodes by the selected features and compare the clusters with known classes.

    Rows of ``features[:, selected]`` are scaled to unit length (a zero row stays zero), scikit-learn's K-means runs
    with the seeds ``first_seed``, ``first_seed + 1``, …, and each run is scored by ACC and NMI. The same input gives
    the same result, whatever `n_jobs`, the order of `selected` and whether features are dense or sparse.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
    classes : array of shape (n,)
        Known class of each node.
    selected : array of int (d,) or boolean array of shape (m,)
        Columns to cluster by: their indices, each once, or a mask such as `support_`.
    n_clusters : int, optional
        Clusters to look for; None: as many as there are classes.
    n_runs : int
        Runs of K-means.
    n_init : int
        Random starts in each run, of which K-means keeps the tightest.
    first_seed : int
        Seed of the first run.
    n_jobs : int, optional
        Processes that share the runs.

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
    known = np.asarray(classes)
    n_nodes, n_features = features.shape
    if known.shape != (n_nodes,):
        raise ValueError(f"classes has shape {known.shape} but features has {n_nodes} rows; give one class a row.")
    wanted = len(np.unique(known)) if n_clusters is None else n_clusters
    if not 1 <= wanted <= n_nodes:
        raise ParameterError(
            "n_clusters", f"is {wanted} but there are {n_nodes} nodes; choose 1 to {n_nodes} clusters."
        )
    for name, value in (("n_runs", n_runs), ("n_init", n_init)):
        if value < 1:
            raise ParameterError(name, f"is {value}; expected at least 1.")
    columns = check_selected(selected, n_features)
    rows = unit_rows(features, columns)
    seeds = np.arange(first_seed, first_seed + n_runs)
    shares = np.array_split(seeds, min(n_runs, effective_n_jobs(n_jobs)))
    parts = Parallel(n_jobs=n_jobs)(delayed(_clusterings)(rows, wanted, n_init, share) for share in shares)
    clusterings = [clusters for part in parts for clusters in part]
    return ClusteringScores(
        accuracies=np.array([clustering_accuracy(known, clusters) for clusters in clusterings]),
        nmis=np.array([normalized_mutual_information(known, clusters) for clusters in clusterings]),
        n_features=len(columns),
        n_zero_rows=n_nodes - int(np.count_nonzero(abs(rows).sum(axis=1))),
    )


def check_selected(selected: ArrayLike, n_features: int) -> IntArray:
    """Indices of the selected columns, rising, from indices or a mask."""
    given = np.asarray(selected)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ParameterError("selected", f"is a mask of shape {given.shape} but there are {n_features} features.")
        given = np.flatnonzero(given)
    if given.ndim != 1 or given.size == 0:
        raise ParameterError(
            "selected", f"has shape {given.shape}; expected a list of at least one feature to cluster by."
        )
    if given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n_features:
        raise ParameterError(
            "selected", f"must hold whole numbers from 0 to {n_features - 1}, the columns of features."
        )
    columns = np.unique(given).astype(np.intp)
    if len(columns) < len(given):
        raise ParameterError("selected", f"names {len(given) - len(columns)} feature(s) twice; name each once.")
    return columns


def unit_rows(features: Features, columns: IntArray) -> Features:
    """The selected columns with rows of unit length, in the form in which K-means is faster.

    The form depends on the values alone: dense and sparse K-means differ by rounding, which ties turn into different
    clusters, and the same features must give the same clusters however they are stored.
    """
    chosen = csr_array(features[:, columns], dtype=np.float64)
    chosen.sum_duplicates()
    chosen.eliminate_zeros()
    parts = (chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32))  # K-means takes no others
    rows = csr_array(normalize(csr_array(parts, shape=chosen.shape)))
    # Measured: an entry of a sparse row costs as much as five of a dense one, and the row itself as much as twenty.
    per_row = rows.nnz / rows.shape[0]
    return rows.toarray() if rows.shape[1] <= 20 + 5 * per_row else rows


def _clusterings(rows: Features, n_clusters: int, n_init: int, seeds: Iterable[int]) -> list[IntArray]:
    # One thread: several add up centres in an order that changes from run to run.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Fewer distinct rows than clusters leave clusters empty, which ACC and NMI take as it is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            KMeans(n_clusters, n_init=n_init, random_state=int(seed)).fit_predict(rows).astype(np.intp)
            for seed in seeds
        ]
