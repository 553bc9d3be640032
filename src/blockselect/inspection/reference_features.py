"""Reference features: those that spread over the groups of nodes as most features do.

Their total says how much of everything a node has. Where many features mark one block, the total of all would say that
its nodes have more of everything, and nothing would be left to discover. So we look for the largest set of features
that agree: from the half of the features whose shares of each group lie closest together, found by concentration steps
as in least trimmed squares (Rousseeuw and Van Driessen, 2006), to all that differ from it by no more than chance. This
needs more than half of the features to be unmarked, or marked alike: which of two groups of features marks a block, and
which is merely rare in it, nobody can see from the features alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, false_discovery_control

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.graphs.row_sums import block_sums

_DIFFERS = 0.1  # q-value up to which a feature's shares are not those of most
_STEPS = 20  # of concentration; five are enough as a rule


def reference_features(features: Features, partitions: Sequence[IntArray]) -> NDArray[np.bool_]:
    """Which features spread over the groups as most do: (m,). One that no node has adds nothing, and stays.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        In units that make them alike, see :func:`~blockselect.graphs.statistics.in_units`.
    partitions : sequence of arrays of shape (n,)
        Labels from 0 of one kind of groups each; what they say is averaged.
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
    """Of each group in a feature, the median over features: (k,), adding up to one."""
    shares: FloatArray = np.median(sums / totals, axis=1)
    return shares / shares.sum() if shares.sum() > 0 else np.full(len(sums), 1 / len(sums))


def _mean_differences(
    sums: Sequence[FloatArray], shares: Sequence[FloatArray], totals: FloatArray, squares: FloatArray
) -> FloatArray:
    """Pearson's χ² of each feature's sums against these shares of its total, by its degrees of freedom: (m,).

    Values that are no counts vary as their squares do.
    """
    found: FloatArray = np.zeros(len(totals))
    for one, share in zip(sums, shares, strict=True):
        variance = np.outer(share, squares)
        excess = (one - np.outer(share, totals)) ** 2
        found += np.divide(excess, variance, out=np.zeros_like(excess), where=variance > 0).sum(axis=0) / (len(one) - 1)
    return found / len(sums)
