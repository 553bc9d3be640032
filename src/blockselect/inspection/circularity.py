"""Circularity: does the graph look as if it was built from the features that are to be tested against it?

Features match a graph of nearest neighbours, or of pairs above a similarity, by themselves. Where such a graph is
given, nobody says so; but its links join nodes to those most similar to them, which those of other graphs seldom do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.features import as_dense
from blockselect.warned import warn_caller

_N_LINKS = 200  # looked at
_SUSPECT = 0.5  # share of them, beyond chance, that join most similar nodes
_COSINE = "cosine"
_COMPONENTS = (2, 5, 10, 20, 50)  # numbers of principal components that graphs are often built from
_HUB = 0.25  # share of the nodes that a hub links with: nearly all may be among its most similar
_CELLS = 2**24  # similarities held at once


def warn_if_made_from_features(graph: AttributedGraph) -> None:
    """Warn where most links join nodes that are most similar by the features."""
    measure, share = most_similar_share(graph)
    if share > _SUSPECT:
        warn_caller(
            f"adjacency looks as if it was built from the features: {share:.0%} of its links join nodes that are most "
            f"similar by the {measure} of X. Features match such a graph by themselves, so p-values and q-values mean "
            "nothing; give a graph that was observed, or ask for a number of features.",
            UserWarning,
        )


def most_similar_share(graph: AttributedGraph) -> tuple[str, float]:
    """Share of links that join a node to one of its most similar, beyond chance, at most 1; by which similarity.

    As many nodes count as most similar to a node as it has links; of equal ones half are taken to come first. A hub,
    which links with a quarter of all nodes, is not asked: only the other end is. The cosine is tried, and the Euclidean
    distance by all features and by the leading principal components, of features as they are, of standardised ones, and
    of the logarithms of amounts; the largest share is returned. Of many links, 200 are looked at.
    """
    degrees = np.diff(graph.adjacency.indptr) - (graph.adjacency.diagonal() != 0)
    links = sparse.triu(graph.adjacency, k=1, format="coo")
    share_of_all = degrees / max(graph.n_nodes - 1, 1)
    asked = np.where(share_of_all < _HUB, share_of_all, 0.0)  # chance that another is among the most similar of a node
    telling = np.flatnonzero((asked[links.row] > 0) | (asked[links.col] > 0))
    if not len(telling):
        return _COSINE, 0.0
    some = telling[np.unique(np.linspace(0, len(telling) - 1, min(_N_LINKS, len(telling))).astype(np.intp))]
    ends = links.row[some], links.col[some]
    # Either end may have the other among its most similar.
    chance = float(np.mean(1 - (1 - asked[ends[0]]) * (1 - asked[ends[1]])))
    n_near = np.where(asked > 0, degrees, 0)
    features = graph.features.astype(np.float64)
    shares = {}
    for measure, rows in _ways_to_compare(features):
        near = _is_near(rows, *ends, n_near, measure) | _is_near(rows, *ends[::-1], n_near, measure)
        shares[measure] = (float(near.mean()) - chance) / (1 - chance)
    best = max(shares, key=lambda measure: shares[measure])
    return best, shares[best]


def _ways_to_compare(features: Features) -> Iterator[tuple[str, Features]]:
    """Rows whose distances are those by each measure, or whose products are cosines.

    To centre a sparse matrix would fill it: so principal components are found within the leading singular vectors of
    features that are not centred, one more of them, as the first is little but the mean.
    """
    yield _COSINE, normalize(features)
    scalings = {"": features, " of standardised features": _standardised(features)}
    values = features.data if sparse.issparse(features) else features
    if values.size and not np.isin(values, (0, values.max())).all():
        scalings[" of standardised logarithms"] = _standardised(_logarithms(features))
    counts = [count for count in _COMPONENTS if count < min(features.shape) - 1]
    for of, scaled in scalings.items():
        yield f"Euclidean distance{of}", scaled
        if not counts:
            continue
        vectors, lengths, _ = randomized_svd(scaled, counts[-1] + 1, n_iter=7, random_state=0)
        within = vectors * lengths
        vectors, lengths, _ = np.linalg.svd(within - within.mean(axis=0), full_matrices=False)
        for count in counts:
            yield f"leading {count} principal components{of}", (vectors * lengths)[:, :count]


def _logarithms(features: Features) -> Features:
    """log(1 + x) of rows scaled to the median total, as is usual for counts of cells."""
    totals = np.asarray(features.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(np.median(totals[totals > 0]), totals, out=np.zeros_like(totals), where=totals > 0)
    if sparse.issparse(features):
        return sparse.csr_array(sparse.diags_array(scale) @ features).log1p()
    return np.log1p(features * scale[:, None])


def _standardised(features: Features) -> Features:
    """Each column divided by its standard deviation; constant ones as they are."""
    mean_square = np.asarray((features * features).mean(axis=0)).ravel()
    variance = mean_square - np.asarray(features.mean(axis=0)).ravel() ** 2
    scale = 1 / np.sqrt(np.where(variance > 1e-12 * mean_square, variance, 1.0))
    return sparse.csr_array(features @ sparse.diags_array(scale)) if sparse.issparse(features) else features * scale


def _is_near(rows: Features, nodes: IntArray, others: IntArray, n_near: IntArray, measure: str) -> np.ndarray:
    """Which of the others are among the most similar of their node, so many of each."""
    squares = np.zeros(rows.shape[0]) if measure == _COSINE else np.asarray((rows * rows).sum(axis=1)).ravel() / 2
    near = np.zeros(len(nodes), dtype=bool)
    step = max(1, _CELLS // rows.shape[0])
    for start in range(0, len(nodes), step):
        here = slice(start, start + step)
        similar: FloatArray = as_dense(rows[nodes[here]] @ rows.T) - squares  # up to what is the node's own
        place = np.arange(len(similar))
        similar[place, nodes[here]] = -np.inf
        at = similar[place, others[here]][:, None]
        rounding = 1e-9 * np.maximum(np.abs(at), 1e-300)
        above = np.count_nonzero(similar > at + rounding, axis=1)
        equal = np.count_nonzero(np.abs(similar - at) <= rounding, axis=1)
        near[here] = above + (equal - 1) / 2 < n_near[nodes[here]]
    return near
