"""Given totals: the features of a node relative to its total, and which nodes may exchange their features.

If some nodes have more of everything, and the graph shows which (hubs have long texts, one block has active
members), every feature is associated with the graph. Such features are not discoveries. The null model therefore takes
the totals as given: each feature is a smooth function of the total plus a residual, and only nodes with similar totals
exchange their residuals. DeTomaso and Yosef (Cell Systems, 2021) introduced this idea for tests of features against a
graph.

The totals are sums over reference features: those that spread over groups of nodes as most features do. If many
features mark one block, the total of all features would suggest that its nodes have more of everything, and nothing
would be left to discover. We look for the largest set of features that agree. The concentration steps of least trimmed
squares (Rousseeuw and Van Driessen, 2006) find the half of the features whose shares of each group lie closest
together; then all features are added that differ from this half by no more than chance. This requires that more than
half of the features are unmarked or marked in the same way: the features cannot show which of two sets of features
marks a block and which is merely rare in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import chi2, false_discovery_control

from blockselect.rows.sums import block_sums
from blockselect.utils.arrays import Features, FloatArray, IntArray

MIN_REFERENCE = 4  # reference features; the total of fewer is dominated by a single one
_IN_STRATUM = 30  # minimum number of nodes per stratum, if there are at least two strata
_SMALLEST_SPREAD = 0.1  # lower bound of the spread of a node, relative to the root mean square of all nodes
_DEPENDENT = 1e-10  # relative singular value below which columns are linearly dependent
_ROUNDING = 1e-12  # share of a feature's squares below which the residual is rounding error
_DIFFERS = 0.1  # up to this q-value, the shares of a feature differ from those of most features
_STEPS = 20  # concentration steps; five are usually enough


@dataclass(frozen=True, slots=True, eq=False)
class GivenTotals:
    """Residuals of the features given the totals of the nodes, X − E R; each row is divided by its spread."""

    scaled: Features  # (n, m) X
    explaining: FloatArray  # (n, p) orthonormal functions of the total, E
    rates: FloatArray  # (p, m) R
    varies: NDArray[np.bool_]  # (m,) features that the totals do not explain completely
    strata: list[IntArray]  # nodes with similar totals

    def block_means(self, labels: IntArray, n_blocks: int) -> FloatArray:
        """Mean residual of each feature in each block (k, m); zero if the totals explain the feature completely."""
        n_nodes = len(labels)
        sums = [
            block_sums(part, slice(0, n_nodes), labels[None], n_blocks, np.float64)[0]
            for part in (self.scaled, self.explaining)
        ]
        means = (sums[0] - sums[1] @ self.rates) / np.bincount(labels, minlength=n_blocks)[:, None]
        return np.where(self.varies, means, 0.0)

    def permutation(self, rng: np.random.Generator) -> IntArray:
        """A random permutation of the nodes within each stratum: (n,)."""
        order: IntArray = np.empty(len(self.explaining), dtype=np.intp)
        for nodes in self.strata:
            order[nodes] = nodes[rng.permutation(len(nodes))]
        return order


def given_totals(features: Features, reference: NDArray[np.bool_]) -> GivenTotals:
    """Regress each feature on 1, √t and t, where t is the total of the reference features of a node.

    The weights come from the spread of the residuals of each node in an unweighted regression. With fewer than four
    reference features there are no totals, and each feature is only centred.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        In comparable units, see :func:`~blockselect.rows.statistics.in_units`.
    reference : boolean array of shape (m,)
    """
    n_nodes = features.shape[0]
    if np.count_nonzero(reference) < MIN_REFERENCE:
        totals: FloatArray = np.zeros(n_nodes)
    else:
        totals = np.asarray(features[:, reference].sum(axis=1), dtype=np.float64).ravel()
    explaining = np.column_stack([np.ones(n_nodes), np.sqrt(totals), totals])
    basis = _orthonormal(explaining)
    spread = _spread_of_nodes(features, basis, basis.T @ features)
    basis = _orthonormal(explaining / spread[:, None])
    scaled = _rows_divided(features, spread)
    rates = np.asarray(basis.T @ scaled)
    squares = np.asarray((scaled * scaled).sum(axis=0)).ravel()
    left = squares - (rates**2).sum(axis=0)
    return GivenTotals(scaled, basis, rates, left > _ROUNDING * n_nodes * squares, _strata(totals))


def _orthonormal(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of the columns; linearly dependent columns, as for equal totals, are dropped."""
    lengths = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(np.float64).tiny)
    vectors, values, _ = np.linalg.svd(columns / lengths, full_matrices=False)
    return np.asarray(vectors[:, values > _DEPENDENT * values[0]])


def _rows_divided(features: Features, by: FloatArray) -> Features:
    if sparse.issparse(features):
        return sparse.csr_array(sparse.diags_array(1 / by) @ features)
    divided: FloatArray = features / by[:, None]
    return divided


def _spread_of_nodes(features: Features, basis: FloatArray, rates: FloatArray) -> FloatArray:
    """Root mean square of the residuals of each node, without computing the residuals: (n,)."""
    squares = np.asarray((features * features).sum(axis=1)).ravel()
    rounding = np.finfo(np.float64).eps ** 2 * float(squares.mean())
    squares -= 2 * np.sum((features @ rates.T) * basis, axis=1) - np.sum((basis @ (rates @ rates.T)) * basis, axis=1)
    squares = np.maximum(squares, 0.0)
    least = max(_SMALLEST_SPREAD**2 * float(squares.mean()), rounding, np.finfo(np.float64).tiny)
    return np.asarray(np.sqrt(np.maximum(squares, least)))


def _strata(totals: FloatArray) -> list[IntArray]:
    return np.array_split(np.argsort(totals, kind="stable"), max(1, len(totals) // _IN_STRATUM))


def reference_features(features: Features, partitions: Sequence[IntArray]) -> NDArray[np.bool_]:
    """Find the features that spread over the groups as most features do: (m,).

    A feature that no node has adds nothing to the totals and is included.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        In comparable units, see :func:`~blockselect.rows.statistics.in_units`.
    partitions : sequence of arrays of shape (n,)
        Each array contains the labels, starting from 0, of one way to group the nodes; the results are averaged.
    """
    totals = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
    squares = np.asarray((features * features).sum(axis=0), dtype=np.float64).ravel()
    is_reference, held = np.ones(len(totals), dtype=bool), totals > 0
    sums = [
        block_sums(features, slice(0, features.shape[0]), labels[None], labels.max() + 1, np.float64)[0][:, held]
        for labels in partitions
    ]
    sums = [one for one in sums if len(one) > 1]
    if not sums or not held.any():
        return is_reference
    totals, squares = totals[held], squares[held]
    shares = [_median_shares(one, totals) for one in sums]
    for _ in range(_STEPS):
        differences = _mean_differences(sums, shares, totals, squares)
        closest = np.argsort(differences, kind="stable")[: len(totals) // 2 + 1]
        before, shares = shares, [one[:, closest].sum(axis=1) / totals[closest].sum() for one in sums]
        if all(np.array_equal(one, other) for one, other in zip(before, shares, strict=True)):
            break
    freedom = float(np.mean([len(one) - 1 for one in sums]))
    is_reference[held] = false_discovery_control(chi2.sf(differences * freedom, freedom)) > _DIFFERS
    return is_reference


def _median_shares(sums: FloatArray, totals: FloatArray) -> FloatArray:
    """The median over features of the share of each group, scaled to a sum of one: (k,)."""
    shares: FloatArray = np.median(sums / totals, axis=1)
    return shares / shares.sum() if shares.sum() > 0 else np.full(len(sums), 1 / len(sums))


def _mean_differences(
    sums: Sequence[FloatArray], shares: Sequence[FloatArray], totals: FloatArray, squares: FloatArray
) -> FloatArray:
    """Pearson's χ² per degree of freedom of each feature, for the expected shares of its total: (m,).

    The variance of values that are not counts is taken from their squares.
    """
    found: FloatArray = np.zeros(len(totals))
    for one, share in zip(sums, shares, strict=True):
        variance = np.outer(share, squares)
        excess = (one - np.outer(share, totals)) ** 2
        found += np.divide(excess, variance, out=np.zeros_like(excess), where=variance > 0).sum(axis=0) / (len(one) - 1)
    return found / len(sums)
