"""Given totals: features beside what a node's total makes of them, and which nodes may exchange their features.

Where some nodes have more of everything, and the graph knows which (hubs have long texts, one block has active
members), every feature follows the graph. Such features are no discoveries, so the null model takes the totals as
given: each feature is a smooth function of the total plus a residual, and only nodes of like totals exchange theirs.
That totals are given in a test of features against a graph is the idea of DeTomaso and Yosef (Cell Systems, 2021).

Totals are those of reference features, which say how much of everything a node has. Features that mark a block are not
among them: they would make all others seem rare there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.graphs.row_sums import block_sums

MIN_REFERENCE = 4  # features; the total of fewer is little but one of these
_IN_STRATUM = 30  # nodes, at least, where there are twice as many
_SMALLEST_SPREAD = 0.1  # of a node, times the root mean square of all: one that is next to constant counts no more
_DEPENDENT = 1e-10  # singular value, relative to the largest, of columns that depend on one another
_ROUNDING = 1e-12  # of a feature's squares: what totals leave unexplained is none


@dataclass(frozen=True, slots=True, eq=False)
class GivenTotals:
    """Residuals of features given the totals of their nodes, each node's divided by their spread: X − E R."""

    scaled: Features  # (n, m) X
    explaining: FloatArray  # (n, p) orthonormal functions of the total, E
    rates: FloatArray  # (p, m) R
    varies: NDArray[np.bool_]  # (m,) which features the totals leave unexplained
    strata: list[IntArray]  # nodes of like totals

    def block_means(self, labels: IntArray, n_blocks: int) -> FloatArray:
        """Mean residual of each feature in each block: (k, m). Zero where totals explain all of a feature."""
        n_nodes = len(labels)
        sums = [
            block_sums(part, slice(0, n_nodes), labels[None], n_blocks, np.float64)[0]
            for part in (self.scaled, self.explaining)
        ]
        means = (sums[0] - sums[1] @ self.rates) / np.bincount(labels, minlength=n_blocks)[:, None]
        return np.where(self.varies, means, 0.0)

    def permutation(self, rng: np.random.Generator) -> IntArray:
        """Nodes of each stratum exchange places: (n,)."""
        order: IntArray = np.empty(len(self.explaining), dtype=np.intp)
        for nodes in self.strata:
            order[nodes] = nodes[rng.permutation(len(nodes))]
        return order


def given_totals(features: Features, reference: NDArray[np.bool_]) -> GivenTotals:
    """Regress each feature on 1, √t and t, where t is the node's total of the reference features.

    The regression is weighted by the spread of each node's residuals, from one without weights. With fewer than four
    reference features there are no totals, and each feature is only centred.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        In units that make them alike, see :func:`~blockselect.graphs.statistics.in_units`.
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
    """A basis of the columns; fewer where some depend on the others, as where all totals are the same."""
    lengths = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(np.float64).tiny)
    vectors, values, _ = np.linalg.svd(columns / lengths, full_matrices=False)
    return np.asarray(vectors[:, values > _DEPENDENT * values[0]])


def _rows_divided(features: Features, by: FloatArray) -> Features:
    if sparse.issparse(features):
        return sparse.csr_array(sparse.diags_array(1 / by) @ features)
    divided: FloatArray = features / by[:, None]
    return divided


def _spread_of_nodes(features: Features, basis: FloatArray, rates: FloatArray) -> FloatArray:
    """Root mean square of the residuals of each node, no residual being formed: (n,)."""
    squares = np.asarray((features * features).sum(axis=1)).ravel()
    rounding = np.finfo(np.float64).eps ** 2 * float(squares.mean())
    squares -= 2 * np.sum((features @ rates.T) * basis, axis=1) - np.sum((basis @ (rates @ rates.T)) * basis, axis=1)
    squares = np.maximum(squares, 0.0)
    least = max(_SMALLEST_SPREAD**2 * float(squares.mean()), rounding, np.finfo(np.float64).tiny)
    return np.asarray(np.sqrt(np.maximum(squares, least)))


def _strata(totals: FloatArray) -> list[IntArray]:
    return np.array_split(np.argsort(totals, kind="stable"), max(1, len(totals) // _IN_STRATUM))
