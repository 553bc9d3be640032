"""Circularity: does the graph look as if it was built from the features that are tested on it?

Features match a graph of nearest neighbours, or of pairs above a similarity threshold, by construction. Users may not
mention that a graph was made in this way, but it can be recognised: its links join each node to the nodes that are most
similar to it, which is rare in other graphs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.matrices import as_dense
from blockselect.utils.arrays import Features, FloatArray, IntArray
from blockselect.utils.errors import warn_caller

_N_LINKS = 200  # number of links to check
_SUSPECT = 0.5  # share of the links, beyond chance, that join most similar nodes in a suspicious graph
_COSINE = "cosine"
_COMPONENTS = (2, 5, 10, 20, 50)  # numbers of principal components that are often used to build graphs
_HUB = 0.25  # a node linked to at least this share of the nodes is a hub; most similar nodes of hubs are not checked
_SIMILARITIES_AT_ONCE = 2**24  # largest number of similarities in memory


def warn_if_made_from_features(graph: AttributedGraph) -> bool:
    """Warn if the graph is known to come from the features, or if most of its links join most similar nodes.

    Returns whether there was a warning.
    """
    if graph.origin is not None:
        reason = f"adjacency was built from the expression matrix, as {graph.origin} of the AnnData says."
    else:
        measure, share = most_similar_share(graph)
        if share <= _SUSPECT:
            return False
        reason = (
            f"adjacency looks as if it was built from the features: {share:.0%} of its links join nodes that are most "
            f"similar by the {measure} of X."
        )
    warn_caller(
        f"{reason} Features match such a graph by construction, so p-values and q-values are meaningless; pass a graph "
        "that was observed, or request a number of features.",
        UserWarning,
    )
    return True


def most_similar_share(graph: AttributedGraph) -> tuple[str, float]:
    """The similarity by which most links join most similar nodes, and the share of these links beyond chance, ≤ 1.

    If a node has d neighbours, its d most similar nodes are considered; half of the ties are assumed to come first. For
    a link of a hub, which is linked to at least a quarter of all nodes, only the other end is checked. The similarities
    are the cosine and the Euclidean distance. The latter is computed from all features and from the leading principal
    components, each of the raw features, the standardised features, and the standardised logarithms of amounts. At most
    200 links are checked.
    """
    degrees = np.diff(graph.adjacency.indptr) - (graph.adjacency.diagonal() != 0)
    links = sparse.triu(graph.adjacency, k=1, format="coo")
    share_of_all = degrees / max(graph.n_nodes - 1, 1)
    by_chance = np.where(share_of_all < _HUB, share_of_all, 0.0)  # probability that a random node is most similar
    usable = np.flatnonzero((by_chance[links.row] > 0) | (by_chance[links.col] > 0))
    if not len(usable):
        return _COSINE, 0.0
    some = usable[np.unique(np.linspace(0, len(usable) - 1, min(_N_LINKS, len(usable))).astype(np.intp))]
    ends = links.row[some], links.col[some]
    # Either end may have the other end among its most similar nodes.
    chance = float(np.mean(1 - (1 - by_chance[ends[0]]) * (1 - by_chance[ends[1]])))
    n_near = np.where(by_chance > 0, degrees, 0)
    features = graph.features.astype(np.float64)
    shares = {}
    for measure, rows in _ways_to_compare(features):
        near = _is_near(rows, *ends, n_near, measure) | _is_near(rows, *ends[::-1], n_near, measure)
        shares[measure] = (float(near.mean()) - chance) / (1 - chance)
    best = max(shares, key=lambda measure: shares[measure])
    return best, shares[best]


def _ways_to_compare(features: Features) -> Iterator[tuple[str, Features]]:
    """Yield each similarity by name, with the rows to compare: by products for the cosine, by distances otherwise.

    Centring would fill a sparse matrix. The principal components are therefore found within the leading singular
    vectors of the uncentred features, plus one vector because the first is close to the mean.
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
    """log(1 + x) after scaling each row to the median total, as is usual for gene counts of cells."""
    totals = np.asarray(features.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(np.median(totals[totals > 0]), totals, out=np.zeros_like(totals), where=totals > 0)
    if sparse.issparse(features):
        return sparse.csr_array(sparse.diags_array(scale) @ features).log1p()
    return np.log1p(features * scale[:, None])


def _standardised(features: Features) -> Features:
    """Divide each column by its standard deviation; constant columns are left as they are."""
    mean_square = np.asarray((features * features).mean(axis=0)).ravel()
    variance = mean_square - np.asarray(features.mean(axis=0)).ravel() ** 2
    scale = 1 / np.sqrt(np.where(variance > 1e-12 * mean_square, variance, 1.0))
    return sparse.csr_array(features @ sparse.diags_array(scale)) if sparse.issparse(features) else features * scale


def _is_near(rows: Features, nodes: IntArray, others: IntArray, n_near: IntArray, measure: str) -> np.ndarray:
    """Whether each of `others` is among the `n_near` nodes that are most similar to its partner in `nodes`."""
    squares = np.zeros(rows.shape[0]) if measure == _COSINE else np.asarray((rows * rows).sum(axis=1)).ravel() / 2
    near = np.zeros(len(nodes), dtype=bool)
    step = max(1, _SIMILARITIES_AT_ONCE // rows.shape[0])
    for start in range(0, len(nodes), step):
        here = slice(start, start + step)
        similar: FloatArray = as_dense(rows[nodes[here]] @ rows.T) - squares  # up to a constant per node
        place = np.arange(len(similar))
        similar[place, nodes[here]] = -np.inf
        at = similar[place, others[here]][:, None]
        rounding = 1e-9 * np.maximum(np.abs(at), 1e-300)
        above = np.count_nonzero(similar > at + rounding, axis=1)
        equal = np.count_nonzero(np.abs(similar - at) <= rounding, axis=1)
        near[here] = above + (equal - 1) / 2 < n_near[nodes[here]]
    return near
