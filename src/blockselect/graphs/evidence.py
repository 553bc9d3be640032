"""Network evidence: whether the selected features follow this graph at all, by a permutation test.

A wrong order of rows is the commonest mistake with networks, and every method ranks features on such data too. So each
fit tests the null hypothesis that the rows of the features are matched with the nodes at random.

The autocorrelation of feature l is t_l = Σ_{links ij} a_ij (x_il − x̄_l)(x_jl − x̄_l). A feature of few nodes has a
large t_l / sd now and then by pure chance, so features are compared by the exponent of Bernstein's inequality instead,

    g_l = t_l² / 2(v_l + b_l |t_l| / 3),

where v_l is the variance of t_l if links were independent, and b_l the largest possible contribution of one link. The
test statistic is Σ g_l over the d selected features.

The selection was made with the same graph, which has to be accounted for. Under a permutation of the rows the
statistic is therefore the largest that any selection of d features could have: the sum of the d largest g_l. That makes
the test valid for every method of selection, at the cost of some power. If a sample of the links shows no evidence, a
larger sample is tested; so chance is taken for evidence at most twice as often as the level of one test says.

References
----------
.. [1] J. Besag, P. Clifford. Sequential Monte Carlo p-values. Biometrika, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse

N_PERMUTATIONS = 39  # so that the smallest possible p-value is 1/40
LEVEL = 0.025  # largest p-value that is evidence: no permutation may reach the statistic of the data
_ENOUGH = 5  # permutations as extreme as the data, after which no more are drawn
_PRODUCTS = (2e6, 2e7)  # largest number per permutation, at first and without evidence; else links are sampled
_ROUNDING = 1e-12  # a variance below this share of the squared mean is a rounding error


@dataclass(frozen=True, slots=True)
class NetworkEvidence:
    """Result of the test that the selected features follow the graph."""

    p_value: float  # of a random matching of rows and nodes
    autocorrelation: float  # mean correlation of the selected features between linked nodes
    n_links: int  # links that were used: all, or a random sample

    @property
    def is_clear(self) -> bool:
        """Whether the selected features follow the graph more than any selection would by chance."""
        return self.p_value <= LEVEL


def network_evidence(features: Features, adjacency: Sparse, selected: IntArray) -> NetworkEvidence:
    """Test whether the selected columns follow the graph, with the selection accounted for.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
    adjacency : CSR of shape (n, n)
        Symmetric, with at least one link between two different nodes.
    selected : array of shape (d,)
        Columns, at least one.

    Returns
    -------
    NetworkEvidence
    """
    for products in _PRODUCTS:
        rng = np.random.default_rng(0)
        links = _links_to_use(features, adjacency, products, rng)
        found = _test(features, links, selected, rng)
        if found.is_clear or len(links.weights) == sparse.triu(adjacency, k=1).nnz:
            break
    return found


def _test(features: Features, links: _Links, selected: IntArray, rng: np.random.Generator) -> NetworkEvidence:
    """The permutation test with these links. The p-value is sequential: it ends early where it is large [1]_."""
    test = _Autocorrelation(features, links.weights)
    covariances = test.covariances(links)
    observed = float(test.exponents(covariances)[selected].sum())
    n_as_large, n_drawn = 0, 0
    while n_drawn < N_PERMUTATIONS and n_as_large < _ENOUGH:
        rows = rng.permutation(features.shape[0])
        permuted = _Links(rows[links.first], rows[links.second], links.weights)
        exponents = test.exponents(test.covariances(permuted))
        largest = np.partition(exponents, -len(selected))[-len(selected) :]
        n_as_large += int(largest.sum() >= observed)
        n_drawn += 1
    varies = selected[test.variances[selected] > 0]
    correlations = covariances[varies] / (test.variances[varies] * links.weights.sum())
    return NetworkEvidence(
        p_value=n_as_large / n_drawn if n_as_large == _ENOUGH else (1 + n_as_large) / (1 + N_PERMUTATIONS),
        autocorrelation=float(correlations.mean()) if len(varies) else 0.0,
        n_links=len(links.weights),
    )


class _Links(NamedTuple):
    """Links between two different nodes, each of them once."""

    first: IntArray  # (l,) rows of the features, in runs of the same node
    second: IntArray  # (l,)
    weights: FloatArray  # (l,)


class _Autocorrelation:
    """Autocorrelations of features along links, and how unusual they are."""

    def __init__(self, features: Features, weights: FloatArray) -> None:
        self.features = features
        self.means: FloatArray = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
        squares = features.power(2) if sparse.issparse(features) else np.square(features)
        variances = np.asarray(squares.mean(axis=0), dtype=np.float64).ravel() - self.means**2
        self.variances: FloatArray = np.where(variances > _ROUNDING * self.means**2, variances, 0.0)
        largest, smallest = (_dense(bound(axis=0)) for bound in (features.max, features.min))
        self._bound = weights.max() * np.maximum(largest - self.means, self.means - smallest) ** 2
        self._variance = float(np.square(weights).sum()) * self.variances**2

    def covariances(self, links: _Links) -> FloatArray:
        """Σ a_ij (x_i − x̄)(x_j − x̄) over all links of each feature: (m,)"""
        X, (first, second, weights) = self.features, links
        if sparse.issparse(X):
            products = _products(first, second, weights, X.indptr, X.indices, X.data, X.shape[1])
        else:
            products = np.einsum("l,lj,lj->j", weights, X[first], X[second])
        degrees = sum(np.bincount(ends, weights, minlength=X.shape[0]) for ends in (first, second))
        centred: FloatArray = products - self.means * (X.T @ degrees) + weights.sum() * self.means**2
        return centred

    def exponents(self, covariances: FloatArray) -> FloatArray:
        """Exponents of Bernstein's inequality: (m,), and 0 for constant features."""
        scale = 2 * (self._variance + self._bound * np.abs(covariances) / 3)
        exponents: FloatArray = np.divide(covariances**2, scale, out=np.zeros(len(scale)), where=self.variances > 0)
        return exponents


def _links_to_use(features: Features, adjacency: Sparse, products: float, rng: np.random.Generator) -> _Links:
    """All links between two different nodes, or as many as can be tested at once, drawn by their weights."""
    pairs = sparse.triu(adjacency, k=1, format="csr").tocoo()
    first, second, weights = pairs.row, pairs.col, pairs.data.astype(np.float64)
    values_per_node = (features.nnz if sparse.issparse(features) else features.size) / features.shape[0]
    n_links = int(products / max(values_per_node, 1.0))
    if n_links < len(weights):
        drawn = np.sort(rng.choice(len(weights), n_links, p=weights / weights.sum()))
        first, second, weights = first[drawn], second[drawn], np.ones(n_links)
    return _Links(first, second, weights)


@njit(cache=True, nogil=True)
def _products(
    first: IntArray,
    second: IntArray,
    weights: FloatArray,
    starts: IntArray,
    features: IntArray,
    values: FloatArray,
    n_features: int,
) -> FloatArray:
    """Σ a_ij x_il x_jl over links of each sparse feature l: the features of the first node are laid out once."""
    sums, laid_out = np.zeros(n_features), np.zeros(n_features)
    here = -1
    for link in range(len(first)):
        if first[link] != here:
            if here >= 0:
                for at in range(starts[here], starts[here + 1]):
                    laid_out[features[at]] = 0.0
            here = first[link]
            for at in range(starts[here], starts[here + 1]):
                laid_out[features[at]] = values[at]
        for at in range(starts[second[link]], starts[second[link] + 1]):
            sums[features[at]] += weights[link] * values[at] * laid_out[features[at]]
    return sums


def _dense(values: Any) -> FloatArray:
    """One row of values as an array."""
    array = values.toarray() if sparse.issparse(values) else np.asarray(values)
    row: FloatArray = array.ravel().astype(np.float64)
    return row
