"""block_markers: the features that are significantly more common in a block, and the nodes that are typical of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import betainc, rel_entr
from scipy.stats import beta

from blockselect.inputs.labels import encode_labels
from blockselect.rows.sums import block_sums, by_row, n_holders, sum_by_column, sum_over_rows
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, Sparse, best_first

_TAIL = 0.025  # false discovery rate of the markers, and of each side of their 95 % intervals
_CONSTANT = 1e-9  # variance relative to the mean square below which a feature counts as constant
_N_STRONGEST = 5  # strongest markers, which a typical node should have
_NEUTRAL = 0.1  # weight of a node with none of these markers; a node with all of them has weight 1.1


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Statistics of m features over k blocks."""

    prevalence: FloatArray  # (m,) share of the nodes that have the feature
    block_means: FloatArray  # (k, m) mean of the feature over the nodes of each block (paper: D̄)
    lift: FloatArray  # (k, m) mean in the block divided by the mean over all nodes; 1 is as expected
    evidence: FloatArray  # (k, m) log-likelihood gain (nats) of a separate share in the block, negative if less common
    marks: BoolArray  # (k, m) whether the feature is significantly more common in the block
    marked_block: IntArray  # (m,) the marked block with the strongest evidence, −1 if the feature marks none
    marked_lift: FloatArray  # (m,) lift in this block, 1 if the feature marks none
    effective: FloatArray  # (m,) see `effective_holders`
    shares: FloatArray  # (k,) share of the nodes in each block
    tail: float  # error probability of each side of the intervals

    def features_of(self, block: int, among: IntArray | None = None) -> IntArray:
        """The features (by default among all) that mark the block, the strongest evidence first."""
        features = np.arange(self.marks.shape[1]) if among is None else among
        marking = features[self.marks[block, features]]
        by_evidence: IntArray = marking[best_first(self.evidence[block, marking])]
        return by_evidence

    def intervals(self, block: int, features: IntArray) -> tuple[FloatArray, FloatArray]:
        """Ends of the 95 % confidence intervals of the lifts of some features in a block (Clopper and Pearson, 1934).

        The error probability is adjusted for the selection of the markers among all pairs of a block and a feature
        (Benjamini and Yekutieli, 2005), so that exactly the intervals of the markers lie above 1.
        """
        share, total = float(self.shares[block]), self.effective[features]
        inside = np.minimum(self.lift[block, features] * total * share, total)
        outside = total - inside
        low = np.where(inside > 0, beta.ppf(self.tail, np.maximum(inside, 1e-9), outside + 1), 0.0)
        high = np.where(outside > 0, beta.isf(self.tail, inside + 1, np.maximum(outside, 1e-9)), 1.0)
        return low / share, high / share


def block_markers(features: Features, labels: ArrayLike) -> Markers:
    """Find the features that are significantly more common in a block than among all nodes.

    Let θ be the share of the total of a feature that lies in a block, and π the share of all nodes that are in the
    block. If the feature were unrelated to the blocks, θ would have mean π and at most the variance π (1 − π) / ν,
    where ν is the effective number of nodes that have the feature (:func:`effective_holders`). The p-value is the
    binomial tail at ν θ. A feature marks a block if this is significant at a false discovery rate of 2.5 % over all
    pairs of a block and a feature (Benjamini and Hochberg, 1995). The evidence is the log-likelihood gain ν KL(θ, π).

    If blocks were found with the help of these features, they are not independent of them. The markers then describe
    the blocks, but they do not prove that the features are associated with the network.

    Parameters
    ----------
    features : array, CSR or RowChunks of shape (n, m)
        Non-negative features, such as those passed to `fit`.
    labels : array of shape (n,)
        Block of each node, such as `labels_`.

    Returns
    -------
    Markers
        A constant feature has lift 1 and evidence 0 in every block, and marks none.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.repeat([[1, 1, 0], [1, 0, 0], [1, 0, 2]], 8, axis=0)  # the first word is everywhere
    >>> markers = block_markers(words, np.repeat(["perl", "ruby", "tex"], 8))
    >>> markers.marked_block, markers.marked_lift.round(2)
    (array([-1,  0,  2]), array([1., 3., 3.]))
    """
    blocks = encode_labels(labels)
    if len(blocks) != features.shape[0]:
        raise ValueError(f"there are {len(blocks)} labels but {features.shape[0]} nodes; pass one label per node.")
    sizes = np.bincount(blocks)
    sums = sum_over_rows(features, block_sums, blocks[None], len(sizes), np.float64)[0]
    return markers_of(sums, n_holders(features), effective_holders(features), sizes)


def effective_holders(features: Features) -> FloatArray:
    """The number of nodes with equal values whose sum over a random block would vary as much as the feature: (m,).

    Let c be the total of the feature, and V and K the sums of the second and third powers of its deviations from the
    mean. For ν = c / x equal values x, which have the same total, these sums are about c x and c x². So x = V / c
    matches the variance of the feature, and x = √(K / c) its skewness. The larger x is used, which makes the test
    conservative if a few large values dominate. For a constant feature, which cannot vary, ν is 0.
    """
    n = features.shape[0]
    totals, squares, cubes = (sum_over_rows(features, _power_sums, power) for power in (1, 2, 3))
    mean = totals / n
    V = (squares - totals * mean) * n / (n - 1)
    K = cubes - 3 * mean * squares + 2 * mean**2 * totals
    varies = _CONSTANT * squares < V
    c = np.where(varies, totals, 1.0)
    x = np.maximum(V / c, np.sqrt(np.maximum(K, 0.0) / c))
    effective: FloatArray = np.divide(c, x, out=np.zeros_like(totals), where=varies)
    return effective


def _power_sums(block: Features, rows: slice, power: int) -> FloatArray:
    if sparse.issparse(block):
        return sum_by_column(block, lambda values: values.astype(np.float64) ** power)
    return np.asarray((block.astype(np.float64) ** power).sum(axis=0))


def markers_of(sums: FloatArray, holders: IntArray, effective: FloatArray, block_sizes: IntArray) -> Markers:
    """`block_markers` from sums: of each feature over each block (k, m), and of the nodes that have it (m,)."""
    n, shares = int(block_sizes.sum()), block_sizes / block_sizes.sum()
    totals, p = sums.sum(axis=0), shares[:, None]
    lift = np.divide(sums, totals * p, out=np.ones_like(sums), where=totals > 0)
    lift[:, effective == 0] = 1.0
    q = np.minimum(lift * p, 1.0)
    evidence = np.copysign(effective * (rel_entr(q, p) + rel_entr(1 - q, 1 - p)), lift - 1)
    marks, tail = _significant(effective, q, p, lift > 1 + 1e-9)
    marked, columns = np.where(marks, evidence, -np.inf).argmax(axis=0), np.arange(len(totals))
    any_marked = marks.any(axis=0)
    return Markers(
        prevalence=holders / n,
        block_means=sums / block_sizes[:, None],
        lift=lift,
        evidence=evidence,
        marks=marks,
        marked_block=np.where(any_marked, marked, -1),
        marked_lift=np.where(any_marked, lift[marked, columns], 1.0),
        effective=effective,
        shares=shares,
        tail=tail,
    )


def _significant(effective: FloatArray, q: FloatArray, p: FloatArray, is_more: BoolArray) -> tuple[BoolArray, float]:
    """Which shares q significantly exceed p, and the error probability per test (Benjamini and Hochberg, 1995)."""
    p_values = np.ones_like(q)
    nu, q, p = (np.broadcast_to(each, is_more.shape)[is_more] for each in (effective, q, p))
    p_values[is_more] = betainc(nu * q, nu * (1 - q) + 1, p)  # the binomial tail, also for a non-integer ν q
    n_tests = max(p_values.shape[0] * np.count_nonzero(effective), 1)
    ordered = np.sort(p_values[is_more])
    passed = np.flatnonzero(ordered <= _TAIL * np.arange(1, len(ordered) + 1) / n_tests)
    tail = _TAIL * max(len(passed) and int(passed[-1]) + 1, 1) / n_tests
    return p_values <= tail, tail


def typical_nodes(
    features: Features, adjacency: Sparse, labels: IntArray, markers: Markers, chosen: IntArray, n_nodes: int
) -> list[list[int]]:
    """The nodes of each block that have its markers and link into it more than expected from their degree.

    A node is ranked by the share of its links that stay in the block (the lower end of a Wilson interval of one
    standard error, so that nodes with a single link do not come first), multiplied by the share of the five strongest
    markers that it has, weighted by their evidence.

    Parameters
    ----------
    features : array, CSR or RowChunks of shape (n, m)
    adjacency : CSR of shape (n, n)
    labels : array of shape (n,)
    markers : Markers
        The markers for these features and labels.
    chosen : array of shape (d,)
        Selected features; other markers are used only for blocks without selected markers.
    n_nodes : int
        Maximum number of nodes per block.
    """
    weights = sparse.lil_array(markers.lift.shape)
    for block in range(len(markers.shares)):
        best = markers.features_of(block, chosen)[:_N_STRONGEST]
        best = best if len(best) else markers.features_of(block)[:_N_STRONGEST]
        weights[block, best] = markers.evidence[block, best] / markers.evidence[block, best].sum()
    fits = by_row(features, _share_of_markers, labels, weights.tocsr())
    order = np.lexsort((-fits, -_share_inside(adjacency, labels) * (_NEUTRAL + fits), labels))
    first = np.searchsorted(labels[order], np.arange(len(markers.shares) + 1))
    return [order[start:end][:n_nodes].tolist() for start, end in pairwise(first)]


def _share_inside(adjacency: Sparse, labels: IntArray) -> FloatArray:
    """Lower end of the Wilson interval of the share of the links of each node that stay in its block: (n,)."""
    links = adjacency.tocoo()
    weights = links.data / links.data.mean() if links.nnz else links.data
    degree = np.bincount(links.row, weights, minlength=len(labels))
    within = labels[links.row] == labels[links.col]
    share = np.bincount(links.row[within], weights[within], minlength=len(labels)) / np.maximum(degree, 1e-12)
    spread = np.sqrt(np.maximum(share * (1 - share) * degree, 0.0) + 0.25)
    low: FloatArray = (share * degree + 0.5 - spread) / (degree + 1)
    return low


def _share_of_markers(block: Features, rows: slice, labels: IntArray, weights: Sparse) -> FloatArray:
    """Share of the markers of its block that each node has, with weights (k, m) that sum to 1 per block: (rows,)."""
    return np.asarray(weights[labels[rows]].multiply(sparse.csr_array(block != 0)).sum(axis=1)).ravel()
