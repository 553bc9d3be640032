"""Stability of blocks: how closely the blocks of a fit with another seed would match them.

A fit with another seed keeps the best model of other random starts, which the candidates of one fit can imitate. Divide
them into two halves at random: the best model of one half is the best of all, m₁, and the best model of the other half
is m₂ with probability 1/2, m₃ with probability 1/4, and so on. So m₁ is compared with the other consensus models, with
the weights 1/2, 1/4, …, scaled to sum to 1. Equal weights would count models that no fit would choose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from blockselect.arrays import FloatArray, IntArray


def expected_agreement(models: Sequence[IntArray]) -> tuple[FloatArray | None, float | None]:
    """Agreement of the first model with the others, the best first: of each of its k blocks, and overall.

    The agreement of a block is its Jaccard index with the closest block, (k,), and the overall agreement the adjusted
    Rand index. Both are None if there are no others.

    Parameters
    ----------
    models : sequence of arrays of shape (n,)
        The block of each node, 0 … k − 1, in each model.

    Examples
    --------
    >>> whole, halved = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])
    >>> of_blocks, overall = expected_agreement([whole, halved])
    >>> of_blocks
    array([0.5, 1. ])
    """
    best, *others = models
    if not others:
        return None, None
    weights = 0.5 ** np.arange(len(others))
    return (
        np.average([closest_overlaps(best, other) for other in others], axis=0, weights=weights),
        float(np.average([adjusted_rand_score(best, other) for other in others], weights=weights)),
    )


def closest_overlaps(blocks: IntArray, others: IntArray) -> FloatArray:
    """Jaccard index of each block with the most similar one of other blocks: (k,)"""
    shared = contingency_matrix(blocks, others, sparse=True, dtype=np.float64).tocoo()
    united = np.bincount(blocks)[shared.row] + np.bincount(others)[shared.col] - shared.data
    overlaps = np.zeros(shared.shape[0])
    np.maximum.at(overlaps, shared.row, shared.data / united)
    return overlaps
