"""Links: how much better blocks explain them than one block does.

Links are Poisson counts whose means are the product of two degrees and of the affinity of two blocks (the
degree-corrected block model of Karrer and Newman, 2011). With each affinity at its best, the log-likelihood is above
that of one block by ½ Σ_ab w_ab log(w_ab w / e_a e_b), w_ab the link weight between blocks, e_a the degrees in a block,
w all degrees. The degrees are given, so blocks need not separate hubs from leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.consensus.moves import Links

_TINY = float(np.finfo(np.float64).tiny)


def as_links(adjacency: Sparse, unit: float) -> Links:
    """A graph with its weights in units of one link, in double precision."""
    counts = sparse.csr_array(adjacency, dtype=np.float64, copy=True)
    counts.eliminate_zeros()
    counts.data /= unit
    return Links(
        counts.indptr.astype(np.int64, copy=False),
        counts.indices.astype(np.int32, copy=False),
        counts.data,
        counts.diagonal(),
        np.asarray(counts.sum(axis=1)),
    )


def weights_by_block(links: Links, labels: IntArray, n_blocks: int) -> FloatArray:
    """Link weight of each pair of blocks, Fᵀ A F: (k, k)."""
    cells = np.repeat(labels * n_blocks, np.diff(links.indptr)) + labels[links.indices]
    weights = np.bincount(cells, links.weights, minlength=n_blocks * n_blocks).astype(np.float64)
    return weights.reshape(n_blocks, n_blocks)


def link_gain(weights: FloatArray) -> float:
    """Log-likelihood of blocks with these link weights (k, k) above that of one block, in nats; at least 0."""
    degrees = weights.sum(axis=1)
    return float(0.5 * xlogx(weights).sum() - xlogx(degrees).sum() + 0.5 * xlogx(degrees.sum()))


def link_information(weights: FloatArray) -> float:
    """What blocks with these link weights (k, k) explain of each link, I = Σ_ab (w_ab / w) log(w_ab w / (e_a e_b)).

    It is the mutual information, in nats, of the blocks at both ends of a link.

    Examples
    --------
    >>> import numpy as np
    >>> round(link_information(np.diag([3.0, 3.0])), 3)
    0.693
    """
    return 2 * link_gain(weights / weights.sum())


def xlogx(x: Any) -> Any:
    """x log x, 0 (but for 1e-305) at 0 and where a difference of equals came out below 0."""
    positive = np.maximum(x, _TINY)
    return positive * np.log(positive)


def link_unit(adjacency: Sparse) -> float:
    """The weight that counts as one link, Σw² / Σw over the links between two nodes; 1 where there is none.

    Where all weights are alike it is that weight. Where they differ it is that of the heavy ones, so that a few of
    them do not pass for many links.
    """
    links = adjacency.tocoo()
    weights = links.data[(links.row != links.col) & (links.data > 0)].astype(np.float64)
    if not len(weights):
        return 1.0
    shares = weights / weights.max()  # squares neither over- nor underflow
    return float(weights.max() * (shares @ shares) / shares.sum())
