"""batched_kmeans: K-means of the same sparse rows for several numbers of clusters and from several starts, all at once.

A library clusters once for each call, and most of a short run is overhead: here a pass over the rows serves all runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from blockselect.arrays import FloatArray, IntArray, Sparse

_MAX_ITER = 20
_SETTLED = 1e-3  # share of the rows that change clusters in an iteration after which it is over


_Rows = tuple[IntArray, IntArray, FloatArray]  # parts of a CSR matrix


def clusterings(
    rows: Sparse, n_clusters: Sequence[int], *, n_starts: int, rng: np.random.Generator, n_sample: int
) -> IntArray:
    """Clusters of each row in every run, by Lloyd's algorithm from k-means++ starts.

    Parameters
    ----------
    rows : CSR of shape (n, d)
    n_clusters : sequence of int
        Numbers of clusters, each at most n.
    n_starts : int
        Runs for each number.
    rng : numpy.random.Generator
        Draws the starts, and the sample.
    n_sample : int
        Centres are found on at most so many rows, drawn at random; then every row joins its nearest.

    Returns
    -------
    array of shape (len(n_clusters) · n_starts, n)
        Runs of the first number of clusters first.
    """
    sizes = np.repeat(np.asarray(n_clusters), n_starts)
    ends = np.cumsum(sizes)
    sample = every = _parts(rows)
    if rows.shape[0] > n_sample:
        sample = _parts(rows[np.sort(rng.choice(rows.shape[0], n_sample, replace=False))])
    draws = rng.random((int(sizes.max()), len(sizes)))
    centres = _first_centres(*sample, rows.shape[1], ends, draws)
    labels = np.full((len(sizes), len(sample[0]) - 1), -1)
    for _ in range(_MAX_ITER):
        n_changed = _join_nearest(*sample, centres, ends, labels)
        if n_changed <= _SETTLED * labels.size:
            break
        _move_centres(*sample, centres, ends, labels)
    if sample is every:
        return labels
    found = np.full((len(sizes), rows.shape[0]), -1)
    _join_nearest(*every, centres, ends, found)
    return found


def _parts(rows: Sparse) -> _Rows:
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float32)


@njit(cache=True, nogil=True)
def _first_centres(
    starts: IntArray, columns: IntArray, values: FloatArray, n_columns: int, ends: IntArray, draws: FloatArray
) -> FloatArray:
    """k-means++ for all runs in step, (d, c): a row becomes a centre by its squared distance to those there are."""
    n, n_runs = len(starts) - 1, len(ends)
    centres = np.zeros((n_columns, ends[-1]), dtype=np.float32)
    nearest = np.full((n_runs, n), np.inf, dtype=np.float32)
    fresh = np.zeros((n_columns, n_runs), dtype=np.float32)
    squares, distances = np.zeros(n_runs, dtype=np.float32), np.zeros(n_runs, dtype=np.float32)
    for step in range(len(draws)):
        fresh[:] = 0.0
        squares[:] = 0.0
        for run in range(n_runs):
            first = ends[run - 1] if run else 0
            if first + step < ends[run]:
                row = _drawn(nearest[run], draws[step, run], step == 0)
                for at in range(starts[row], starts[row + 1]):
                    fresh[columns[at], run] = values[at]
                    centres[columns[at], first + step] = values[at]
                    squares[run] += values[at] ** 2
        for row in range(n):
            distances[:] = squares
            for at in range(starts[row], starts[row + 1]):
                distances += values[at] * (values[at] - np.float32(2) * fresh[columns[at]])
            for run in range(n_runs):
                nearest[run, row] = min(nearest[run, row], max(distances[run], 0.0))
    return centres


@njit(cache=True, nogil=True)
def _drawn(weights: FloatArray, draw: float, evenly: bool) -> int:
    """A place by its weight, or any place alike: also where all weights are 0."""
    total = 0.0 if evenly else weights.sum()
    if total > 0:
        left = draw * total
        for place in range(len(weights)):
            left -= weights[place]
            if left < 0:
                return place
    return min(int(draw * len(weights)), len(weights) - 1)


@njit(cache=True, nogil=True)
def _join_nearest(
    starts: IntArray, columns: IntArray, values: FloatArray, centres: FloatArray, ends: IntArray, labels: IntArray
) -> int:
    """Each row joins its nearest centre in every run; how many changed."""
    lengths = np.zeros(centres.shape[1], dtype=np.float32)
    for column in range(len(centres)):
        lengths += centres[column] ** 2
    distances = np.empty_like(lengths)
    n_changed = 0
    for row in range(len(starts) - 1):
        distances[:] = lengths
        for at in range(starts[row], starts[row + 1]):
            distances -= np.float32(2) * values[at] * centres[columns[at]]
        first = 0
        for run in range(len(ends)):
            best = first
            for place in range(first + 1, ends[run]):
                if distances[place] < distances[best]:
                    best = place
            n_changed += labels[run, row] != best - first
            labels[run, row] = best - first
            first = ends[run]
    return n_changed


@njit(cache=True, nogil=True)
def _move_centres(
    starts: IntArray, columns: IntArray, values: FloatArray, centres: FloatArray, ends: IntArray, labels: IntArray
) -> None:
    """Centres become the means of their clusters; an empty one stays where it is."""
    sums, counts = np.zeros(centres.shape[::-1], dtype=np.float32), np.zeros(centres.shape[1], dtype=np.float32)
    for row in range(len(starts) - 1):
        for run in range(len(ends)):
            place = labels[run, row] + (ends[run - 1] if run else 0)
            counts[place] += 1
            for at in range(starts[row], starts[row + 1]):
                sums[place, columns[at]] += values[at]
    for place in range(len(counts)):
        if counts[place] > 0:
            for column in range(len(centres)):
                centres[column, place] = sums[place, column] / counts[place]
