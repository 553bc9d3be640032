"""Links and non-links of a network, and products of the features at both ends.

A link is a pair of different nodes with a non-zero weight, whatever its value; self-loops are ignored. Pairs are the
rows of an array of shape (p, 2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from blockselect.rows.statistics import presence
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse

_PIECE_BYTES = 2**26  # size of the dense rows processed at a time
_PIECE_PAIRS = 4096  # pairs of sparse rows processed at a time, so that they stay in the cache


def features_to_compare(features: Features, *, binarize: bool) -> Features:
    """The features in float64, or the indicators of their non-zero values."""
    read = presence(features) if binarize else features
    return read.astype(np.float64, copy=False)


def linked_pairs(adjacency: Sparse) -> IntArray:
    """Each link once, the lower node first: (e, 2)."""
    pairs = np.column_stack(adjacency.nonzero()).astype(np.intp)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    if not len(pairs):
        raise ValueError(
            "adjacency has no links between different nodes (self-loops do not count); pass a graph with links."
        )
    return pairs


def both_ways(pairs: IntArray) -> IntArray:
    """The pairs, followed by the reversed pairs: (2p, 2)."""
    return np.concatenate([pairs, pairs[:, ::-1]])


class NonLinks:
    """Pairs of different nodes without a link, counted and sampled without listing them."""

    def __init__(self, adjacency: Sparse) -> None:
        n = adjacency.shape[0]
        taken = sparse.csr_array(adjacency + sparse.eye_array(n))
        taken.eliminate_zeros()
        taken.sort_indices()
        self._starts = taken.indptr.astype(np.intp)  # (n + 1,) start of each node's part of the gaps
        node = np.repeat(np.arange(n), np.diff(self._starts))
        # For each node, and each entry of the sorted list of its neighbours and itself: the number of non-links before
        # it. An offset per node allows a single search for all nodes.
        self._gaps = node * (n + 1) + (taken.indices - (np.arange(len(node)) - self._starts[node]))
        # (n + 1,) total number of non-links of all previous nodes
        self._offsets = np.concatenate([[0], np.cumsum(n - np.diff(self._starts))])
        if self._offsets[-1] == 0:
            raise ValueError(
                f"each of the {n} nodes is linked to all others, but links are compared with non-links; pass a graph "
                "in which some pairs have no link."
            )

    @property
    def n_pairs(self) -> int:
        """Number of pairs without a link, each counted once."""
        return int(self._offsets[-1]) // 2

    @property
    def per_node(self) -> IntArray:
        """Number of other nodes that each node is not linked to: (n,)."""
        return np.diff(self._offsets)

    def partners(self, nodes: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw one non-link of each of these nodes uniformly; each node must have at least one."""
        return self.partner_at(nodes, rng.integers(self.per_node[nodes]))

    def draw(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw pairs without a link uniformly, with replacement: (size, 2)."""
        drawn = rng.integers(self._offsets[-1], size=size)
        nodes = np.searchsorted(self._offsets, drawn, side="right") - 1
        return np.column_stack([nodes, self.partner_at(nodes, drawn - self._offsets[nodes])])

    def partner_at(self, nodes: IntArray, rank: IntArray) -> IntArray:
        """The non-link of each node at this position, counted from 0, among its non-links in increasing order."""
        skipped = np.searchsorted(self._gaps, nodes * len(self._starts) + rank, side="right") - self._starts[nodes]
        return np.asarray(rank + skipped)


def row_products(features: Features, pairs: IntArray) -> Features:
    """x_i ∘ x_j of each pair, sparse if the features are: (p, m)."""
    return features[pairs[:, 0]] * features[pairs[:, 1]]


class PairProducts:
    """The matrix of all x_i ∘ x_j (p, m), stored if the features are sparse, and otherwise computed in batches."""

    def __init__(self, features: Features, pairs: IntArray) -> None:
        self._X, self.pairs, self._rows = features, pairs, None  # (n, m) (p, 2) (p, m)
        if sparse.issparse(features):
            pieces = [row_products(features, pairs[piece]) for piece in gen_batches(len(pairs), _PIECE_PAIRS)]
            self._rows = sparse.vstack(pieces, format="csr")

    def affinity(self, scores: FloatArray) -> FloatArray:
        """x_iᵀ diag(s) x_j of each pair: (p,)."""
        if self._rows is not None:
            return np.asarray(self._rows @ scores)
        pieces = row_pieces(len(self.pairs), self._X.shape[1])
        return np.concatenate([row_products(self._X, self.pairs[piece]) @ scores for piece in pieces])

    def total(self, weights: FloatArray) -> FloatArray:
        """Σ w_ij x_i ∘ x_j over the pairs: (m,)."""
        if self._rows is not None:
            return np.asarray(self._rows.T @ weights)
        n = self._X.shape[0]
        spread = sparse.csr_array((weights, tuple(self.pairs.T)), shape=(n, n))
        return np.asarray(np.einsum("nm,nm->m", self._X, spread @ self._X))


def row_pieces(n_rows: int, width: int) -> Iterator[slice]:
    """Yield ranges of rows such that a dense matrix of these rows and this width stays small."""
    return gen_batches(n_rows, max(1, _PIECE_BYTES // (8 * width)))  # type: ignore[no-any-return]
