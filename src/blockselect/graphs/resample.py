"""Bootstrap of a graph: its links resampled."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Sparse


def resample_links(adjacency: Sparse, rng: np.random.Generator) -> Sparse:
    """Poisson bootstrap of the links: each is repeated by a Poisson count of mean 1.

    On average a link keeps its weight; about one in three is left out. Where no link at all is left, all counts are
    drawn again.

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
        raise ValueError("adjacency links no two different nodes, so there is nothing to resample; pass a graph.")
    counts = np.zeros(len(present), dtype=np.intp)
    while not counts.any():
        counts = rng.poisson(1.0, size=len(present))
    kept = present[counts > 0]
    weights = links.data[kept] * counts[counts > 0].astype(links.dtype)
    upper = sparse.csr_array((weights, (links.row[kept], links.col[kept])), shape=adjacency.shape)
    return sparse.csr_array(upper + upper.T)
