"""Result: the record of a fit, which tables, plots and reports use instead of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.features import CheckedTable
from blockselect.rows.matrices import as_dense
from blockselect.rows.statistics import mean_and_variance
from blockselect.rows.sums import in_memory, n_holders
from blockselect.utils.arrays import Features, FloatArray, IntArray, ObjectArray, Sparse

PIXELS = 400  # width of the picture of the ordered adjacency matrix
ALIKE = 0.5  # minimum correlation of two features that count as similar
_MAX_COMPARED = 1000  # maximum number of features that are compared with each other
_MAX_PAIRS = 10  # maximum number of pairs that are listed
_LISTED = 0.1  # minimum correlation of a pair that is listed


@dataclass(frozen=True, slots=True, eq=False)
class BlockRecord:
    """What a fit stores about k blocks: their feature sums, names and typical nodes, and pictures of the graph."""

    sums: FloatArray  # (k, m) sum of each feature over each block
    effective_holders: FloatArray  # (m,) effective number of nodes that have each feature, see `markers`
    link_weights: FloatArray  # (k, k) total between each pair of blocks, each link counted from both ends
    typical_nodes: list[list[int]]  # row numbers of some nodes of each block, the most typical first
    given_names: list[str] | None  # names of the blocks, if the user gave them
    ordered_links: Sparse  # links per pixel of the adjacency matrix ordered by block, at most 400 × 400
    small_graph: Sparse | None  # (n, n) the adjacency matrix, if it is small enough to be drawn node by node


@dataclass(frozen=True, slots=True, eq=False)
class LinkRecord:
    """What a fit stores about the links of the network."""

    n_links: int  # including self-loops
    n_self_loops: int
    n_isolated: int
    mean_degree: float
    degree: FloatArray | None  # (m,) mean degree of the nodes that have each feature; None if there are blocks
    autocorrelation: (
        FloatArray | None
    )  # (m,) correlation of each feature between linked nodes; None if there are blocks


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a fit stores about a network of n nodes with m features."""

    n_nodes: int
    node_ids: ObjectArray | None  # (n,)
    feature_names: ObjectArray | None  # (m,)
    holders: IntArray  # (m,) number of nodes that have each feature
    n_without_selected: int | None  # nodes that have no selected feature; None for row chunks
    redundancy: dict[str, Any] | None  # see `redundancy`; None for fewer than two selected features or row chunks
    links: LinkRecord | None  # None if the method uses only the features and `fit` was called without a graph
    blocks: BlockRecord | None = None  # None if the method uses no blocks
    explained: dict[str, Any] | None = None  # see `explained_by_size`; None without blocks and for row chunks

    @property
    def n_features(self) -> int:
        return len(self.holders)


def make_result(
    network: AttributedGraph | CheckedTable,
    chosen: IntArray,
    blocks: BlockRecord | None = None,
    explained: dict[str, Any] | None = None,
) -> Result:
    """Create the record of a fit.

    Parameters
    ----------
    network : AttributedGraph or CheckedTable
        The features that were passed to `fit`, with the graph if there is one.
    chosen : array of shape (d,)
        The selected columns, best first.
    blocks, explained
        The record of the blocks, and how much of them the features explain.
    """
    features = network.features if isinstance(network, AttributedGraph) else network.matrix
    holders = n_holders(features)
    selected = features[:, chosen] if in_memory(features) else None
    return Result(
        n_nodes=int(features.shape[0]),
        node_ids=network.node_ids,
        feature_names=network.feature_names,
        holders=holders,
        n_without_selected=None if selected is None else int(np.count_nonzero((selected != 0).sum(axis=1) == 0)),
        redundancy=None if selected is None else redundancy(selected, chosen),
        links=_links(network, holders, blocks is None) if isinstance(network, AttributedGraph) else None,
        blocks=blocks,
        explained=explained,
    )


def _links(graph: AttributedGraph, holders: IntArray, by_feature: bool) -> LinkRecord:
    degree = autocorrelation = None
    if by_feature:
        from blockselect.inspection.evidence import (
            link_correlations,  # here, because Numba takes half a second to import
        )

        degrees = np.diff(graph.adjacency.indptr).astype(np.float64)
        at_holders = (graph.features != 0).T @ degrees
        degree = np.divide(at_holders, holders, out=np.zeros(len(holders)), where=holders > 0)
        autocorrelation = link_correlations(graph.features, graph.adjacency)
    mean_degree = graph.adjacency.nnz / graph.n_nodes
    return LinkRecord(graph.n_links, graph.n_self_loops, graph.n_isolated, mean_degree, degree, autocorrelation)


def redundancy(selected: Features, chosen: IntArray) -> dict[str, Any] | None:
    """Find correlated pairs of selected features (n, d), whose columns in X are `chosen`; None for fewer than two.

    Returns
    -------
    dict
        `n_compared` is the number of features compared (at most the 1,000 best), `n_alike` the number of features with
        a correlation of at least 0.5 with another one, and `pairs` lists the columns and the Pearson correlations of
        the most highly correlated pairs.
    """
    compared = chosen[:_MAX_COMPARED]
    if len(compared) < 2:
        return None
    correlations = correlate(selected[:, :_MAX_COMPARED])
    above = np.triu(correlations, 1)
    rows, columns = np.unravel_index(np.argsort(-above, axis=None, kind="stable")[:_MAX_PAIRS], above.shape)
    highest = (correlations - 2 * np.eye(len(compared))).max(axis=1)
    return {
        "n_compared": len(compared),
        "n_alike": int(np.count_nonzero(highest >= ALIKE)),
        "pairs": [
            {"first": int(compared[i]), "second": int(compared[j]), "correlation": float(above[i, j])}
            for i, j in zip(rows, columns, strict=True)
            if above[i, j] >= _LISTED
        ],
    }


def correlate(columns: Features) -> FloatArray:
    """Pearson correlation of each pair of columns, 0 for constant columns: (d, d)."""
    mean, variance = mean_and_variance(columns)
    scale = np.sqrt(variance)
    products = as_dense(columns.T @ columns).astype(np.float64) / columns.shape[0] - np.outer(mean, mean)
    spread = np.outer(scale, scale)
    correlations = np.divide(products, spread, out=np.zeros_like(products), where=spread > 1e-12 * np.outer(mean, mean))
    np.fill_diagonal(correlations, 1.0)
    clipped: FloatArray = np.clip(correlations, -1.0, 1.0)
    return clipped


def order_by_block(adjacency: Sparse, labels: IntArray) -> IntArray:
    """Order the nodes by block and, within a block, by decreasing degree."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    return np.lexsort((-degrees, labels))


def ordered_links(adjacency: Sparse, labels: IntArray, pixels: int = PIXELS) -> FloatArray:
    """Count the links in each pixel of the adjacency matrix ordered by block."""
    n = adjacency.shape[0]
    size = min(pixels, n)
    place = np.empty(n, dtype=np.intp)
    place[order_by_block(adjacency, labels)] = np.arange(n)
    links = adjacency.tocoo()
    rows, columns = (place[end] * size // n for end in (links.row, links.col))
    counts = np.bincount(rows * size + columns, minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)
