"""Link excess: how much more the nodes that have a feature are linked than their degrees alone would link them.

No blocks are needed for that. With x a feature's values, divided by the mean of its non-zero ones, the weight of links
among the nodes that have it is E = Σ_{i<j} x_i x_j A_ij. Were links drawn by degrees alone it would be
X = Σ_{i<j} x_i x_j d_i d_j / Σ_{i<j} d_i d_j times the weight w of all links. With links as
Poisson counts the log-likelihood gain is E log(E / X) − (E − X) nats. For non-binary features, E and X are divided by
an overdispersion factor, since differing values make E vary more than a count does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.graphs.statistics import in_units, products_along_links

_ROUNDING = 64 * np.finfo(np.float64).eps  # of the link weight: an excess below that is none
_SMALLEST_RATIO = 1e-6  # of variance to mean
_SPARSE_BELOW = 0.1  # share of non-zero values up to which a sparse product is the faster one


def scaled_for_links(features: Features) -> Features:
    """Features in units of their mean non-zero value, as CSR where they are mostly zeros."""
    return in_units(_lean(features))


def link_gains_of_scaled(matrix: Features, adjacency: Sparse, unit: float) -> FloatArray:
    """Log-likelihood gain of the links among the nodes that have each feature, beyond their degrees, in nats: (m,) ≥ 0.

    A feature of all nodes alike, one that no link joins, and one whose nodes avoid each other gain nothing. Self-loops
    are left out, as is the pair of a node with itself. Neither the scale of the link weights nor that of a feature
    matters: `matrix` is as `scaled_for_links` gives it, and `unit` the weight that counts as one link.
    """
    weights = _without_loops(adjacency)
    weights.data /= unit
    if weights.nnz == 0:
        return np.zeros(matrix.shape[1])
    degrees: FloatArray = weights.sum(axis=1)  # (n,)
    sums = _sums(matrix, weights, degrees)
    all_pairs = degrees.sum() ** 2 - float(np.sum(degrees**2))
    pairs = sums.by_degree**2 - sums.squares_by_squared_degree
    expected = 0.5 * degrees.sum() * np.maximum(pairs, 0.0) / all_pairs
    dispersion = _dispersion(sums, float(degrees.sum()))
    return _poisson_excess(0.5 * sums.within / dispersion, expected / dispersion)


class _Sums(NamedTuple):
    """Over the nodes, of each feature: (m,)."""

    plain: FloatArray
    by_degree: FloatArray
    squares: FloatArray
    squares_by_degree: FloatArray
    squares_by_squared_degree: FloatArray
    within: FloatArray  # xᵀ A x


def _sums(matrix: Features, weights: Sparse, degrees: FloatArray) -> _Sums:
    squares = matrix * matrix
    plain, of_squares = (np.asarray(each.sum(axis=0)).ravel() for each in (matrix, squares))
    by_degree = (matrix.T @ degrees, of_squares, squares.T @ degrees, squares.T @ degrees**2)
    return _Sums(plain, *by_degree, products_along_links(matrix, weights))


def _dispersion(sums: _Sums, total_degree: float) -> FloatArray:
    """How much more than a count the link weight among a feature's nodes varies; 1 for features of 0 and 1: (m,).

    A link picks its nodes by their degrees, and each brings the feature's value: the square of variance over mean.
    """
    alike = sums.squares <= (1 + 1e-9) * sums.plain  # in units of their mean, values that differ have larger squares
    mean = np.maximum(sums.by_degree / total_degree, np.finfo(np.float64).tiny)
    ratio = (sums.squares_by_degree / total_degree) / mean - mean
    return np.where(alike, 1.0, np.maximum(ratio, _SMALLEST_RATIO) ** 2)


def _lean(features: Features) -> Features:
    """Dense features that are mostly zeros as CSR."""
    if sparse.issparse(features) or np.count_nonzero(features) > _SPARSE_BELOW * features.size:
        return features
    return sparse.csr_array(features)


def _poisson_excess(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """E log(E / X) − (E − X) where E exceeds X, else 0: (m,)"""
    above = observed - expected > _ROUNDING * observed
    nats: FloatArray = np.zeros(len(observed))
    E, X = observed[above], np.maximum(expected[above], np.finfo(np.float64).tiny)
    nats[above] = E * np.log(E / X) - (E - X)
    return np.maximum(nats, 0.0)


def _without_loops(adjacency: Sparse) -> Sparse:
    """Links between two nodes, in double precision."""
    links = adjacency.tocoo()
    apart = links.row != links.col
    data = links.data[apart].astype(np.float64)
    return sparse.csr_array((data, (links.row[apart], links.col[apart])), shape=adjacency.shape)
