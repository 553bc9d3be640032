"""Links drawn from block densities, never looking at pairs that are not linked."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, get_index_dtype

from blockselect.arrays import FloatArray, IntArray, Sparse


def draw_links(blocks: IntArray, density: FloatArray, rng: np.random.Generator) -> Sparse:
    """A symmetric (n, n) adjacency without self-loops; a pair is linked by the density of its blocks."""
    n_nodes, n_blocks = len(blocks), len(density)
    members = [np.flatnonzero(blocks == block) for block in range(n_blocks)]
    sources, targets = [], []
    for a in range(n_blocks):
        for b in range(a + 1):
            rows, columns = _draw_pairs(len(members[a]), len(members[b]), a == b, density[a, b], rng)
            sources.append(members[a][rows])
            targets.append(members[b][columns])
    source, target = np.concatenate(sources), np.concatenate(targets)
    kind = get_index_dtype(maxval=max(2 * len(source), n_nodes))
    ends = (source.astype(kind), target.astype(kind))
    links = coo_array((np.ones(len(source)), ends), shape=(n_nodes, n_nodes)).tocsr()
    return links + links.T


def _draw_pairs(
    n_rows: int, n_columns: int, same: bool, probability: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Each pair with the given probability: first how many, then which, at the cost of the links alone."""
    n_pairs = n_rows * (n_rows - 1) // 2 if same else n_rows * n_columns
    count = rng.binomial(n_pairs, probability)
    pairs = rng.choice(n_pairs, size=count, replace=False, shuffle=False) if count else np.zeros(0, np.int64)
    return triangle_pairs(pairs) if same else np.divmod(pairs, n_columns)


def triangle_pairs(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Row and column, column < row, of positions counted along the rows of a lower triangle."""
    rows = ((1 + np.sqrt(1 + 8 * pairs.astype(np.float64))) / 2).astype(np.int64)
    rows -= rows * (rows - 1) // 2 > pairs  # from some 10⁸ rows on, the root is rounded up to the next
    return rows, pairs - rows * (rows - 1) // 2
