"""Log-likelihood gains: how much better than chance blocks and links explain the data. All gains are in nats.

Links are Poisson counts. The mean of a link is the product of both degrees and of the affinity of both blocks (the
degree-corrected block model of Karrer and Newman, 2011). With every affinity at its maximum-likelihood value, the
log-likelihood exceeds that of a single block by ½ Σ_ab w_ab log(w_ab w / e_a e_b): w_ab is the link weight between
blocks a and b, e_a the sum of the degrees in block a, and w the sum of all degrees. The degrees are given, so blocks
gain nothing by separating hubs from other nodes.

Features are counts too. The mean of a value is the total of all features of the node times a rate: one rate per
block, or one rate for all nodes. Blocks exceed a single rate by Σ_a c_la log(c_la t / t_a c_l): c_la is the sum of
feature l in block a, c_l its sum over all nodes, t_a the total of all features in the block, and t the total over all
nodes. The totals are given, so blocks gain nothing by separating nodes with many features from nodes with few. Most
features vary more than Poisson counts, so their gain is divided by the overdispersion φ, the variance in units of the
mean (quasi-likelihood; Wedderburn, 1974). The gain is homogeneous in the values of the feature, so we divide these.

The links among the nodes that have a feature need no blocks. Let x be the values of the feature, in units of the mean
of its non-zero values. The weight of these links is g = Σ_{i<j} x_i x_j A_ij. If links depended only on the degrees,
it would be ĝ = w' Σ_{i<j} x_i x_j d_i d_j / Σ_{i<j} d_i d_j, with w' the weight of all links. The gain of a Poisson
count is g log(g / ĝ) − (g − ĝ). Different values make g vary more than a count, so g and ĝ of features that are not
binary are divided by an overdispersion factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from blockselect.blockmodels.levels import xlogx
from blockselect.blockmodels.model import sums_between_blocks
from blockselect.consensus.moves import Counts, Links, Tables
from blockselect.graphs.link_products import products_along_links
from blockselect.rows.compiled_sums import sparse_block_sums
from blockselect.rows.matrices import without_zeros
from blockselect.rows.statistics import in_units, scale_columns, typical_values
from blockselect.rows.sums import by_row, in_memory, map_rows, n_holders, squared_lengths, sum_by_column, sum_over_rows
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

_TINY = float(np.finfo(np.float64).tiny)
_ROUNDING = 64 * np.finfo(np.float64).eps  # gains below this share of their terms are rounding errors
_EQUAL = 1e-9  # values with a smaller relative difference are equal
_LEAST_DISPERSION = 1e-6  # a standard deviation of a thousandth of the mean: such a feature is practically constant


def link_unit(adjacency: Sparse) -> float:
    """The weight that counts as one link: Σw² / Σw over the links between different nodes, or 1 without such links.

    If all weights are equal, the unit is that weight. Otherwise heavy links determine it, so that a few heavy links do
    not count as many links.
    """
    weights = _without_loops(adjacency).data
    weights = weights[weights > 0]
    if not len(weights):
        return 1.0
    shares = weights / weights.max()  # squares neither overflow nor underflow
    return float(weights.max() * (shares @ shares) / shares.sum())


def as_links(adjacency: Sparse, unit: float) -> Links:
    """The graph in double precision, with weights in units of one link."""
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
    """Features in units in which they vary like Poisson counts.

    Each feature adds to the totals in units of the mean of its non-zero values, so all features have the same weight.
    """
    scaled = map_rows(in_units(features), _as_csr)
    totals: FloatArray = by_row(scaled, _row_totals)
    squares, by_total, n_equal = sum_over_rows(scaled, _moments, totals)
    held = n_holders(features)
    units = 1 / dispersions(held.astype(np.float64), squares, by_total, totals)
    if in_memory(features):
        matrix = map_rows(scaled, scale_columns, units)
    else:  # at once, because chunks are scaled whenever they are read
        matrix = map_rows(features, scale_columns, units / typical_values(features))
    return Counts(matrix, totals, units, bool(np.all(n_equal == held)))


def _as_csr(block: Features, rows: slice) -> Sparse:
    return sparse.csr_array(block)


def _row_totals(block: Sparse, rows: slice) -> FloatArray:
    totals: FloatArray = block.sum(axis=1)
    return totals


def _moments(block: Sparse, rows: slice, totals: FloatArray) -> FloatArray:
    """Of each feature Σ x², Σ x t, and how many values are equal to their mean, which is 1: (3, m)."""
    is_mean = sum_by_column(block, lambda values: np.abs(values - 1) < _EQUAL)
    return np.stack([squared_lengths(block, rows), block.T @ totals[rows], is_mean])


def dispersions(sums: FloatArray, squares: FloatArray, by_total: FloatArray, totals: FloatArray) -> FloatArray:
    """Variance of each feature around its single rate, over its mean: φ_l = Σ_i (x_il − t_i c_l / t)² / c_l, (m,).

    It is near 1 for rare binary features. Pearson's statistic would divide each square by its own mean, which is the
    same if all totals are equal; otherwise it overrates rare features of nodes with few features. With this φ, blocks
    drawn at random gain (k − 1) / 2 nats on average.

    Parameters
    ----------
    sums, squares, by_total : arrays of shape (m,)
        Σ_i x_il, Σ_i x_il² and Σ_i x_il t_i of each feature.
    totals : array of shape (n,)
        t_i, the total of all features of each node.
    """
    rates = sums / max(totals.sum(), _TINY)
    residual = squares - 2 * rates * by_total + rates**2 * float(np.sum(totals**2))
    floor = _LEAST_DISPERSION * np.maximum(sums, _TINY)
    varies: FloatArray = np.maximum(residual, floor) / np.maximum(sums, _TINY)
    return varies


def block_tables(links: Links, counts: Counts, labels: Sequence[IntArray]) -> Iterator[Tables]:
    """The sums of links and features over the blocks of each array of labels (n,).

    Row chunks are read once for all labels.
    """
    at_once = 1 if in_memory(counts.matrix) else len(labels)
    typical = counts.typical[:, None]
    for start in range(0, len(labels), at_once):
        some = labels[start : start + at_once]
        for of_node, sums in zip(some, sums_by_block(counts, some), strict=True):
            k = sums.shape[1]
            totals: FloatArray = np.bincount(of_node, counts.totals, minlength=k).astype(np.float64)
            s_log_s = xlogx(sums)
            join, leave = xlogx(sums + typical) - s_log_s, xlogx(sums - typical) - s_log_s
            yield Tables(weights_by_block(links, of_node), sums, s_log_s, join, leave, totals)


def weights_by_block(links: Links, labels: IntArray) -> FloatArray:
    """Link weight of each pair of blocks, Fᵀ A F: (k, k)."""
    return sums_between_blocks(links.indptr, links.indices, links.weights, labels)


def sums_by_block(counts: Counts, labels: Sequence[IntArray]) -> list[FloatArray]:
    """Sum of each feature in each block, (m, k), for each array of labels (n,)."""
    sizes = [int(of_node.max()) + 1 for of_node in labels]
    together: FloatArray = sum_over_rows(counts.matrix, _sums_by_block, list(labels), sizes)
    return [np.ascontiguousarray(sums) for sums in np.split(together, np.cumsum(sizes)[:-1], axis=1)]


def _sums_by_block(block: Sparse, rows: slice, labels: Sequence[IntArray], sizes: Sequence[int]) -> FloatArray:
    """Sum of each feature in each block of each array of labels: (m, Σk)."""
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
        s log s of the sums.
    block_totals : array of shape (k,)
        Total of all features in each block.
    """
    column_sums = sums.sum(axis=1)  # (m,)
    by_block = s_log_s.sum(axis=1) - (sums * np.log(np.maximum(block_totals, _TINY))).sum(axis=1)
    single = xlogx(column_sums) - column_sums * np.log(max(block_totals.sum(), _TINY))
    gains = by_block - single
    return np.where(gains > _ROUNDING * np.abs(single), gains, 0.0)


def gains_by_links(scaled: Features, adjacency: Sparse, unit: float) -> FloatArray:
    """Log-likelihood gain of the links among the nodes that have each feature, beyond their degrees: (m,), at least 0.

    A feature gains nothing if all nodes have the same value, if no link joins its nodes, or if its nodes avoid each
    other. Self-loops are ignored. `scaled` are the features as returned by `in_units`, and `unit` is the weight
    that counts as one link, so neither the scale of the features nor that of the link weights matters.
    """
    weights = _without_loops(adjacency)
    weights.data /= unit
    if weights.nnz == 0:
        return np.zeros(scaled.shape[1])
    degrees: FloatArray = weights.sum(axis=1)  # (n,)
    sums = _sums_over_nodes(scaled, weights, degrees)
    all_pairs = degrees.sum() ** 2 - float(np.sum(degrees**2))
    pairs = sums.by_degree**2 - sums.squares_by_squared_degree
    expected = 0.5 * degrees.sum() * np.maximum(pairs, 0.0) / all_pairs
    dispersion = _link_dispersion(sums, float(degrees.sum()))
    return _poisson_excess(0.5 * sums.within / dispersion, expected / dispersion)


class _DegreeSums(NamedTuple):
    """Sums over the nodes for each feature: (m,)."""

    plain: FloatArray
    by_degree: FloatArray
    squares: FloatArray
    squares_by_degree: FloatArray
    squares_by_squared_degree: FloatArray
    within: FloatArray  # xᵀ A x


def _sums_over_nodes(matrix: Features, weights: Sparse, degrees: FloatArray) -> _DegreeSums:
    of_rows = tuple(sum_over_rows(matrix, _sums_by_degree, degrees))
    return _DegreeSums._make((*of_rows, products_along_links(matrix, weights)))


def _sums_by_degree(block: Features, rows: slice, degrees: FloatArray) -> FloatArray:
    """All of `_DegreeSums` but the last, of some rows: (5, m)."""
    of_rows = degrees[rows]
    if sparse.issparse(block):
        of_squares = [sum_by_column(block, np.square, by) for by in (None, of_rows, of_rows**2)]
    else:
        squares = block * block
        of_squares = [squares.sum(axis=0), squares.T @ of_rows, squares.T @ of_rows**2]
    return np.stack([np.asarray(block.sum(axis=0)).ravel(), block.T @ of_rows, *of_squares])


def _link_dispersion(sums: _DegreeSums, total_degree: float) -> FloatArray:
    """How much more the link weight among the nodes of a feature varies than a count; 1 for binary features: (m,).

    A link ends at a node with a probability proportional to its degree, and each end contributes the value of the
    feature, so the factor is the square of variance over mean.
    """
    alike = sums.squares <= (1 + _EQUAL) * sums.plain  # in units of their mean, different values have larger squares
    mean = np.maximum(sums.by_degree / total_degree, _TINY)
    ratio = (sums.squares_by_degree / total_degree) / mean - mean
    return np.where(alike, 1.0, np.maximum(ratio, _LEAST_DISPERSION) ** 2)


def _poisson_excess(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """g log(g / ĝ) − (g − ĝ) where g exceeds ĝ, otherwise 0: (m,)"""
    above = observed - expected > _ROUNDING * observed
    nats: FloatArray = np.zeros(len(observed))
    G, X = observed[above], np.maximum(expected[above], _TINY)
    nats[above] = G * np.log(G / X) - (G - X)
    return np.maximum(nats, 0.0)


def _without_loops(adjacency: Sparse) -> Sparse:
    """Links between different nodes, in double precision; a graph without self-loops shares its indices."""
    if not adjacency.diagonal().any():
        data = adjacency.data.astype(np.float64)
        return sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    links = adjacency.tocoo()
    apart = links.row != links.col
    data = links.data[apart].astype(np.float64)
    return sparse.csr_array((data, (links.row[apart], links.col[apart])), shape=adjacency.shape)
