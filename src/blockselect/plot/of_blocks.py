"""Plots of blocks: how densely they are linked, and the graph ordered by them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from blockselect.arrays import FloatArray
from blockselect.base import ScoreSelector
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import check_adjacency
from blockselect.graphs.node_labels import encode_labels
from blockselect.inspection.markers import block_markers
from blockselect.plot.graph_image import block_bounds, ordered_links
from blockselect.plot.ink import AMOUNTS, GREY, INK, axes_or_new, title
from blockselect.plot.sources import numbers, of_selector, recall
from blockselect.wording import count

_WRITTEN = 12  # blocks up to which numbers stand in the cells
_TICKS = 20


def block_densities(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    induced: bool = False,
    X: Any = None,
    sizes: Sequence[int] | None = None,
) -> Axes:
    """How densely each two blocks are linked, in per cent of the densest pair: a scale of its own.

    Parameters
    ----------
    source : fitted selector with blocks, or array of shape (k, k)
        Densities, or a selector that has them.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    induced : bool, default=False
        Of a selector: how alike blocks are by the selected features, the mean of the products Y Yᵀ of their nodes,
        instead of how densely they are linked (paper: M).
    X : features of the nodes, optional
        Those of the fit, if `induced`; may be left out while they are in memory.
    sizes : sequence of int, optional
        Nodes of each block, written beside it.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        model = of_selector(source, "block_model_", "blocks")
        density = _similarity(source, X) if induced else model.density
        sizes = model.block_sizes.tolist() if sizes is None else sizes
    else:
        density = numbers("source", source, (None, None), "densities of k blocks, (k, k)")
    numbers("source", density, (len(density), len(density)), "one row and one column for each block")
    if sizes is not None and len(sizes) != len(density):
        raise ParameterError("sizes", f"has {len(sizes)} entries for {len(density)} blocks; give one for each.")
    share = density / (density.max() or 1.0)
    ax.imshow(share, cmap=AMOUNTS, vmin=0, vmax=1)
    k = len(share)
    ticks = range(0, k, -(-k // _TICKS))
    ax.set_xticks(ticks)
    ax.set_yticks(ticks, [f"{block}  ({count(sizes[block])})" if sizes else str(block) for block in ticks])
    ax.set(xlabel="block", ylabel="block (nodes)" if sizes else "block")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if k <= _WRITTEN:
        for (row, column), value in np.ndenumerate(share):
            colour = "white" if value > 0.55 else INK
            ax.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=colour, fontsize=7)
    title(ax, "Blocks by the features" if induced else "Blocks in the graph")
    return ax


def _similarity(selector: ScoreSelector, X: Any) -> FloatArray:
    """How alike blocks are by the selected features: (k, k)"""
    features = selector._features_again(recall(selector)[0] if X is None else X)
    means = block_markers(features, of_selector(selector, "labels_", "blocks")).block_means[:, selector.support_]
    similarity: FloatArray = means @ means.T
    return similarity


def ordered_adjacency(
    source: ScoreSelector | Any, ax: Axes | None = None, *, labels: ArrayLike | None = None, adjacency: Any = None
) -> Axes:
    """Who links to whom, nodes ordered by block along both sides.

    Parameters
    ----------
    source : fitted selector with blocks, or graph of n nodes
        A graph, as :func:`blockselect.check_attributed_graph` takes it, needs `labels`.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    labels : array of shape (n,), optional
        Block of each node; a selector's own otherwise.
    adjacency : graph, optional
        Of a selector: that of the fit; may be left out while it is in memory.

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
    if labels is None:
        raise ValueError("labels is missing; pass the block of each node, or a fitted selector instead of the graph.")
    blocks = encode_labels(labels)
    links = ordered_links(check_adjacency(graph, len(blocks)), blocks)
    n = len(blocks)
    ax.imshow(np.sqrt(links), cmap=AMOUNTS, vmin=0, extent=(0, n, n, 0), interpolation="nearest")
    bounds = [n * bound for bound in block_bounds(np.bincount(blocks).tolist())]
    for bound in bounds[1:-1]:
        ax.axhline(bound, color=GREY, linewidth=0.4)
        ax.axvline(bound, color=GREY, linewidth=0.4)
    middles = [(low + high) / 2 for low, high in pairwise(bounds)]
    wide = [block for block in range(len(middles)) if bounds[block + 1] - bounds[block] > n / 40]
    ax.set_xticks([middles[block] for block in wide], [str(block) for block in wide])
    ax.set_yticks([middles[block] for block in wide], [str(block) for block in wide])
    ax.tick_params(length=0)
    ax.set(xlabel="block", ylabel="block")
    title(ax, f"Links of {count(n, 'node')}, ordered by block")
    return ax
