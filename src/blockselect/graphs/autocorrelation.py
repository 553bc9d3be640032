"""Autocorrelation of features along links beyond what the depths of the nodes explain (Hotspot's null models).

The depth of a node is the sum of its features. `mean_and_sd(depths, columns)` of a null model gives the mean and the
standard deviation of a feature at a depth if links did not matter; depths and columns are broadcast, and the standard
deviation is 0 if nothing varies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils import gen_batches

from blockselect.graphs.link_products import products_along_links, products_with_groups
from blockselect.rows.statistics import column_inner_products, constant_columns, mean_and_variance
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

_CHUNK_ENTRIES = 2**22  # maximum number of entries of a dense array with some of the columns

_N_BINS = 30  # number of bins of nodes by depth in the Bernoulli model
_DECIMALS = 12  # decimals of logarithms, so that rounding of a quantile does not decide the bin of a node
_LARGEST_SIZE = 1e9  # size of a negative binomial distribution that is practically a Poisson distribution
_SMALLEST_SIZE = 1e-10
_ROUNDING = 1e-12  # fraction of the variance of a feature that counts as zero


def model_for(features: Features) -> str:
    """Name of the null model that suits the feature values."""
    values = features.data if sparse.issparse(features) else features
    if values.size and values.min() < 0:
        return "normal"
    if ((values == 0) | (values == 1)).all():
        return "bernoulli"
    return "danb" if (values == np.floor(values)).all() else "normal"


def autocorrelation_z(features: Features, adjacency: Sparse, *, model: str) -> FloatArray:
    """Z score of each feature under one of `NULLS`; NaN for a constant feature: (m,)."""
    columns = features.astype(np.float64, copy=False)
    depths = np.asarray(columns.sum(axis=1)).ravel()
    if model == "bernoulli":
        columns = (columns > 0).astype(np.float64)
    null = NULLS[model].of(columns, depths)
    A = sparse.csr_array(adjacency - sparse.diags_array(adjacency.diagonal()))  # each link is stored in both directions
    covariance = _sparse_covariance if sparse.issparse(columns) else _dense_covariance
    criterion = covariance(columns, A, depths, null) / np.sqrt(2 * A.multiply(A).sum())
    return np.where(constant_columns(columns), np.nan, criterion)


def _dense_covariance(features: FloatArray, adjacency: Sparse, depths: FloatArray, null: DepthNull) -> FloatArray:
    """x̂ᵀAx̂ of each feature: (m,)."""
    covariance = np.empty(features.shape[1])
    for columns in _pieces(*features.shape):
        mean, sd = null.mean_and_sd(depths[:, None], columns)
        standard = _where_it_varies(features[:, columns] - mean, sd)
        covariance[columns] = column_inner_products(standard, adjacency @ standard)
    return covariance


def _sparse_covariance(features: Sparse, adjacency: Sparse, depths: FloatArray, null: DepthNull) -> FloatArray:
    """x̂ᵀAx̂ from z = x / σ, which is as sparse as x, and g = μ / σ, which depends only on the depth of a node."""
    z = _in_deviations(sparse.csr_array(features, copy=True), depths, null)
    if isinstance(null, NormalNull):
        zAg, gAg = _linear_products(z, adjacency, depths, null)
    else:
        zAg, gAg = _products_by_depth(z, adjacency, depths, null)
    return products_along_links(z, adjacency) - 2 * zAg + gAg


def _in_deviations(z: Sparse, depths: FloatArray, null: DepthNull) -> Sparse:
    """Divide features by their standard deviations, in place and in batches of non-zero values."""
    nodes = np.repeat(np.arange(z.shape[0]), np.diff(z.indptr))
    for some in gen_batches(z.nnz, _CHUNK_ENTRIES):
        _, sd = null.mean_and_sd(depths[nodes[some]], z.indices[some])
        z.data[some] = _where_it_varies(z.data[some], sd)
    return z


def _linear_products(
    z: Sparse, adjacency: Sparse, depths: FloatArray, null: NormalNull
) -> tuple[FloatArray, FloatArray]:
    """zᵀAg and gᵀAg of each feature, where g is linear in the depth: (m,) each."""
    columns = np.arange(z.shape[1])
    centre = depths.mean()
    mean, sd = null.mean_and_sd(np.array([[centre], [centre + 1]]), columns)
    g = _where_it_varies(np.vstack([mean[0], null.slopes]), sd)  # value at the mean depth, and slope
    terms = np.column_stack([np.ones(len(depths)), depths - centre])
    of_neighbours = adjacency @ terms
    zAg = column_inner_products(g, (z.T @ of_neighbours).T)
    return zAg, column_inner_products(g, (terms.T @ of_neighbours) @ g)


def _products_by_depth(
    z: Sparse, adjacency: Sparse, depths: FloatArray, null: DepthNull
) -> tuple[FloatArray, FloatArray]:
    """zᵀAg and gᵀAg for any g, given by its value at each depth, in batches of features: (m,) each."""
    found, depth_of = np.unique(depths, return_inverse=True)
    one_hot = sparse.csr_array((np.ones(len(depths)), (np.arange(len(depths)), depth_of)))
    between_depths = one_hot.T @ adjacency @ one_hot  # total weight between nodes of two depths
    by_column = sparse.csc_array(z)
    zAg, gAg = np.empty(z.shape[1]), np.empty(z.shape[1])
    for columns in _pieces(len(found), z.shape[1]):
        g = _where_it_varies(*null.mean_and_sd(found[:, None], columns))  # (depths, columns)
        zAg[columns] = products_with_groups(by_column[:, columns].tocsr(), adjacency, depth_of, g)
        gAg[columns] = column_inner_products(g, between_depths @ g)
    return zAg, gAg


def _where_it_varies(values: FloatArray, sd: FloatArray) -> FloatArray:
    """Values divided by standard deviations; 0 if the standard deviation is 0."""
    scaled: FloatArray = np.divide(values, sd, out=np.zeros(np.broadcast(values, sd).shape), where=sd > 0)
    return scaled


def _pieces(n_rows: int, n_features: int) -> Iterator[IntArray]:
    """Yield batches of columns such that a dense array with `n_rows` rows stays small."""
    width = max(1, _CHUNK_ENTRIES // n_rows)
    for start in range(0, n_features, width):
        yield np.arange(start, min(start + width, n_features))


@dataclass(frozen=True, slots=True, eq=False)
class BernoulliNull:
    """Presence of features: the logit of the probability is linear in the logarithm of the depth."""

    intercepts: FloatArray  # (m,)
    slopes: FloatArray  # (m,)

    @classmethod
    def of(cls, present: Features, depths: FloatArray) -> BernoulliNull:
        """Least-squares fit of the logit of (count + 1) / (nodes + 2) to log10 depth, over up to 30 bins of nodes."""
        some = np.flatnonzero(depths > 0)
        logarithms = np.round(np.log10(depths[some]), _DECIMALS)
        edges = np.unique(np.round(np.quantile(logarithms, np.linspace(0, 1, _N_BINS + 1)), _DECIMALS))
        bins, centres = np.zeros(len(some), dtype=np.intp), np.zeros(1)
        if len(edges) > 1:
            bins, centres = np.searchsorted(edges[1:-1], logarithms), edges[:-1] / 2 + edges[1:] / 2
        nodes_of = sparse.csr_array((np.ones(len(some)), (bins, some)), shape=(len(centres), len(depths)))
        counts = nodes_of @ present
        counts = counts.toarray() if sparse.issparse(counts) else counts
        logits = logit((counts + 1) / (nodes_of.sum(axis=1)[:, None] + 2))  # (bins, m)
        from_centre = centres - centres.mean()
        spread = from_centre @ from_centre
        slopes = from_centre @ logits / spread if spread > 0 else np.zeros(logits.shape[1])
        return cls(logits.mean(axis=0) - slopes * centres.mean(), slopes)

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        logarithms = np.log10(depths, out=np.zeros_like(depths), where=depths > 0)
        share = expit(self.intercepts[columns] + self.slopes[columns] * logarithms)
        share = np.where(depths > 0, share, 0.0)  # a node of depth 0 has no features
        return share, np.sqrt(share * (1 - share))


@dataclass(frozen=True, slots=True, eq=False)
class NegativeBinomialNull:
    """Counts: the mean μ is proportional to the depth, and the variance is μ(1 + μ/size)."""

    rates: FloatArray  # (m,) share of all counts
    sizes: FloatArray  # (m,)

    @classmethod
    def of(cls, counts: Features, depths: FloatArray) -> NegativeBinomialNull:
        """Estimate the size parameter of each feature by the method of moments."""
        totals = np.asarray(counts.sum(axis=0)).ravel()
        rates = totals / depths.sum()
        expected_squares = rates**2 * (depths @ depths)
        residual = column_inner_products(counts, counts) - 2 * rates * (counts.T @ depths) + expected_squares
        excess = residual - totals  # beyond the variance of a Poisson distribution
        sizes = np.divide(expected_squares, excess, out=np.full(len(totals), _LARGEST_SIZE), where=excess > 0)
        return cls(rates, np.maximum(sizes, _SMALLEST_SIZE))

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        mean = self.rates[columns] * depths
        return mean, np.sqrt(mean * (1 + mean / self.sizes[columns]))


@dataclass(frozen=True, slots=True, eq=False)
class NormalNull:
    """Arbitrary values: the mean is linear in the depth, and the variance is the same at all depths."""

    intercepts: FloatArray  # (m,)
    slopes: FloatArray  # (m,)
    deviations: FloatArray  # (m,)

    @classmethod
    def of(cls, values: Features, depths: FloatArray) -> NormalNull:
        """Least-squares fit of each feature to the depth."""
        mean, variance = mean_and_variance(values)
        from_mean = depths - depths.mean()
        spread = from_mean @ from_mean
        slopes = values.T @ from_mean / spread if spread > 0 else np.zeros(len(mean))
        left = variance - slopes**2 * spread / len(depths)
        left = np.where(left > _ROUNDING * variance, left, 0.0)
        return cls(mean - slopes * depths.mean(), slopes, np.sqrt(left))

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        mean = self.intercepts[columns] + self.slopes[columns] * depths
        return mean, np.broadcast_to(self.deviations[columns], mean.shape)


DepthNull: TypeAlias = BernoulliNull | NegativeBinomialNull | NormalNull

NULLS: dict[str, type[DepthNull]] = {
    "bernoulli": BernoulliNull,
    "danb": NegativeBinomialNull,
    "normal": NormalNull,
}
"""The null models by their names in Hotspot."""
