"""Sets: the order in which features enter, so that the first d of them explain the blocks together.

The d best scores repeat each other: where one block is plain to see, many features that mark it come before the first
that marks another. A set has diminishing returns instead. A feature's score is split over the blocks it marks,
w_lb = r_l E_lb / Σ_b E_lb, E_lb ≥ 0 the part of its log-likelihood gain that block b brings. Features then enter one by
one, each time the one that adds most to

    Σ_b n_b log(1 + Σ_{l ∈ S} w_lb / τ)             by block: blocks count by their nodes, or
    Σ_i log(1 + Σ_{l ∈ S} x_il w_{l, b(i)} / τ)     by node: a node counts as far as the features it has mark its block.

Both are monotone and submodular, so that each set is within 1 − 1/e of the best of its size (Nemhauser, Wolsey and
Fisher, 1978), and gains only fall, so that few have to be computed again (lazy greedy; Minoux, 1978). With τ → ∞ the
first is the list. Several block models count alike.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numba import njit
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.graphs.binarize import in_units

TAU = 0.1  # of scores whose largest is 1: a block that a tenth of the best score marks has half of its first gain left
_CONSIDERED = 10  # times as many of the best scores as are wanted: the others would not enter
_DIGITS = 12  # in which gains are compared, so that rounding does not choose among equals


def order_by_block(
    scores: FloatArray, shares: Sequence[FloatArray], labels: Sequence[IntArray], n_wanted: int
) -> IntArray:
    """The first features by diminishing returns over blocks.

    Parameters
    ----------
    scores : array of shape (m,)
        At least 0; a feature that scores 0 does not enter.
    shares : sequence of arrays of shape (m, k)
        Of each block model: how each feature's score is split over its blocks.
    labels : sequence of arrays of shape (n,)
        Of each block model: the block of each node.
    n_wanted : int
        Features to order.

    Returns
    -------
    array of shape (at most n_wanted,)
    """
    considered, scaled = _considered(scores, n_wanted)
    split = np.hstack([scaled[:, None] * each[considered] for each in shares])
    sizes = [np.bincount(of_node, minlength=each.shape[1]) for of_node, each in zip(labels, shares, strict=True)]
    return considered[_in_turn(sparse.csc_array(split.T), np.concatenate(sizes), n_wanted)]


def order_by_node(
    scores: FloatArray,
    shares: Sequence[FloatArray],
    labels: Sequence[IntArray],
    n_wanted: int,
    features: Features,
) -> IntArray:
    """The first features by diminishing returns over nodes; `features` (n, m) in any units, else as above."""
    considered, scaled = _considered(scores, n_wanted)
    values = sparse.coo_array(in_units(features[:, considered]))
    parts = []
    for of_node, each in zip(labels, shares, strict=True):
        pieces = values.data * (scaled[:, None] * each[considered])[values.col, of_node[values.row]]
        parts.append(sparse.csc_array((pieces, (values.row, values.col)), shape=values.shape))
    places = sparse.csc_array(sparse.vstack(parts))
    return considered[_in_turn(places, np.ones(places.shape[0]), n_wanted)]


def _considered(scores: FloatArray, n_wanted: int) -> tuple[IntArray, FloatArray]:
    """The best features in the order of their numbers, and their scores with a largest of 1."""
    best = np.argsort(-scores, kind="stable")[: _CONSIDERED * n_wanted]
    best = np.sort(best[scores[best] > 0])
    return best, scores[best] / scores[best].max(initial=np.finfo(np.float64).tiny)


def _in_turn(pieces: Sparse, weights: FloatArray | IntArray, n_wanted: int) -> IntArray:
    """Columns by what each adds to Σ_i weights_i log(1 + Σ pieces_i / τ), the one that adds most first."""
    pieces.sort_indices()
    order: IntArray = _enter(
        pieces.indptr.astype(np.int64),
        pieces.indices.astype(np.int64),
        pieces.data / TAU,
        np.asarray(weights, dtype=np.float64),
        n_wanted,
    )
    return order


@njit(cache=True, nogil=True)
def _enter(starts: IntArray, places: IntArray, pieces: FloatArray, weights: FloatArray, n_wanted: int) -> IntArray:
    covered = np.zeros(len(weights))
    gains = np.array([_gain(at, starts, places, pieces, weights, covered) for at in range(len(starts) - 1)])
    scale = gains.max() if len(gains) else 1.0
    heap = [(np.round(-gain / scale, _DIGITS), column, 0) for column, gain in enumerate(gains) if gain > 0]
    heapq.heapify(heap)
    order = np.empty(min(n_wanted, len(heap)), dtype=np.intp)
    n_entered = 0
    while n_entered < len(order):
        _, column, computed = heapq.heappop(heap)
        if computed == n_entered:  # as things stand: no other can add more
            order[n_entered] = column
            n_entered += 1
            for at in range(starts[column], starts[column + 1]):
                covered[places[at]] += pieces[at]
        else:
            gain = _gain(column, starts, places, pieces, weights, covered)
            heapq.heappush(heap, (np.round(-gain / scale, _DIGITS), column, n_entered))
    return order


@njit(cache=True, nogil=True)
def _gain(
    column: int, starts: IntArray, places: IntArray, pieces: FloatArray, weights: FloatArray, covered: FloatArray
) -> float:
    gain = 0.0
    for at in range(starts[column], starts[column + 1]):
        gain += weights[places[at]] * np.log1p(pieces[at] / (1 + covered[places[at]]))
    return gain
