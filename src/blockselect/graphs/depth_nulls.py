"""Nulls that know a node's depth alone: the mean and spread of each feature if links did not matter (Hotspot's models).

The depth of a node is the sum of its features: how much was counted there at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.graphs.column_statistics import column_inner_products, mean_and_variance

_N_BINS = 30  # of nodes by depth, for the Bernoulli model
_DECIMALS = 12  # of a logarithm: rounding in a quantile does not decide in which bin a node is
_LARGEST_SIZE = 1e9  # of the negative binomial: a Poisson distribution
_SMALLEST_SIZE = 1e-10
_ROUNDING = 1e-12  # share of a feature's variance that is none


class DepthNull(Protocol):
    """Mean and standard deviation of features at some depths."""

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of each pair of a depth and a column, which are broadcast against each other; 0 where nothing varies."""


@dataclass(frozen=True, slots=True, eq=False)
class BernoulliNull:
    """Whether a feature is present: the logit of its probability is linear in the logarithm of the depth."""

    intercepts: FloatArray  # (m,)
    slopes: FloatArray  # (m,)

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        logarithms = np.log10(depths, out=np.zeros_like(depths), where=depths > 0)
        share = expit(self.intercepts[columns] + self.slopes[columns] * logarithms)
        share = np.where(depths > 0, share, 0.0)  # a node without features can have none of them
        return share, np.sqrt(share * (1 - share))


@dataclass(frozen=True, slots=True, eq=False)
class NegativeBinomialNull:
    """Counts: the mean is proportional to the depth, the variance μ(1 + μ/size)."""

    rates: FloatArray  # (m,) share of all counts
    sizes: FloatArray  # (m,)

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        mean = self.rates[columns] * depths
        return mean, np.sqrt(mean * (1 + mean / self.sizes[columns]))


@dataclass(frozen=True, slots=True, eq=False)
class NormalNull:
    """Any values: the mean is linear in the depth, the variance is one for all depths."""

    intercepts: FloatArray  # (m,)
    slopes: FloatArray  # (m,)
    deviations: FloatArray  # (m,)

    def mean_and_sd(self, depths: FloatArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        mean = self.intercepts[columns] + self.slopes[columns] * depths
        return mean, np.broadcast_to(self.deviations[columns], mean.shape)


def bernoulli_null(present: Features, depths: FloatArray) -> BernoulliNull:
    """Least squares of the logit of (count + 1) / (nodes + 2) on log10 depth, over up to 30 bins of nodes by depth."""
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
    return BernoulliNull(logits.mean(axis=0) - slopes * centres.mean(), slopes)


def negative_binomial_null(counts: Features, depths: FloatArray) -> NegativeBinomialNull:
    """Size of each feature by the method of moments."""
    totals = np.asarray(counts.sum(axis=0)).ravel()
    rates = totals / depths.sum()
    expected_squares = rates**2 * (depths @ depths)
    residual = column_inner_products(counts, counts) - 2 * rates * (counts.T @ depths) + expected_squares
    excess = residual - totals  # over the variance of a Poisson distribution
    sizes = np.divide(expected_squares, excess, out=np.full(len(totals), _LARGEST_SIZE), where=excess > 0)
    return NegativeBinomialNull(rates, np.maximum(sizes, _SMALLEST_SIZE))


def normal_null(values: Features, depths: FloatArray) -> NormalNull:
    """Least squares of each feature on the depth."""
    mean, variance = mean_and_variance(values)
    from_mean = depths - depths.mean()
    spread = from_mean @ from_mean
    slopes = values.T @ from_mean / spread if spread > 0 else np.zeros(len(mean))
    left = variance - slopes**2 * spread / len(depths)
    left = np.where(left > _ROUNDING * variance, left, 0.0)
    return NormalNull(mean - slopes * depths.mean(), slopes, np.sqrt(left))


NULLS: dict[str, Callable[[Any, FloatArray], DepthNull]] = {
    "bernoulli": bernoulli_null,
    "danb": negative_binomial_null,
    "normal": normal_null,
}
"""Each model by the name that Hotspot gives it."""
