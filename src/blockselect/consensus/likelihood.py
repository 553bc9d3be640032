"""The joint likelihood J of links and features: how much better than chance blocks explain both, in nats.

For blocks F, and features of which z ∈ {0, 1}^m marks those in use, lower values are better:

    J(F, z) = − L(F) − Σ_l z_l (I_l(F) − (k − 1))

L is the log-likelihood gain of the links, and I_l that of feature l, both over a single block. A feature that depends
on the blocks has one rate per block, k − 1 more rates than a feature that does not. Each extra rate costs one nat
(AIC), which offsets what it gains by chance.

Links are Poisson counts. The mean number of links between two nodes is the product of their degrees and of the affinity
of their blocks (the degree-corrected block model of Karrer and Newman, 2011). With every affinity at its
maximum-likelihood value, L = ½ Σ_ab w_ab log(w_ab w / e_a e_b), where w_ab is the link weight between blocks a and b,
e_a the sum of the degrees in block a, and w the sum of all degrees. The degrees are given, so blocks gain nothing by
separating hubs from other nodes.

Features are counts too. The mean of a value is the total of all features of the node times a rate: one rate per
block, or one rate for all nodes. Then I_l = Σ_a c_la log(c_la t / t_a c_l), where c_la is the sum of feature l in block
a, c_l its sum over all nodes, t_a the total of all features in the block, and t the total over all nodes. The totals
are given, so blocks gain nothing by separating nodes with many features from nodes with few. Most features vary more
than Poisson counts, so their gain is divided by the overdispersion φ, which is the variance divided by the mean
(quasi-likelihood; Wedderburn, 1974). The gain is proportional to the scale of the feature, so we divide its values
instead.

The two losses of the paper and ‖A − F M Fᵀ‖² are not suitable objectives for blocks that may change. L_m is lowest if
blocks are blurred, L_b if nodes with many features are separated from nodes with few, and the error ‖A − F M Fᵀ‖ of a
sparse graph if hubs are separated from other nodes. All three lead away from planted blocks, even if the descent starts
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from blockselect.blockmodels.levels import BlockTree, leaf_order, merge_blocks, renumber_leaves, xlogx
from blockselect.blockmodels.model import BlockModel, sums_between_blocks
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.compiled_sums import sparse_block_sums
from blockselect.rows.matrices import without_zeros
from blockselect.rows.statistics import in_units, scale_columns, typical_values
from blockselect.rows.sums import by_row, in_memory, map_rows, n_holders, squared_lengths, sum_by_column, sum_over_rows
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, Sparse

_TINY = float(np.finfo(np.float64).tiny)
ROUNDING = 64 * np.finfo(np.float64).eps  # gains below this share of their terms are rounding errors
EQUAL = 1e-9  # values with a smaller relative difference count as equal
LEAST_DISPERSION = 1e-6  # the standard deviation is a thousandth of the mean: such a feature is practically constant


class Links(NamedTuple):
    """The links of a graph as a CSR matrix without stored zeros; the weights count links."""

    indptr: IntArray  # (n + 1,)
    indices: IntArray
    weights: FloatArray
    loops: FloatArray  # (n,) weight of each node's self-loop
    degrees: FloatArray  # (n,)


class Counts(NamedTuple):
    """Non-negative features in units in which they vary like Poisson counts, and the total of each node."""

    matrix: Any  # (n, m) CSR without stored zeros, or RowChunks of such blocks; `moves.Rows` in a sweep
    totals: FloatArray  # (n,) sum of all features of each node, each in units of the mean of its non-zero values
    typical: FloatArray  # (m,) mean of the non-zero values of each feature
    equal: bool  # whether, for every feature, all non-zero values are the same


class Tables(NamedTuple):
    """Sums of links and features over the nodes of each block; a sweep keeps them up to date."""

    weights: FloatArray  # (k, k) link weights between blocks, Fᵀ A F
    sums: FloatArray  # (m, k) sum of each feature in each block
    s_log_s: FloatArray  # (m, k) s log s for each of these sums s
    join: FloatArray  # (m, k) change of s log s if a node with a typical value joins the block
    leave: FloatArray  # (m, k) change of s log s if such a node leaves the block
    totals: FloatArray  # (k,) total of all features in each block


def link_unit(adjacency: Sparse) -> float:
    """The weight that counts as one link: Σw² / Σw over the links between different nodes, or 1 if there are none.

    If all weights are equal, the unit is that weight. Otherwise heavy links dominate it, so that a few heavy links do
    not count as many links.
    """
    weights = without_loops(adjacency).data
    weights = weights[weights > 0]
    if not len(weights):
        return 1.0
    shares = weights / weights.max()  # squares neither overflow nor underflow
    return float(weights.max() * (shares @ shares) / shares.sum())


def without_loops(adjacency: Sparse) -> Sparse:
    """The links between different nodes, in double precision; the indices are shared if there are no self-loops."""
    if not adjacency.diagonal().any():
        data = adjacency.data.astype(np.float64)
        return sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    links = adjacency.tocoo()
    apart = links.row != links.col
    data = links.data[apart].astype(np.float64)
    return sparse.csr_array((data, (links.row[apart], links.col[apart])), shape=adjacency.shape)


def as_links(adjacency: Sparse, unit: float) -> Links:
    """Convert a graph to double precision, with weights in units of one link."""
    counts = without_zeros(adjacency, own_values=True)
    counts.data /= unit
    return Links(
        counts.indptr.astype(np.int64, copy=False),
        counts.indices.astype(np.int32, copy=False),
        counts.data,
        counts.diagonal(),
        np.asarray(counts.sum(axis=1)),
    )


def as_counts(features: Features) -> Counts:
    """Convert features to units in which they vary like Poisson counts.

    In the totals of the nodes, each feature is in units of the mean of its non-zero values, so all features have the
    same weight.
    """
    scaled = map_rows(in_units(features), _as_csr)
    totals: FloatArray = by_row(scaled, _row_totals)
    squares, by_total, n_equal = sum_over_rows(scaled, _sums_by_column, totals)
    held = n_holders(features)
    units = 1 / dispersions(held.astype(np.float64), squares, by_total, totals)
    if in_memory(features):
        matrix = map_rows(scaled, scale_columns, units)
    else:  # combine both scalings, because chunks are scaled again whenever they are read
        matrix = map_rows(features, scale_columns, units / typical_values(features))
    return Counts(matrix, totals, units, bool(np.all(n_equal == held)))


def _as_csr(block: Features, rows: slice) -> Sparse:
    return sparse.csr_array(block)


def _row_totals(block: Sparse, rows: slice) -> FloatArray:
    totals: FloatArray = block.sum(axis=1)
    return totals


def _sums_by_column(block: Sparse, rows: slice, totals: FloatArray) -> FloatArray:
    """Σ x², Σ x t, and the number of values equal to the non-zero mean, which is 1, for each feature x: (3, m)."""
    is_mean = sum_by_column(block, lambda values: np.abs(values - 1) < EQUAL)
    return np.stack([squared_lengths(block, rows), block.T @ totals[rows], is_mean])


def dispersions(sums: FloatArray, squares: FloatArray, by_total: FloatArray, totals: FloatArray) -> FloatArray:
    """Variance of each feature around its single rate, divided by its mean: Σ_i (x_il − t_i c_l / t)² / c_l, (m,).

    This is the overdispersion φ_l. It is near 1 for rare binary features. Pearson's statistic, which divides each
    square by its own mean, is the same if all totals are equal; otherwise it overrates rare features of nodes with few
    features. With this φ_l, random blocks gain (k − 1) / 2 nats on average.

    Parameters
    ----------
    sums, squares, by_total : arrays of shape (m,)
        Σ_i x_il, Σ_i x_il² and Σ_i x_il t_i for each feature l.
    totals : array of shape (n,)
        t_i, the total of all features of node i.
    """
    rates = sums / max(totals.sum(), _TINY)
    residual = squares - 2 * rates * by_total + rates**2 * float(np.sum(totals**2))
    floor = LEAST_DISPERSION * np.maximum(sums, _TINY)
    varies: FloatArray = np.maximum(residual, floor) / np.maximum(sums, _TINY)
    return varies


def weights_by_block(links: Links, labels: IntArray) -> FloatArray:
    """Link weight of each pair of blocks, Fᵀ A F: (k, k)."""
    return sums_between_blocks(links.indptr, links.indices, links.weights, labels)


def sums_by_block(counts: Counts, labels: Sequence[IntArray]) -> list[FloatArray]:
    """Sum of each feature in each block, (m, k), for each array of labels (n,)."""
    sizes = [int(of_node.max()) + 1 for of_node in labels]
    together: FloatArray = sum_over_rows(counts.matrix, _sums_by_block, list(labels), sizes)
    return [np.ascontiguousarray(sums) for sums in np.split(together, np.cumsum(sizes)[:-1], axis=1)]


def _sums_by_block(block: Sparse, rows: slice, labels: Sequence[IntArray], sizes: Sequence[int]) -> FloatArray:
    """Sum of each feature in each block, for all arrays of labels side by side: (m, Σk)."""
    X = block.indptr, block.indices, block.data
    sums = [sparse_block_sums(*X, of_node[rows], k, block.shape[1]) for of_node, k in zip(labels, sizes, strict=True)]
    return np.vstack(sums).T


def link_gain(weights: FloatArray) -> float:
    """Log-likelihood gain of blocks with these link weights (k, k) over a single block; at least 0."""
    degrees = weights.sum(axis=1)
    return float(0.5 * xlogx(weights).sum() - xlogx(degrees).sum() + 0.5 * xlogx(degrees.sum()))


def feature_gains(sums: FloatArray, s_log_s: FloatArray, block_totals: FloatArray) -> FloatArray:
    """Log-likelihood gain of one rate per block over a single rate, for each feature: (m,), at least 0.

    Parameters
    ----------
    sums : array of shape (m, k)
        Sum of each feature in each block.
    s_log_s : array of shape (m, k)
        s log s for each of these sums s.
    block_totals : array of shape (k,)
        Total of all features in each block.
    """
    column_sums = sums.sum(axis=1)  # (m,)
    by_block = s_log_s.sum(axis=1) - (sums * np.log(np.maximum(block_totals, _TINY))).sum(axis=1)
    single = xlogx(column_sums) - column_sums * np.log(max(block_totals.sum(), _TINY))
    gains = by_block - single
    return np.where(gains > ROUNDING * np.abs(single), gains, 0.0)


def penalty(n_blocks: int) -> int:
    """AIC penalty, in nats, for a feature with a separate rate in each block."""
    return n_blocks - 1


def evaluate(tables: Tables) -> tuple[FloatArray, BoolArray, float]:
    """The gain of each feature (m,), whether it exceeds the penalty (m,), and J with the features for which it does."""
    gains = feature_gains(tables.sums, tables.s_log_s, tables.totals)
    cost = penalty(len(tables.weights))
    above = float(np.maximum(gains - cost, 0.0).sum())
    return gains, gains > cost, -float(link_gain(tables.weights)) - above


def comparable_gain(tables: Tables, n_nodes: int) -> float:
    """−J minus the cost of describing the blocks, to compare different numbers of blocks; larger is better.

    More blocks gain more by chance. As in a description length, the cost is log k nats for each label, and half the
    logarithm of the total link weight for each density.
    """
    k, n_links = len(tables.weights), float(tables.weights.sum()) / 2
    densities = k * (k + 1) / 4 * np.log(max(n_links, 1.0))
    return float(-evaluate(tables)[2] - densities - n_nodes * np.log(k))


class JointLikelihood:
    """How well blocks explain the links and the features of a graph: J, as defined at the top of this file.

    Labels are 0 … k − 1, and no block is empty, as in every block model.

    Parameters
    ----------
    graph : AttributedGraph
        Its features are non-negative numbers, dense, sparse or in row chunks. Their units do not matter, because the
        gain of a feature is relative to its variance. Link weights are divided by `link_unit` and treated as counts.
    unit : float, optional
        The weight that counts as one link; by default the `link_unit` of the graph. A resampled graph keeps the unit of
        the graph from which it was drawn.
    counts : Counts, optional
        The result of `as_counts`, if it was already computed for another likelihood of the same features.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> planted = make_attributed_blocks(200, 3, random_state=0)
    >>> planted_gain, random_gain = JointLikelihood(planted.graph).gains([planted.blocks, planted.blocks[::-1]])
    >>> bool(planted_gain > random_gain)
    True
    """

    __slots__ = ("counts", "graph", "links", "unit")

    def __init__(self, graph: AttributedGraph, *, unit: float | None = None, counts: Counts | None = None) -> None:
        self.graph = graph
        self.unit = link_unit(graph.adjacency) if unit is None else unit
        self.links = as_links(graph.adjacency, self.unit)
        self.counts = as_counts(graph.features) if counts is None else counts

    def tables(self, labels: Sequence[IntArray]) -> Iterator[Tables]:
        """Yield the sums of links and features over the blocks of each array of labels (n,).

        Row chunks are read once for all labels.
        """
        at_once = 1 if in_memory(self.counts.matrix) else len(labels)
        typical = self.counts.typical[:, None]
        for start in range(0, len(labels), at_once):
            some = labels[start : start + at_once]
            for of_node, sums in zip(some, sums_by_block(self.counts, some), strict=True):
                totals: FloatArray = np.bincount(of_node, self.counts.totals, sums.shape[1]).astype(np.float64)
                s_log_s = xlogx(sums)
                join, leave = xlogx(sums + typical) - s_log_s, xlogx(sums - typical) - s_log_s
                yield Tables(weights_by_block(self.links, of_node), sums, s_log_s, join, leave, totals)

    def gains(self, labels: Sequence[IntArray]) -> FloatArray:
        """−J of each array of labels, the penalised log-likelihood gain; larger values are better: (c,)"""
        return np.array([-evaluate(tables)[2] for tables in self.tables(labels)])

    def gains_of_links(self, labels: Sequence[IntArray]) -> FloatArray:
        """Log-likelihood gain of the links from the blocks of each array of labels, without any penalty: (c,)."""
        return np.array([link_gain(weights_by_block(self.links, of_node)) for of_node in labels])

    def comparable_gains(self, labels: Sequence[IntArray]) -> FloatArray:
        """The `comparable_gain` of each array of labels: (c,)."""
        return np.array([comparable_gain(tables, self.graph.n_nodes) for tables in self.tables(labels)])

    def trees(self, models: Sequence[BlockModel], *, renumber: bool = True) -> list[BlockTree]:
        """Merge the blocks of each model into a tree, using links and the features whose gain exceeds the penalty.

        With `renumber`, blocks are numbered along the tree, the largest branch first.
        """
        trees = []
        for model, tables in zip(models, self.tables([model.labels for model in models]), strict=True):
            gains, in_use, _ = evaluate(tables)
            linkage = merge_blocks(tables.weights, model.block_sizes, tables.sums[in_use], tables.totals)
            if renumber:
                order = leaf_order(linkage, model.block_sizes)
                model, linkage = model.renumbered(order), renumber_leaves(linkage, order)
            trees.append(BlockTree(model, linkage, gains))
        return trees
