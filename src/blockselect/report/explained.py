"""How much of the links the first d features explain, beside what the fitted blocks explain: how many are enough."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning

from blockselect.arrays import Features, IntArray
from blockselect.blockmodels.embedding import one_thread
from blockselect.evaluation.explained_links import links_explained
from blockselect.evaluation.selected_rows import unit_rows
from blockselect.graphs.attributed import AttributedGraph

_BEYOND = 4  # times the selected features: would more of them explain more?
_MOST = 2048  # features of one clustering
_STARTS = 3  # of each clustering
_DIGITS = 12  # of rows of unit length; what follows is rounding
ENOUGH = 0.95  # of what all selected features explain
_LARGE = 20_000  # nodes from which clusters are found from batches of them


def explained_by_size(
    graph: AttributedGraph, labels: IntArray, order: IntArray, n_selected: int
) -> list[dict[str, Any]]:
    """What K-means clusters on the first 1, 2, 4, … features explain of the links, relative to the fitted blocks.

    There are as many clusters as blocks, of rows of unit length. Both are measured by the mutual information of the
    blocks at the two ends of a link.

    Parameters
    ----------
    graph : AttributedGraph
    labels : array of shape (n,)
        The fitted blocks.
    order : array of int
        Features that may be used, the best first. The selected ones are the first `n_selected`.
    n_selected : int

    Returns
    -------
    list of dict
        `n_features` and `share`, rising by the number; empty where the blocks explain nothing or nothing can be used.
        A share may be above 1: features can hold structure that the blocks miss.
    """
    of_blocks = links_explained(graph.adjacency, labels)
    if of_blocks <= 1e-12 or not len(order):
        return []
    n_clusters = int(labels.max()) + 1
    return [
        {
            "n_features": size,
            "share": links_explained(graph.adjacency, _clusters(unit_rows(graph.features, order[:size]), n_clusters))
            / of_blocks,
        }
        for size in sizes_to_try(n_selected, len(order))
    ]


def sizes_to_try(n_selected: int, n_usable: int) -> list[int]:
    """Powers of two, to a few times as many as are selected, and the number that is."""
    last = min(_BEYOND * max(n_selected, 1), n_usable, _MOST)
    powers = {2**power for power in range(last.bit_length()) if 2**power <= last}
    return sorted(powers | {last} | ({n_selected} if 0 < n_selected <= last else set()))


def enough(curve: list[dict[str, Any]], n_selected: int) -> int | None:
    """The fewest features of the curve that come within 5 % of what all selected ones explain."""
    full = next((point["share"] for point in curve if point["n_features"] == n_selected), None)
    if full is None or full <= 0:
        return None
    return next((int(point["n_features"]) for point in curve if point["share"] >= ENOUGH * full), None)


def _clusters(rows: Features, n_clusters: int) -> IntArray:
    """Clusters of rows of unit length, whatever the unit of the features was: rounding must not break ties."""
    kind = KMeans if rows.shape[0] <= _LARGE else MiniBatchKMeans
    rows = round(rows, _DIGITS) if sparse.issparse(rows) else rows.round(_DIGITS)
    with warnings.catch_warnings(), one_thread():  # sums over threads arrive in any order: one thread, one result
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters: fewer clusters
        found: IntArray = kind(n_clusters, n_init=_STARTS, random_state=0).fit_predict(rows)
    return np.unique(found, return_inverse=True)[1]
