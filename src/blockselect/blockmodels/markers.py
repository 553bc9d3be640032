"""block_markers: how common each feature is overall and in each block, and which block it marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.base import best_first
from blockselect.graphs.node_labels import encode_labels
from blockselect.graphs.over_rows import block_sums, n_holders, sum_over_rows

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Statistics of m features over k blocks."""

    prevalence: FloatArray  # (m,) share of the nodes that have the feature
    block_means: FloatArray  # (k, m) mean of the feature over the nodes of each block (paper: D̄)
    lift: FloatArray  # (k, m) mean in the block divided by the mean of all nodes; 1 is as expected
    evidence: FloatArray  # (k, m) log-likelihood gain (nats) of a separate mean in the block; negative if less common
    marked_block: IntArray  # (m,) the block with most evidence; −1 if the feature is not more common in any block
    marked_lift: FloatArray  # (m,) lift in this block; 1 if no block is marked

    def features_of(self, block: int, among: IntArray) -> IntArray:
        """The features among these that mark the block, those with most evidence first."""
        marking = among[self.marked_block[among] == block]
        by_evidence: IntArray = marking[best_first(self.evidence[block, marking])]
        return by_evidence


def block_markers(features: Features, labels: ArrayLike) -> Markers:
    """Compare the mean of each feature in each block with its mean over all nodes.

    A feature marks the block with the strongest evidence that it is more common there than elsewhere. This need not be
    the block with the highest lift, for which one node of a tiny block would be enough. The evidence is the Poisson
    log-likelihood gain S log(S / E) − (S − E), where S is the sum of the feature over the block in units of its mean
    non-zero value and E is the sum expected from the size of the block.

    Parameters
    ----------
    features : array, CSR or RowChunks of shape (n, m)
        Non-negative features, such as those of a fit.
    labels : array of shape (n,)
        Block of each node, such as `labels_`.

    Returns
    -------
    Markers
        A feature that no node has is as expected everywhere: it has lift 1, evidence 0 and marks no block.

    Examples
    --------
    >>> import numpy as np
    >>> markers = block_markers(np.array([[1, 0], [1, 0], [0, 0], [1, 2]]), [0, 0, 1, 1])
    >>> markers.prevalence, markers.marked_block, markers.marked_lift.round(2)
    (array([0.75, 0.25]), array([0, 1]), array([1.33, 2.  ]))
    """
    blocks = encode_labels(labels)
    if len(blocks) != features.shape[0]:
        raise ValueError(f"there are {len(blocks)} labels but {features.shape[0]} nodes; pass one label per node.")
    sizes = np.bincount(blocks)
    sums = sum_over_rows(features, block_sums, blocks[None], len(sizes), np.float64)[0]
    return markers_of(sums, n_holders(features), sizes)


def markers_of(sums: FloatArray, holders: IntArray, block_sizes: IntArray) -> Markers:
    """The same from the sums (k, m) of features over blocks, the nodes (m,) that have each feature, and sizes (k,)."""
    n, sizes = int(block_sizes.sum()), block_sizes[:, None]
    totals = sums.sum(axis=0)
    expected = totals * sizes / n
    lift = np.divide(sums, expected, out=np.ones_like(sums), where=expected > 0)
    unit = np.divide(totals, holders, out=np.ones_like(totals), where=totals > 0)  # mean non-zero value
    evidence = _signed_gain(sums / unit, expected / unit)
    marked, columns = evidence.argmax(axis=0), np.arange(len(totals))
    marks = evidence[marked, columns] > 0
    return Markers(
        prevalence=holders / n,
        block_means=sums / sizes,
        lift=lift,
        evidence=evidence,
        marked_block=np.where(marks, marked, -1),
        marked_lift=np.where(marks, lift[marked, columns], 1.0),
    )


def central_nodes(adjacency: Sparse, labels: IntArray, n_nodes: int) -> list[list[int]]:
    """The nodes of each block with the most link weight inside the block, at most `n_nodes`, the most central first.

    Nodes without links inside their block are left out.
    """
    links = adjacency.tocoo()
    within = labels[links.row] == labels[links.col]
    weight = np.bincount(links.row[within], links.data[within], minlength=len(labels))
    order = np.lexsort((-weight, labels))
    order = order[weight[order] > 0]
    return [order[labels[order] == block][:n_nodes].tolist() for block in range(int(labels.max()) + 1)]


def _signed_gain(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """S log(S / E) − (S − E) with the sign of S − E; 0 if both differ only by rounding."""
    S, E = np.maximum(observed, _TINY), np.maximum(expected, _TINY)
    gain = np.where(np.isclose(S, E, rtol=1e-12), 0.0, S * np.log(S / E) - (S - E))
    signed: FloatArray = np.copysign(np.maximum(gain, 0.0), S - E)
    return signed
