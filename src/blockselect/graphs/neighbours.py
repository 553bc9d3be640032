"""Nearest-neighbour graph of the features, for data that brings no graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from blockselect.arrays import Sparse
from blockselect.graphs.checks import refuse_not_finite
from blockselect.graphs.convert import as_plain_csr
from blockselect.graphs.feature_table import feature_matrix
from blockselect.graphs.nearest import TIED, nearest_others
from blockselect.scalars import check_whole

N_NEIGHBORS = 10  # of each node, where nobody says how many


def nearest_neighbour_graph(features: Any, n_neighbors: int = N_NEIGHBORS, metric: str = "cosine") -> Sparse:
    """Links each node with its `n_neighbors` nearest by the features, in either direction, weight 1.

    Parameters
    ----------
    features : array, sparse matrix or DataFrame of shape (n, m)
        At least two rows. The caller's arrays are never changed.
    n_neighbors : int
        At least 1; where there are fewer other nodes, all of them.
    metric : str
        Any that scikit-learn's neighbours know. The cosine fits the method: the graph that scores induce
        is made of inner products of rows. By the cosine, nodes that share no feature are not linked, so
        that a node without features stays alone.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, without self-loops. By the cosine and the Euclidean distance, those of equally near nodes are linked
        that come first; by other metrics, those that scikit-learn takes.
    """
    n_neighbors = check_whole("n_neighbors", n_neighbors, 1)
    features = feature_matrix(features)
    refuse_not_finite(features)
    n_nodes = features.shape[0]
    if n_nodes < 2:
        raise ValueError(f"features has {n_nodes} row(s); neighbours need at least two: pass one row a node.")
    if metric == "cosine":
        links = _by_cosine(as_plain_csr(features), n_neighbors)
    elif metric == "euclidean":
        links = nearest_others(as_plain_csr(features), n_neighbors)
    else:
        links = sparse.csr_array(kneighbors_graph(features, min(n_neighbors, n_nodes - 1), metric=metric))
    if links.nnz == 0:
        raise ValueError("no two nodes share a feature, so the features bring no graph; pass an adjacency.")
    links.data = np.ones(links.nnz)
    return sparse.csr_array(links.maximum(links.T))


def _by_cosine(rows: Sparse, n_neighbors: int) -> Sparse:
    """The distance of unit rows grows as the cosine falls; at a cosine of zero it is √2."""
    n_nodes = rows.shape[0]
    held = np.flatnonzero(np.diff(rows.indptr))
    if len(held) < 2:
        return sparse.csr_array((n_nodes, n_nodes))
    near = nearest_others(normalize(rows[held]), n_neighbors).tocoo()
    alike = near.data < np.sqrt(2) * (1 - TIED)
    places = held[near.row[alike]], held[near.col[alike]]
    return sparse.csr_array((near.data[alike], places), shape=(n_nodes, n_nodes))
