"""LinkLikelihood: how much better blocks explain the links than one block, and what moving a node changes.

Links are Poisson counts whose means are the product of two degrees and of the affinity of two blocks (the
degree-corrected block model of Karrer and Newman, 2011). With each affinity at its best, the log-likelihood is above
that of one block by ½ Σ_ab w_ab log(w_ab w / e_a e_b), w_ab the link weight between blocks, e_a the degrees in a block,
w all degrees. The degrees are given, so blocks need not separate hubs from leaves.
"""

from __future__ import annotations

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.graphs.convert import membership_matrix

_TINY = np.finfo(np.float64).tiny


class LinkLikelihood:
    """Log-likelihood gain of one graph under blocks that change one node at a time."""

    __slots__ = ("_adjacency", "_block_degrees", "_degrees", "_loops", "_to_blocks", "_weights")

    def __init__(self, adjacency: Sparse, labels: IntArray) -> None:
        F = membership_matrix(labels)
        self._adjacency = adjacency  # (n, n)
        self._loops: FloatArray = adjacency.diagonal()  # (n,)
        self._to_blocks: FloatArray = (adjacency @ F).toarray()  # (n, k), self-loops included
        self._degrees: FloatArray = self._to_blocks.sum(axis=1)  # (n,)
        self._weights: FloatArray = F.T @ self._to_blocks  # (k, k)
        self._block_degrees: FloatArray = self._weights.sum(axis=1)  # (k,)

    @property
    def value(self) -> float:
        """Log-likelihood of the blocks above that of one block, in nats; at least 0."""
        within = 0.5 * float(xlogx(self._weights).sum()) - float(xlogx(self._block_degrees).sum())
        return within + 0.5 * float(xlogx(self._block_degrees.sum()))

    def gains(self, nodes: slice, labels: IntArray) -> FloatArray:
        """Gain in nats by moving each of some nodes, now in the blocks `labels`, to each block: (b, k)."""
        a, at = labels, np.arange(len(labels))
        w, loops, degrees = self._weights, self._loops[nodes], self._degrees[nodes]
        links = self._to_blocks[nodes].copy()  # (b, k), to others
        links[at, a] -= loops
        own = links[at, a][:, None]
        leave = xlogx(w[a] - links) - xlogx(w[a])  # (b, c) the pair of the old block and c
        join = xlogx(w + links[:, None, :]) - xlogx(w)  # (b, new, c) the pair of the new block and c
        # A pair of the old or the new block with a third; pairs among these two come after.
        others = leave.sum(axis=1, keepdims=True) - leave[at, a][:, None] - leave
        others += join.sum(axis=2) - np.diagonal(join, axis1=1, axis2=2) - join[at, :, a]
        between = xlogx(w[a] - links + own) - xlogx(w[a])
        old = xlogx(w[a, a] - 2 * own[:, 0] - loops) - xlogx(w[a, a])
        new = xlogx(np.diagonal(w) + 2 * links + loops[:, None]) - xlogx(np.diagonal(w))
        e = self._block_degrees
        degree_terms = (xlogx(e[a] - degrees) - xlogx(e[a]))[:, None] + xlogx(e + degrees[:, None]) - xlogx(e)
        gains: FloatArray = others + between + 0.5 * (old[:, None] + new) - degree_terms
        return gains

    def move(self, node: int, old: int, new: int) -> None:
        """Follow a node from one block to another."""
        loop = self._loops[node]
        links = self._to_blocks[node].copy()
        links[old] -= loop
        for block, sign in ((old, -1), (new, 1)):
            self._weights[block] += sign * links
            self._weights[:, block] += sign * links
            self._weights[block, block] += sign * loop
            self._block_degrees[block] += sign * self._degrees[node]
            row = slice(*self._adjacency.indptr[node : node + 2])
            self._to_blocks[self._adjacency.indices[row], block] += sign * self._adjacency.data[row]


def xlogx(x: FloatArray) -> FloatArray:
    """x log x, 0 (but for 1e-305) at 0 and where a difference of equals came out below 0."""
    positive = np.maximum(x, _TINY)
    product: FloatArray = positive * np.log(positive)
    return product


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
