"""Links and non-links of a network, and what the features of both ends have in common.

A link is a pair of different nodes whose weight is not zero: how heavy it is, and self-loops, are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse

_PIECE_BYTES = 2**26  # of dense rows in work at once
_PIECE_PAIRS = 4096  # whose sparse rows are in work at once: they should stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class NodePairs:
    """Pairs of different nodes."""

    first: IntArray  # (p,)
    second: IntArray  # (p,)

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, at: Any) -> NodePairs:
        return NodePairs(self.first[at], self.second[at])

    def __add__(self, other: NodePairs) -> NodePairs:
        """These pairs, then the others."""
        return NodePairs(
            np.concatenate([self.first, other.first]),
            np.concatenate([self.second, other.second]),
        )

    def both_ways(self) -> NodePairs:
        """Each pair, then each pair turned around."""
        return self + NodePairs(self.second, self.first)


def linked_pairs(adjacency: Sparse) -> NodePairs:
    """Each link once, the lower node first."""
    first, second = (axis.astype(np.intp) for axis in adjacency.nonzero())
    upper = first < second
    if not upper.any():
        raise ValueError("adjacency links no two different nodes (self-loops do not count); pass a graph with links.")
    return NodePairs(first[upper], second[upper])


@dataclass(frozen=True, slots=True, eq=False)
class NonLinks:
    """Pairs of different nodes without a link: counted, and drawn at random, without listing them."""

    offsets: IntArray  # (n + 1,) non-links of all nodes before each node
    starts: IntArray  # (n + 1,) where each node's part of `gaps` begins
    gaps: IntArray  # for each node, of itself and those it links with, in order: how many non-links come before

    @classmethod
    def of(cls, adjacency: Sparse) -> Self:
        n = adjacency.shape[0]
        taken = sparse.csr_array(adjacency + sparse.eye_array(n))
        taken.eliminate_zeros()
        taken.sort_indices()
        starts = taken.indptr.astype(np.intp)
        node = np.repeat(np.arange(n), np.diff(starts))
        gaps = taken.indices - (np.arange(len(node)) - starts[node])
        offsets = np.concatenate([[0], np.cumsum(n - np.diff(starts))])
        if offsets[-1] == 0:
            raise ValueError(
                f"each of the {n} nodes is linked with all others; links are compared with non-links: pass a graph "
                "that leaves some pairs without a link."
            )
        return cls(offsets, starts, node * (n + 1) + gaps)  # led by the node, so that one search serves all nodes

    @property
    def n_pairs(self) -> int:
        """Pairs without a link, each counted once."""
        return int(self.offsets[-1]) // 2

    @property
    def per_node(self) -> IntArray:
        """How many others each node is not linked with: (n,)."""
        return np.diff(self.offsets)

    def partners(self, nodes: IntArray, rng: np.random.Generator) -> IntArray:
        """For each of these nodes another one, evenly among those it is not linked with; it must have one."""
        return self.partner_at(nodes, rng.integers(self.per_node[nodes]))

    def draw(self, size: int, rng: np.random.Generator) -> NodePairs:
        """Pairs without a link, evenly among all, with replacement."""
        drawn = rng.integers(self.offsets[-1], size=size)
        nodes = np.searchsorted(self.offsets, drawn, side="right") - 1
        return NodePairs(nodes, self.partner_at(nodes, drawn - self.offsets[nodes]))

    def partner_at(self, nodes: IntArray, rank: IntArray) -> IntArray:
        """For each node the one of its non-links that has this rank, counted from 0 in rising order."""
        skipped = np.searchsorted(self.gaps, nodes * len(self.starts) + rank, side="right") - self.starts[nodes]
        return rank + skipped


def row_products(features: Features, pairs: NodePairs) -> Features:
    """x_i ∘ x_j of each pair: (p, m), sparse where the features are."""
    return features[pairs.first] * features[pairs.second]


@dataclass(frozen=True, slots=True, eq=False)
class PairProducts:
    """The matrix of all x_i ∘ x_j, held where the features are sparse, and else made piece by piece."""

    features: Features  # (n, m)
    pairs: NodePairs  # (p,)
    rows: Sparse | None  # (p, m)

    @classmethod
    def of(cls, features: Features, pairs: NodePairs) -> Self:
        if not sparse.issparse(features):
            return cls(features, pairs, None)
        pieces = [row_products(features, pairs[piece]) for piece in pieces_of(len(pairs), _PIECE_PAIRS)]
        return cls(features, pairs, sparse.vstack(pieces, format="csr"))

    def affinity(self, scores: FloatArray) -> FloatArray:
        """x_iᵀ diag(s) x_j of each pair: (p,)."""
        if self.rows is not None:
            return self.rows @ scores  # type: ignore[no-any-return]
        pieces = row_pieces(len(self.pairs), self.features.shape[1])
        return np.concatenate([row_products(self.features, self.pairs[piece]) @ scores for piece in pieces])

    def total(self, weights: FloatArray) -> FloatArray:
        """Σ w_ij x_i ∘ x_j over the pairs: (m,)."""
        if self.rows is not None:
            return self.rows.T @ weights  # type: ignore[no-any-return]
        n = self.features.shape[0]
        spread = sparse.csr_array((weights, (self.pairs.first, self.pairs.second)), shape=(n, n))
        return np.asarray(np.einsum("nm,nm->m", self.features, spread @ self.features))


def row_pieces(n_rows: int, width: int) -> Iterator[slice]:
    """Rows of a dense matrix of that width, in pieces that fit into memory."""
    return pieces_of(n_rows, max(1, _PIECE_BYTES // (8 * width)))


def pieces_of(n_rows: int, at_once: int) -> Iterator[slice]:
    for start in range(0, n_rows, at_once):
        yield slice(start, min(start + at_once, n_rows))
