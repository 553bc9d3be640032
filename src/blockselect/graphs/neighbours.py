"""Nearest neighbours of nodes in feature space, and the graph that links them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from blockselect.rows.matrices import by_density
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

_EPS = float(np.finfo(np.float64).eps)
TIED = 1e-9  # relative difference up to which two distances count as equal
_ROUNDING = 16 * _EPS  # rounding error of a zero difference, relative to the length of a row
_PAIRS = 2**22  # pairs of nodes per batch
_VALUES = 2**22  # number of feature differences in memory at a time
_GROWTH = 4  # factor by which the number of candidates increases if the last may be as near as the last neighbour


def nearest_others(rows: Sparse, n_neighbors: int, *, pairs_at_once: int = _PAIRS) -> Sparse:
    """Distances from each node to its nearest other nodes, or to all of them if there are fewer than `n_neighbors`.

    The result depends only on the values of the features, not on their storage, float type or batch size: distances
    that differ only by rounding count as equal, and ties are broken by node index. Scikit-learn finds
    candidates, whose distances are recomputed from differences in a fixed order. If the last candidate may be as near
    as the last neighbour, more candidates are requested.

    Parameters
    ----------
    rows : CSR of shape (n, m)
        From `as_plain_csr`, with at least two rows.
    n_neighbors : int
    pairs_at_once : int
        Number of pairs of nodes per batch.

    Returns
    -------
    csr_array of shape (n, n)
        `n_neighbors` entries per row, sorted by column; a distance of zero is stored.
    """
    n, m = rows.shape
    k = min(n_neighbors, n - 1)
    searched = by_density(rows)
    search = NearestNeighbors().fit(searched)
    squared_lengths = squared_row_lengths(rows)
    error = 4 * (m + 4) * _EPS  # of a squared distance computed from inner products, relative to both squared lengths
    near, distances = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    waiting, n_asked = np.arange(n), min(2 * (k + 1), n)
    while len(waiting):
        left = []
        for some in gen_batches(len(waiting), max(1, pairs_at_once // n_asked)):
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
    """The k nearest nodes of each node, ordered by index, and their distances.

    They are all nodes at a distance below `nearer`, then nodes up to the distance `tied` in index order.
    """
    by_index = np.argsort(others, axis=1)
    exact = np.take_along_axis(exact, by_index, axis=1)
    preference = (exact >= nearer[:, None]).astype(np.int8) + (exact > tied[:, None])
    taken = np.sort(np.argsort(preference, axis=1, kind="stable")[:, :k], axis=1)
    near = np.take_along_axis(others, np.take_along_axis(by_index, taken, axis=1), axis=1)
    return near, np.take_along_axis(exact, taken, axis=1)


def squared_row_lengths(rows: Features) -> FloatArray:
    """‖x_i‖² of each row: (n,)."""
    return np.asarray((rows * rows).sum(axis=1), dtype=np.float64).ravel()


def _distances(rows: Sparse, nodes: IntArray, others: IntArray) -> FloatArray:
    """Distance of each node to the nodes in its row of `others`; infinite to itself.

    Squares are added in the order of the features.
    """
    first, second = np.repeat(nodes, others.shape[1]), others.ravel()
    squares = np.empty(len(first))
    for pairs in gen_batches(len(first), max(1, _VALUES * rows.shape[0] // (2 * max(rows.nnz, 1)))):
        difference = rows[first[pairs]] - rows[second[pairs]]
        difference.data **= 2
        squares[pairs] = difference.sum(axis=1)
    return np.where(first == second, np.inf, np.sqrt(squares)).reshape(others.shape)
