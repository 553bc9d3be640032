"""nearest_neighbour_graph: a graph built from the features, for data without a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from blockselect.graphs.neighbours import TIED, nearest_others
from blockselect.inputs.features import feature_matrix
from blockselect.rows.checks import refuse_not_finite
from blockselect.rows.matrices import as_plain_csr
from blockselect.utils.arrays import Sparse
from blockselect.utils.parameters import check_whole

N_NEIGHBORS = 10  # default number of neighbours per node


def nearest_neighbour_graph(features: Any, n_neighbors: int = N_NEIGHBORS, metric: str = "cosine") -> Sparse:
    """Link each node to its `n_neighbors` nearest nodes in feature space; links have weight 1 and no direction.

    Parameters
    ----------
    features : array, sparse matrix or DataFrame of shape (n, m)
        At least two rows. The input is never changed.
    n_neighbors : int
        At least 1; if there are fewer other nodes, all of them are linked.
    metric : str
        Any metric of scikit-learn's nearest neighbours. The cosine distance suits BMGUFS, whose scores induce a graph
        of inner products of rows. With this metric, nodes that share no feature are not linked, so a node without
        features is isolated.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, without self-loops. For the cosine and Euclidean distances, ties are broken by the order of the
        nodes; for other metrics, by scikit-learn.
    """
    n_neighbors = check_whole("n_neighbors", n_neighbors, 1)
    features = feature_matrix(features)
    refuse_not_finite(features)
    n_nodes = features.shape[0]
    if n_nodes < 2:
        raise ValueError(f"features has {n_nodes} row(s); at least two are needed: pass one row per node.")
    if metric == "cosine":
        links = _by_cosine(as_plain_csr(features), n_neighbors)
    elif metric == "euclidean":
        links = nearest_others(as_plain_csr(features), n_neighbors)
    else:
        links = sparse.csr_array(kneighbors_graph(features, min(n_neighbors, n_nodes - 1), metric=metric))
    if links.nnz == 0:
        raise ValueError("no two nodes share a feature, so no graph can be built from the features; pass an adjacency.")
    links.data = np.ones(links.nnz)
    return sparse.csr_array(links.maximum(links.T))


def _by_cosine(rows: Sparse, n_neighbors: int) -> Sparse:
    """Find neighbours by the distance between unit rows: √2 if the cosine is zero, less if it is positive."""
    n_nodes = rows.shape[0]
    held = np.flatnonzero(np.diff(rows.indptr))
    if len(held) < 2:
        return sparse.csr_array((n_nodes, n_nodes))
    near = nearest_others(normalize(rows[held]), n_neighbors).tocoo()
    alike = near.data < np.sqrt(2) * (1 - TIED)
    places = held[near.row[alike]], held[near.col[alike]]
    return sparse.csr_array((near.data[alike], places), shape=(n_nodes, n_nodes))
