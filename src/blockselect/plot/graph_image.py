"""The graph as a picture: links of nodes ordered by blocks, or where it is small each node in its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse

SMALL = 60  # nodes up to which each is drawn
_MOST_LINKS = 400  # of a drawing: with more, lines hide one another
_PIXELS = 560  # of the ordered adjacency
_STEPS = 120  # of the layout


def order_by_block(adjacency: Sparse, labels: IntArray) -> IntArray:
    """Nodes block by block, within a block those of most links first."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    return np.lexsort((-degrees, labels))


def ordered_links(adjacency: Sparse, labels: IntArray, pixels: int = _PIXELS) -> FloatArray:
    """How many links fall into each pixel of the adjacency matrix ordered by blocks, at most one a node wide."""
    n = adjacency.shape[0]
    size = min(pixels, n)
    place = np.empty(n, dtype=np.intp)
    place[order_by_block(adjacency, labels)] = np.arange(n)
    links = adjacency.tocoo()
    rows, columns = (place[end] * size // n for end in (links.row, links.col))
    counts = np.bincount(rows * size + columns, minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)


def block_bounds(sizes: list[int]) -> list[float]:
    """Where each block ends, as a share of all nodes, and 0 before the first."""
    return [0.0, *(np.cumsum(sizes) / np.sum(sizes)).tolist()]


def draws_each_node(adjacency: Sparse) -> bool:
    """Whether the graph is small enough to draw nodes and links themselves."""
    return bool(adjacency.shape[0] <= SMALL and adjacency.nnz <= 2 * _MOST_LINKS)


def node_places(adjacency: Sparse, labels: IntArray) -> FloatArray:
    """Places (n, 2) in the unit square by springs (Fruchterman and Reingold, 1991), the same at every call.

    Nodes begin on a circle, block by block: the blocks then need not find one another.
    """
    n = adjacency.shape[0]
    angle = np.empty(n)
    angle[order_by_block(adjacency, labels)] = np.linspace(0, 2 * np.pi, n, endpoint=False)
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    linked = adjacency.toarray() > 0
    ideal = 2 / np.sqrt(n)
    for step in range(_STEPS):
        apart = places[:, None] - places[None]  # (n, n, 2)
        distance = np.maximum(np.linalg.norm(apart, axis=2), 0.01 * ideal)
        force = ideal**2 / distance - np.where(linked, distance**2 / ideal, 0.0) - 0.05 * distance
        np.fill_diagonal(force, 0.0)
        move = np.einsum("ij,ijd->id", force / distance, apart)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        places += move / length * np.minimum(length, 0.15 * (1 - step / _STEPS))
    low, high = places.min(axis=0), places.max(axis=0)
    within: FloatArray = (places - low) / np.maximum(high - low, 1e-12)
    return within


def drawing(adjacency: Sparse, labels: IntArray) -> dict[str, Any]:
    """Places of the nodes and pairs of linked ones, as plain data."""
    links = adjacency.tocoo()
    return {
        "places": node_places(adjacency, labels).round(4).tolist(),
        "links": [[int(i), int(j)] for i, j in zip(links.row, links.col, strict=True) if i < j],
    }
