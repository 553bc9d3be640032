"""Graphs with changed links: resampled links and capped weights."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.utils.arrays import Sparse

_OF_LINKS = 0.5  # sufficient effective share of the links: that of exponentially distributed weights
_OF_NODES = 4  # number of effective links per node that is sufficient in any case
_NEGLIGIBLE = 1e-150  # smallest relative weight; squares of smaller weights would underflow


def resample_links(adjacency: Sparse, rng: np.random.Generator) -> Sparse:
    """Poisson bootstrap of the links: each weight is multiplied by a Poisson count of mean 1.

    The expected weight of each link stays the same, and about one link in three is dropped. If no link remains, all
    counts are drawn again.

    Parameters
    ----------
    adjacency : CSR of shape (n, n)
        Symmetric, weights ≥ 0, with a link between two different nodes. It is not changed. (paper: A)
    rng : numpy.random.Generator

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, without self-loops, in the dtype of `adjacency`.
    """
    links = sparse.triu(adjacency, k=1, format="coo")
    present = np.flatnonzero(links.data)
    if len(present) == 0:
        raise ValueError("adjacency has no link between two different nodes, so it cannot be resampled.")
    counts = np.zeros(len(present), dtype=np.intp)
    while not counts.any():
        counts = rng.poisson(1.0, size=len(present))
    kept = present[counts > 0]
    weights = links.data[kept] * counts[counts > 0].astype(links.dtype)
    upper = sparse.csr_array((weights, (links.row[kept], links.col[kept])), shape=adjacency.shape)
    return sparse.csr_array(upper + upper.T)


def cap_weights(adjacency: Sparse) -> Sparse:
    """Cap the weights if a few links dominate, at the largest cap that leaves enough effective links.

    The effective number of links is (Σw)² / Σw²: the number of links if all weights are equal, and close to 1 if one
    link dominates. Half of the links are enough, or four per node if that is less. A graph that needs no cap is
    returned without a copy.

    Parameters
    ----------
    adjacency : CSR of shape (n, n)
        Symmetric, weights ≥ 0. It is not changed.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> path = sparse.diags_array([1.0, 1.0, 900.0, 1.0], offsets=1, shape=(5, 5))
    >>> float(cap_weights(sparse.csr_array(path + path.T)).max())
    1.0
    """
    weights = np.sort(adjacency.data[adjacency.data > 0].astype(np.float64))
    if len(weights) == 0:
        return adjacency
    largest = float(weights[-1])
    weights = np.maximum(weights / largest, _NEGLIGIBLE)  # squares neither overflow nor underflow
    n_above = np.arange(len(weights) - 1, -1, -1)
    sums = np.cumsum(weights) + n_above * weights
    squares = np.cumsum(weights**2) + n_above * weights**2
    count = sums**2 / squares  # effective number of links under a cap at each weight
    enough = min(_OF_LINKS * len(weights), 2 * _OF_NODES * adjacency.shape[0])  # each link is stored twice
    cap = weights[np.flatnonzero(count >= enough)[-1]] * largest
    if cap >= largest:
        return adjacency
    capped = adjacency.copy()
    capped.data = np.minimum(capped.data, capped.data.dtype.type(cap))
    return capped
