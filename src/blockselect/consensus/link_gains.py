"""Log-likelihood gain of each feature from the links, without blocks: do linked nodes tend to share the feature?

Let x be the values of the feature, in units of the mean of its non-zero values. The weight of the links among the nodes
that have the feature is g = Σ_{i<j} x_i x_j A_ij. If links depended only on the degrees, its expected value would be
ĝ = w' Σ_{i<j} x_i x_j d_i d_j / Σ_{i<j} d_i d_j, where w' is the weight of all links. The gain of a Poisson count is
g log(g / ĝ) − (g − ĝ). If the values of a feature differ, g varies more than a count, so g and ĝ are divided by an
overdispersion factor. A link ends at a node with a probability proportional to its degree, and each end contributes the
value of the feature, so this factor is (variance / mean)², with nodes weighted by their degrees.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.consensus.likelihood import EQUAL, LEAST_DISPERSION, ROUNDING, without_loops
from blockselect.graphs.link_products import products_along_links
from blockselect.rows.sums import sum_by_column, sum_over_rows
from blockselect.utils.arrays import Features, FloatArray, Sparse

_TINY = float(np.finfo(np.float64).tiny)


def gains_by_links(scaled: Features, adjacency: Sparse, unit: float) -> FloatArray:
    """Log-likelihood gain of the links among the nodes that have a feature, beyond their degrees: (m,), at least 0.

    The gain is zero if all nodes have the same value, if no link joins two nodes with the feature, or if nodes with the
    feature avoid each other. Self-loops are ignored. `scaled` contains the features as returned by `in_units`, and
    `unit` is the weight that counts as one link, so neither the scale of the features nor that of the link weights
    matters.
    """
    gains: FloatArray = np.zeros(scaled.shape[1])
    weights = without_loops(adjacency)
    weights.data /= unit
    if weights.nnz == 0:
        return gains
    degrees: FloatArray = weights.sum(axis=1)  # (n,)
    total = float(degrees.sum())
    x, xd, xx, xxd, xxdd = sum_over_rows(scaled, _sums_with_degrees, degrees)
    observed = 0.5 * products_along_links(scaled, weights)  # g
    all_pairs = total**2 - float(np.sum(degrees**2))
    expected = 0.5 * total * np.maximum(xd**2 - xxdd, 0.0) / all_pairs  # ĝ
    mean = np.maximum(xd / total, _TINY)
    ratio = (xxd / total) / mean - mean  # variance over mean at the ends of links
    is_binary = xx <= (1 + EQUAL) * x  # in units of their mean, unequal values have a larger sum of squares
    dispersion = np.where(is_binary, 1.0, np.maximum(ratio, LEAST_DISPERSION) ** 2)
    observed, expected = observed / dispersion, expected / dispersion
    above = observed - expected > ROUNDING * observed
    g, g_hat = observed[above], np.maximum(expected[above], _TINY)
    gains[above] = np.maximum(g * np.log(g / g_hat) - (g - g_hat), 0.0)
    return gains


def _sums_with_degrees(block: Features, rows: slice, degrees: FloatArray) -> FloatArray:
    """Σ x, Σ x d, Σ x², Σ x² d and Σ x² d² over some rows, for each feature x and the degrees d: (5, m)."""
    d = degrees[rows]
    if sparse.issparse(block):
        of_squares = [sum_by_column(block, np.square, weights) for weights in (None, d, d**2)]
    else:
        squares = block * block
        of_squares = [squares.sum(axis=0), squares.T @ d, squares.T @ d**2]
    return np.stack([np.asarray(block.sum(axis=0)).ravel(), block.T @ d, *of_squares])
