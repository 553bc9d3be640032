"""Plots of blocks: how densely they are linked, and the adjacency matrix ordered by block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.base import ScoreSelector
from blockselect.blockmodels.markers import block_markers
from blockselect.graphs.attributed import check_adjacency
from blockselect.graphs.node_labels import encode_labels
from blockselect.parameters import as_numbers
from blockselect.plot.common import (
    AMOUNTS,
    GREY,
    INK,
    MAX_NUMBERED,
    axes_or_new,
    features_of,
    label_blocks,
    of_selector,
    title,
)
from blockselect.wording import count

_PIXELS = 560  # width of the picture of the ordered adjacency matrix


def block_densities(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    induced: bool = False,
    X: Any = None,
    sizes: Sequence[int] | None = None,
) -> Axes:
    """Draw how densely each pair of blocks is linked, in per cent of the densest pair.

    Parameters
    ----------
    source : fitted selector with blocks, or array of shape (k, k)
        The densities, or a selector that has them.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    induced : bool, default=False
        For a selector: draw how similar blocks are by the selected features (the mean of the products Y Yᵀ of their
        nodes) instead of how densely they are linked (paper: M).
    X : features of the nodes, optional
        The features of the fit, needed for `induced`; may be omitted while they are in memory.
    sizes : sequence of int, optional
        The number of nodes per block, written beside the blocks.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        model = of_selector(source, "block_model_", "blocks")
        density = _similarity(source, model.labels, X) if induced else model.density
        sizes = model.block_sizes.tolist() if sizes is None else sizes
    else:
        density = as_numbers("source", source, (None, None), "the densities of k blocks, (k, k)")
    k = len(density)
    as_numbers("source", density, (k, k), "the densities of k blocks, (k, k)")
    if sizes is not None:
        as_numbers("sizes", sizes, (k,), f"the number of nodes in each of the {k} blocks")
    share = density / (density.max() or 1.0)
    ax.imshow(share, cmap=AMOUNTS, vmin=0, vmax=1)
    ticks = label_blocks(ax, k)
    names = [str(block) for block in range(k)]
    if sizes is not None:
        names = [f"{block}  ({count(size)})" for block, size in zip(names, sizes, strict=True)]
    ax.set_yticks(ticks, [names[block] for block in ticks])
    ax.set_ylabel("block" if sizes is None else "block (nodes)")
    if k <= MAX_NUMBERED:
        for (row, column), value in np.ndenumerate(share):
            colour = "white" if value > 0.55 else INK
            ax.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=colour, fontsize=7)
    title(ax, "Blocks by the features" if induced else "Blocks in the graph")
    return ax


def _similarity(selector: ScoreSelector, labels: IntArray, X: Any) -> FloatArray:
    """Similarity of the blocks by the selected features: (k, k)."""
    means = block_markers(features_of(selector, X), labels).block_means[:, selector.support_]
    similarity: FloatArray = means @ means.T
    return similarity


def ordered_adjacency(
    source: ScoreSelector | Any, ax: Axes | None = None, *, labels: ArrayLike | None = None, adjacency: Any = None
) -> Axes:
    """Draw the adjacency matrix with the nodes ordered by block.

    Parameters
    ----------
    source : fitted selector with blocks, or graph of n nodes
        A graph, in any form that :func:`blockselect.check_attributed_graph` accepts, needs `labels`.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    labels : array of shape (n,), optional
        Block of each node; by default the blocks of the selector.
    adjacency : graph, optional
        For a selector: the graph of the fit; may be omitted while it is in memory.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        labels = of_selector(source, "labels_", "blocks") if labels is None else labels
        graph = source._network_again().adjacency if adjacency is None else adjacency
    else:
        graph = source
    blocks = encode_labels(labels)
    links = ordered_links(check_adjacency(graph, len(blocks)), blocks)
    n = len(blocks)
    ax.imshow(np.sqrt(links), cmap=AMOUNTS, vmin=0, extent=(0, n, n, 0), interpolation="nearest")
    bounds = [n * bound for bound in block_bounds(np.bincount(blocks).tolist())]
    for bound in bounds[1:-1]:
        ax.axhline(bound, color=GREY, linewidth=0.4)
        ax.axvline(bound, color=GREY, linewidth=0.4)
    wide = {block: (low + high) / 2 for block, (low, high) in enumerate(pairwise(bounds)) if high - low > n / 40}
    ax.set_xticks(list(wide.values()), [str(block) for block in wide])
    ax.set_yticks(list(wide.values()), [str(block) for block in wide])
    ax.tick_params(length=0)
    ax.set(xlabel="block", ylabel="block")
    title(ax, f"Links of {count(n, 'node')}, ordered by block")
    return ax


def order_by_block(adjacency: Sparse, labels: IntArray) -> IntArray:
    """Order the nodes by block and, within a block, by falling degree."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    return np.lexsort((-degrees, labels))


def ordered_links(adjacency: Sparse, labels: IntArray, pixels: int = _PIXELS) -> FloatArray:
    """Count the links that fall into each pixel of the adjacency matrix ordered by block."""
    n = adjacency.shape[0]
    size = min(pixels, n)
    place = np.empty(n, dtype=np.intp)
    place[order_by_block(adjacency, labels)] = np.arange(n)
    links = adjacency.tocoo()
    rows, columns = (place[end] * size // n for end in (links.row, links.col))
    counts = np.bincount(rows * size + columns, minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)


def block_bounds(sizes: list[int]) -> list[float]:
    """Where the blocks begin and end, as shares of all nodes: 0, the end of the first block, …, 1."""
    return [0.0, *(np.cumsum(sizes) / np.sum(sizes)).tolist()]
