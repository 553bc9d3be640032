"""Link weights capped where a few links would outweigh all others."""

from __future__ import annotations

import numpy as np

from blockselect.arrays import Sparse

_OF_LINKS = 0.5  # share of the links that should count; weights of an exponential distribution leave as many
_OF_NODES = 4  # links a node that are enough in any case
_NEGLIGIBLE = 1e-150  # of the largest weight: smaller ones count as this much, since the square of less is none


def cap_weights(adjacency: Sparse) -> Sparse:
    """The graph with its weights cut at the highest cap under which enough links count; itself where none is needed.

    Links count as (Σw)² / Σw², which is their number where all weigh the same, and near 1 where one outweighs the rest.
    Enough is half of them, or four for each node if that is less.

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
    weights = np.maximum(weights / largest, _NEGLIGIBLE)  # squares neither overflow nor vanish
    n_above = np.arange(len(weights) - 1, -1, -1)
    sums = np.cumsum(weights) + n_above * weights
    squares = np.cumsum(weights**2) + n_above * weights**2
    count = sums**2 / squares  # under a cap at each of the weights
    enough = min(_OF_LINKS * len(weights), 2 * _OF_NODES * adjacency.shape[0])  # each link stands twice
    cap = weights[np.flatnonzero(count >= enough)[-1]] * largest
    if cap >= largest:
        return adjacency
    capped = adjacency.copy()
    capped.data = np.minimum(capped.data, capped.data.dtype.type(cap))
    return capped
