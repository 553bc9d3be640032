"""Nearest-neighbour graph of the features, for data that brings no graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from blockselect.arrays import Sparse
from blockselect.graphs.checks import refuse_not_finite
from blockselect.graphs.feature_table import feature_matrix
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
        Symmetric, without self-loops. Ties at the last neighbour are broken by scikit-learn.
    """
    n_neighbors = check_whole("n_neighbors", n_neighbors, 1)
    features = feature_matrix(features)
    refuse_not_finite(features)
    n_nodes = features.shape[0]
    if n_nodes < 2:
        raise ValueError(f"features has {n_nodes} row(s); neighbours need at least two: pass one row a node.")
    distances = kneighbors_graph(features, min(n_neighbors, n_nodes - 1), mode="distance", metric=metric)
    links = sparse.csr_array(distances, copy=True)
    links.data = np.where(links.data < 1, 1.0, 0.0) if metric == "cosine" else np.ones(links.nnz)
    links.eliminate_zeros()
    if links.nnz == 0:
        raise ValueError("no two nodes share a feature, so the features bring no graph; pass an adjacency.")
    return sparse.csr_array(links.maximum(links.T))
