"""Network evidence: a permutation test of whether the selected features are associated with the graph at all.

Rows in the wrong order are the most common mistake with networks, and every method ranks the features anyway. So each
fit tests the null hypothesis that the rows of the features are matched with the nodes at random.

The association of a feature with the graph is measured in one of two ways:

- with blocks that were found from the links only, if there are any: the log-likelihood gain of the feature from the
  blocks, Σ_a c_la log(c_la t / t_a c_l), divided by the ratio of variance to mean of the feature. Here c_la is the sum
  of feature l in block a, c_l its sum over all blocks, t_a the sum of all features in the block, and t their total.
- along links: the autocorrelation u_l = Σ_{links ij} A_ij (x_il − x̄_l)(x_jl − x̄_l) / var(x_l). If few nodes have a
  feature, u_l / sd is occasionally large by pure chance, so features are compared by the exponent of Bernstein's
  inequality instead, u_l² / 2(v + b_l |u_l| / 3), where v = Σ A_ij² is the variance of u_l if links were independent,
  and b_l the largest possible contribution of one link.

The test statistic is the sum over the d selected features. The test has to account for the selection, which was made
with the same graph. Under a permutation of the rows, the statistic is therefore the largest that any selection of d
features could have: the sum of the d largest values. This makes the test valid for every method of selection, at the
cost of some power. If the first test finds no evidence, a second test is made along the links, or along more links than
before. It uses the ranks of the values, because a few huge values would dominate. The false-positive rate is at most
twice the level of one test.

References
----------
.. [1] J. Besag, P. Clifford. Sequential Monte Carlo p-values. Biometrika, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse, stats
from scipy.special import xlogy

from blockselect.graphs.link_products import products_of_links
from blockselect.rows.compiled_sums import sparse_block_sums
from blockselect.rows.matrices import membership_matrix
from blockselect.rows.sums import extremes_by_column, in_memory, n_values, some_rows, sum_by_column
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

N_PERMUTATIONS = 39  # so that the smallest possible p-value is 1/40
LEVEL = 0.025  # largest p-value that counts as evidence: no permutation may reach the statistic of the data
_STRONGEST = 64  # features with the largest gains, which are tested before any are selected
_ENOUGH_AS_LARGE = 5  # drawing stops after this many permutations with a statistic at least that of the data
_IN_THREADS = 8  # permutations that are drawn together and evaluated in threads
# Largest numbers of multiplications per permutation, for quick and for thorough tests; beyond them, links or nodes are
# sampled.
_PRODUCTS = (2e6, 2e7)
_TINY = float(np.finfo(np.float64).tiny)
_ROUNDING = 1e-12  # variances below this share of the squared mean are rounding errors


@dataclass(frozen=True, slots=True)
class NetworkEvidence:
    """Result of the test of association between the selected features and the graph."""

    p_value: float  # under a random matching of rows and nodes
    autocorrelation: float  # mean correlation of the selected features between linked nodes

    @property
    def is_clear(self) -> bool:
        """Whether the selected features are more strongly associated with the graph than any selection is by chance."""
        return self.p_value <= LEVEL


def network_evidence(
    features: Features,
    adjacency: Sparse,
    selected: IntArray,
    blocks: IntArray | None = None,
    n_jobs: int | None = None,
    *,
    products: tuple[float, float] = _PRODUCTS,
) -> NetworkEvidence:
    """Test whether the selected columns are associated with the graph, accounting for the selection.

    Parameters
    ----------
    features : array, CSR or RowChunks of shape (n, m)
        Non-negative if there are blocks. From row chunks, only the rows that the test uses are kept in memory.
    adjacency : CSR of shape (n, n)
        Symmetric, with at least one link between two different nodes.
    selected : array of shape (d,)
        Columns, at least one.
    blocks : array of shape (n,), optional
        The block of each node, found without the features.
    n_jobs : int or None, default=None
        Number of threads. The result is the same for any number.
    products : two floats
        Largest numbers of multiplications per permutation: the first for links in the first test and for all row
        chunks, the second otherwise. Beyond them, links or nodes are sampled.

    Returns
    -------
    NetworkEvidence
    """
    few, many = products if in_memory(features) else (products[0], products[0])
    along_links = AlongLinks(features, links_to_use(features, adjacency, few))
    p_value = _p_value(along_links if blocks is None else ByBlocks(features, blocks, many), selected, n_jobs)
    if p_value > LEVEL:
        more = along_links
        if blocks is None and many > few:
            more = AlongLinks(features, links_to_use(features, adjacency, many))
        p_value = min(p_value, _p_value(more.of_ranks(), selected, n_jobs))
    return NetworkEvidence(p_value, float(along_links.correlations()[selected].mean()))


def features_follow_blocks(features: Features, blocks: IntArray, n_jobs: int | None = None) -> bool:
    """Whether the best-fitting features fit the blocks better than any do after a permutation of the rows."""
    test = ByBlocks(features, blocks, _PRODUCTS[0])
    strongest = np.argsort(-test.values(np.arange(test.n_rows)))[:_STRONGEST]
    return _p_value(test, strongest, n_jobs) <= LEVEL


def link_correlations(features: Features, adjacency: Sparse) -> FloatArray:
    """Correlation of each feature between linked nodes, 0 for constant features: (m,).

    On large networks a random sample of the links is used.
    """
    links = links_to_use(features, adjacency, _PRODUCTS[1])
    return AlongLinks(features, links).correlations() if len(links.weights) else np.zeros(features.shape[1])


def _sums_of_products(X: Features, links: _Links) -> FloatArray:
    """Σ A_ij x_i x_j over all links ij, for each feature: (m,)."""
    first, second, weights = links
    if sparse.issparse(X):
        return products_of_links(first, second, weights, X, X)
    return np.asarray(np.einsum("l,lj,lj->j", weights, X[first], X[second]))


def _p_value(test: AlongLinks | ByBlocks, selected: IntArray, n_jobs: int | None) -> float:
    """P-value of the selection. The test is sequential: it stops early if the p-value is known to be large [1]_."""
    rng = np.random.default_rng(0)
    observed = float(test.values(np.arange(test.n_rows))[selected].sum())
    n_as_large = 0
    with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
        for drawn in range(0, N_PERMUTATIONS, _IN_THREADS):
            permutations = [rng.permutation(test.n_rows) for _ in range(min(_IN_THREADS, N_PERMUTATIONS - drawn))]
            statistics = parallel(delayed(_largest_sum)(test, rows, len(selected)) for rows in permutations)
            for n_drawn, statistic in enumerate(statistics, start=drawn + 1):
                n_as_large += not statistic < observed  # so that NaN is no evidence
                if n_as_large == _ENOUGH_AS_LARGE:
                    return n_as_large / n_drawn
    return (1 + n_as_large) / (1 + N_PERMUTATIONS)


def _largest_sum(test: AlongLinks | ByBlocks, rows: IntArray, n_selected: int) -> float:
    """The largest statistic of any selection of this size if node i has the features of row rows[i]."""
    return float(np.partition(test.values(rows), -n_selected)[-n_selected:].sum())


class ByBlocks:
    """Test statistic: log-likelihood gains of the features from the blocks."""

    def __init__(self, features: Features, blocks: IntArray, products: float) -> None:
        size, rows = n_values(features), np.arange(features.shape[0])
        if size > products:  # a random sample of the nodes
            n_rows = int(products / size * len(rows))
            rows = np.sort(np.random.default_rng(0).choice(len(rows), n_rows, replace=False))
        features, blocks = some_rows(features, rows), blocks[rows]
        self.n_rows = features.shape[0]
        self._features, self._blocks = features, blocks
        means, variances = _means_and_variances(features)
        self._units = np.divide(means, variances, out=np.zeros(len(means)), where=variances > 0)

    def values(self, rows: IntArray) -> FloatArray:
        """Gain of each feature if node i has the features of row rows[i]: (m,), 0 for constant features."""
        blocks, X = np.empty_like(self._blocks), self._features
        blocks[rows] = self._blocks
        if sparse.issparse(X):
            sums = sparse_block_sums(X.indptr, X.indices, X.data, blocks, int(blocks.max()) + 1, X.shape[1])
        else:
            sums = membership_matrix(blocks).T @ X  # (k, m)
        expected = np.outer(sums.sum(axis=1), sums.sum(axis=0)) / max(float(sums.sum()), _TINY)
        gains: FloatArray = xlogy(sums, np.maximum(sums, _TINY) / np.maximum(expected, _TINY)).sum(axis=0)
        return gains * self._units


class _Links(NamedTuple):
    """Links between two different nodes, each stored once."""

    first: IntArray  # (l,) rows of the features; links of the same first node follow each other
    second: IntArray  # (l,)
    weights: FloatArray  # (l,) relative to the largest

    def degrees(self, n_rows: int) -> FloatArray:
        """Link weight of each row: (n,)."""
        ends = np.concatenate([self.first, self.second])
        return np.bincount(ends, np.tile(self.weights, 2), minlength=n_rows).astype(np.float64, copy=False)


class AlongLinks:
    """Test statistic: autocorrelations of the features along links, and how unusual they are."""

    def __init__(self, features: Features, links: _Links) -> None:
        nodes, ends = np.unique(np.concatenate([links.first, links.second]), return_inverse=True)
        first, second = np.split(ends, 2)
        self._links = _Links(first, second, links.weights)  # numbered among the rows at their ends
        self._features = some_rows(features, nodes)
        self.n_rows = len(nodes)
        self._means, self._variances = _means_and_variances(self._features)
        smallest, largest = extremes_by_column(self._features)
        squares = np.maximum(largest - self._means, self._means - smallest) ** 2
        self._bound = np.divide(squares, self._variances, out=np.zeros(len(squares)), where=self._variances > 0)
        self._variance = float(np.square(links.weights).sum())

    def of_ranks(self) -> AlongLinks:
        """The same test on the ranks of the values."""
        return AlongLinks(_ranks(self._features), self._links)

    def values(self, rows: IntArray) -> FloatArray:
        """Exponents of Bernstein's inequality if node i has the features of row rows[i]: (m,), 0 for constants."""
        covariances, variances = self.covariances(rows), self._variances
        sums = np.divide(covariances, variances, out=np.zeros(len(variances)), where=variances > 0)
        exponents: FloatArray = sums**2 / (2 * (self._variance + self._bound * np.abs(sums) / 3))
        return exponents

    def covariances(self, rows: IntArray) -> FloatArray:
        """Σ A_ij (x_i − x̄)(x_j − x̄) over all links ij, for each feature: (m,)"""
        links = _Links(rows[self._links.first], rows[self._links.second], self._links.weights)
        at_ends = self._features.T @ links.degrees(self.n_rows)
        products = _sums_of_products(self._features, links)
        centred: FloatArray = products - self._means * at_ends + links.weights.sum() * self._means**2
        return centred

    def correlations(self) -> FloatArray:
        """Correlation of each feature between the two ends of links, 0 for constant features: (m,).

        A node counts once per link, which keeps the correlation between −1 and 1 for features of hubs too.
        """
        X, shares = self._features, self._links.degrees(self.n_rows) / (2 * self._links.weights.sum())
        means = X.T @ shares
        squares = sum_by_column(X, np.square, shares) if sparse.issparse(X) else np.square(X).T @ shares
        variances = squares - means**2
        covariances = _sums_of_products(X, self._links) / self._links.weights.sum() - means**2
        varies = variances > _ROUNDING * means**2
        correlations: FloatArray = np.divide(covariances, variances, out=np.zeros(len(means)), where=varies)
        return correlations


def _means_and_variances(features: Features) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the columns, with rounding errors of variances set to 0: (m,) each."""
    if sparse.issparse(features):
        share = 1 / features.shape[0]
        means = sum_by_column(features, lambda values: values * share)
        squares = sum_by_column(features, lambda values: np.square(values) * share)
    else:
        means, squares = (np.asarray(part.mean(axis=0), dtype=np.float64) for part in (features, np.square(features)))
    variances = squares - means**2
    return means, np.where(variances > _ROUNDING * means**2, variances, 0.0)


def _ranks(features: Features) -> Features:
    """Rank of each value in its column; in sparse features minus the rank of zero, so that they remain sparse."""
    if not sparse.issparse(features):
        return stats.rankdata(features, axis=0)
    ranks = sparse.csc_array(features, dtype=np.float64, copy=True)
    ranks.eliminate_zeros()
    n_values = np.diff(ranks.indptr)
    column = np.repeat(np.arange(len(n_values)), n_values)
    n_negative = np.bincount(column[ranks.data < 0], minlength=len(n_values))
    half = (ranks.shape[0] - n_values) / 2  # of the zeros, whose common rank is n_negative + half + 1/2
    above = np.where(ranks.data > 0, half[column], -half[column]) - n_negative[column] - 0.5
    ranks.data = pd.Series(ranks.data).groupby(column).rank().to_numpy() + above
    return sparse.csr_array(ranks)


def links_to_use(features: Features, adjacency: Sparse, products: float) -> _Links:
    """All links between two different nodes or, if these are too many, a sample in proportion to their weights."""
    pairs = sparse.triu(adjacency, k=1, format="csr").tocoo()
    first, second, weights = pairs.row, pairs.col, pairs.data.astype(np.float64)
    weights /= weights.max(initial=0.0) or 1.0
    n_links = int(products / max(n_values(features) / features.shape[0], 1.0))
    if n_links < len(weights):
        drawn = np.sort(np.random.default_rng(0).choice(len(weights), n_links, p=weights / weights.sum()))
        first, second, weights = first[drawn], second[drawn], np.ones(n_links)
    return _Links(first, second, weights)
