"""Nearest neighbours of nodes by their features, and the graph that links them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.graphs.checks import refuse_not_finite
from blockselect.graphs.features import as_plain_csr, by_density, feature_matrix
from blockselect.parameters import check_whole

N_NEIGHBORS = 10  # of each node, where nobody says how many

_EPS = float(np.finfo(np.float64).eps)
TIED = 1e-9  # by how much of itself a distance may be larger than another and is still the same
_ROUNDING = 16 * _EPS  # the same, as a share of a node's distance from the origin: what rounding leaves of a zero
_PAIRS = 2**22  # of nodes looked at together
_VALUES = 2**22  # of features whose differences are held at a time
_GROWTH = 4  # of the number of candidates, where the last of them may be as near as the last neighbour


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


def nearest_others(rows: Sparse, n_neighbors: int) -> Sparse:
    """Distances to the nearest others of each node, with direction; where there are fewer others, to all.

    Candidates come from scikit-learn. Their distances are computed again, by differences and in a fixed order. Where
    the last candidate may be as near as the last neighbour, more are asked for.

    Parameters
    ----------
    rows : CSR of shape (n, m)
        As `as_plain_csr` makes it; at least two rows.
    n_neighbors : int

    Returns
    -------
    csr_array of shape (n, n)
        `n_neighbors` entries in each row, columns in order; a distance of zero is an entry.
    """
    n, m = rows.shape
    k = min(n_neighbors, n - 1)
    searched = by_density(rows)
    search = NearestNeighbors().fit(searched)
    squared_lengths = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    error = 4 * (m + 4) * _EPS  # of a squared distance by inner products, relative to the squared lengths of both rows
    near, distances = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    waiting, n_asked = np.arange(n), min(2 * (k + 1), n)
    while len(waiting):
        left = []
        for some in gen_batches(len(waiting), max(1, _PAIRS // n_asked)):
            nodes = waiting[some]
            found, others = search.kneighbors(searched[nodes], n_asked)
            exact = _distances(rows, nodes, others)
            last = np.partition(exact, k - 1, axis=1)[:, k - 1]
            margin = TIED * last + _ROUNDING * np.sqrt(squared_lengths[nodes])
            beyond = (1 + error) * (last + margin) ** 2 + error * squared_lengths[nodes]
            sure = (found[:, -1] ** 2 > beyond) | (n_asked == n)
            left.append(nodes[~sure])
            bounds = (last - margin)[sure], (last + margin)[sure]
            near[nodes[sure]], distances[nodes[sure]] = _first(k, others[sure], exact[sure], *bounds)
        waiting, n_asked = np.concatenate(left), min(_GROWTH * n_asked, n)
    starts = np.arange(0, n * k + 1, k)
    return sparse.csr_array((distances.ravel(), near.ravel(), starts), shape=(n, n))


def _first(
    k: int, others: IntArray, exact: FloatArray, nearer: FloatArray, tied: FloatArray
) -> tuple[IntArray, FloatArray]:
    """The k nearest of each node, in order of their index, and their distances.

    These are all that are closer than `nearer`, and of those up to `tied` the first.
    """
    by_index = np.argsort(others, axis=1)
    exact = np.take_along_axis(exact, by_index, axis=1)
    preference = (exact >= nearer[:, None]).astype(np.int8) + (exact > tied[:, None])
    taken = np.sort(np.argsort(preference, axis=1, kind="stable")[:, :k], axis=1)
    near = np.take_along_axis(others, np.take_along_axis(by_index, taken, axis=1), axis=1)
    return near, np.take_along_axis(exact, taken, axis=1)


def _distances(rows: Sparse, nodes: IntArray, others: IntArray) -> FloatArray:
    """Distance of each node to the others in its row, summed over the features in their order; infinite to itself."""
    first, second = np.repeat(nodes, others.shape[1]), others.ravel()
    squares = np.empty(len(first))
    for pairs in gen_batches(len(first), max(1, _VALUES * rows.shape[0] // (2 * max(rows.nnz, 1)))):
        difference = rows[first[pairs]] - rows[second[pairs]]
        difference.data **= 2
        squares[pairs] = difference.sum(axis=1)
    return np.where(first == second, np.inf, np.sqrt(squares)).reshape(others.shape)
