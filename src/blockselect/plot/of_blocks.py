"""Plots of blocks: link densities, the adjacency matrix ordered by block, and the tree of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from blockselect.base import ScoreSelector
from blockselect.blockmodels.levels import COARSE, groups_at, leaf_order
from blockselect.inputs.adjacency import check_adjacency
from blockselect.inputs.labels import as_labels, encode_labels
from blockselect.plot.common import (
    AMOUNTS,
    BLUE,
    GREY,
    INK,
    LINE,
    MAX_NUMBERED,
    axes_or_new,
    block_names_of,
    label_blocks,
    legible,
    of_selector,
    points,
    rotation,
    with_blocks,
)
from blockselect.result import ordered_links
from blockselect.utils.arrays import FloatArray, IntArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers
from blockselect.utils.wording import count, number

DENSITY = "Link density between blocks (% of max.)"
SIMILARITY = "Feature similarity between blocks (% of max.)"


def block_densities(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    induced: bool = False,
    sizes: Sequence[int] | None = None,
    block_names: Sequence[Any] | None = None,
) -> Axes:
    """Draw the link density between each pair of blocks, as a percentage of the maximum.

    Parameters
    ----------
    source : fitted selector with blocks, or array of shape (k, k)
        A selector with blocks, or the densities themselves.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    induced : bool, default=False
        For a selector: draw the similarity of blocks in the selected features (the mean of Y Yᵀ over their nodes)
        instead of the link density (paper: M).
    sizes : sequence of int, optional
        The number of nodes in each block, shown next to its name.
    block_names : sequence of k str, optional
        By default the names in `blocks_` of the selector, or 0, 1, … If names do not fit, blocks are numbered.

    Returns
    -------
    matplotlib axes
    """
    if isinstance(source, ScoreSelector):
        selector = with_blocks(source)
        model = selector.block_model_
        means = selector._markers().block_means[:, selector.support_]
        density = means @ means.T if induced else model.density
        sizes = model.block_sizes.tolist() if sizes is None else sizes
    else:
        density = as_numbers("source", source, (None, None), "the densities of k blocks, (k, k)")
    k = len(density)
    as_numbers("source", density, (k, k), "the densities of k blocks, (k, k)")
    if sizes is not None:
        as_numbers("sizes", sizes, (k,), f"the number of nodes in each of the {k} blocks")
    names, side = block_names_of(source, block_names, k), max(4.8, 2 + LINE * k)
    ax = axes_or_new(ax, (side + 0.8, side))
    share = density / (density.max() or 1.0)
    ax.imshow(share, cmap=AMOUNTS, vmin=0, vmax=1)
    label_blocks(ax, names, sizes=sizes, rows=True)
    if k <= MAX_NUMBERED:
        for (row, column), value in np.ndenumerate(share):
            colour = "white" if value > 0.55 else INK
            ax.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=colour, fontsize=7)
    ax.set_title(SIMILARITY if induced else DENSITY, loc="left")
    return ax


def ordered_adjacency(source: ScoreSelector | Any, ax: Axes | None = None, *, labels: ArrayLike | None = None) -> Axes:
    """Draw the adjacency matrix with the nodes ordered by block.

    Parameters
    ----------
    source : fitted selector with blocks, or graph of n nodes
        A graph, in any form that :func:`blockselect.check_attributed_graph` accepts, needs `labels`.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    labels : array of shape (n,), optional
        For a graph: the block of each node, by number or name. A selector has its own blocks, with the
        names in `blocks_`. Names that do not fit are omitted.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax, (7, 6.5))
    if isinstance(source, ScoreSelector):
        if labels is not None:
            raise ParameterError(
                "labels", "are for a graph; pass the graph instead of the selector, or leave out the labels."
            )
        blocks, record = with_blocks(source).labels_, source._fit_result.blocks
        assert record is not None  # every selector with blocks has this record
        links, names = record.ordered_links.toarray(), block_names_of(source, None, blocks.max() + 1)
    else:
        blocks, names = encode_labels(labels), [str(name) for name in np.unique(as_labels(labels, "labels"))]
        links = ordered_links(check_adjacency(source, len(blocks)), blocks)
    n = len(blocks)
    ax.imshow(np.sqrt(links), cmap=AMOUNTS, vmin=0, extent=(0, n, n, 0), interpolation="nearest")
    bounds = [n * bound for bound in block_bounds(np.bincount(blocks).tolist())]
    for bound in bounds[1:-1]:
        ax.axhline(bound, color=GREY, linewidth=0.4)
        ax.axvline(bound, color=GREY, linewidth=0.4)
    font, per_node = 8 if len(names) <= MAX_NUMBERED else 6, 0.8 * points(ax, is_square=True) / n
    with_room = {
        (low + high) / 2: legible(name)
        for name, (low, high) in zip(names, pairwise(bounds), strict=True)
        if per_node * (high - low) > font
    }
    places, shown = list(with_room), list(with_room.values())
    room = per_node * min(np.diff(places), default=n)
    ax.set_xticks(places, shown, rotation=rotation(shown, room, font), fontsize=font)
    ax.set_yticks(places, shown, fontsize=font)
    ax.tick_params(length=0)
    ax.set(xlabel="block", ylabel="block")
    ax.set_title(f"Adjacency matrix of {count(n, 'node')}, ordered by block", loc="left")
    return ax


def tree(source: ScoreSelector, ax: Axes | None = None) -> Axes:
    """Draw how blocks merge into larger groups, with the names in `blocks_`.

    Blocks that are joined further to the right are more similar. Groups of blocks at the levels in `levels_` are
    named in the same way, where their names fit.

    Parameters
    ----------
    source : fitted BlockModelSelector
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure, tall enough for all blocks.

    Returns
    -------
    matplotlib axes
    """
    linkage = of_selector(source, "linkage_", "tree of blocks")
    k, selector = len(linkage) + 1, with_blocks(source)
    ax = axes_or_new(ax, (8, max(2.4, 1 + LINE * k)))
    names = selector._names(selector._markers())
    order = leaf_order(linkage, np.zeros(k, dtype=np.intp))  # ordered by number as far as the tree allows
    ax.set_yticks(range(k), [legible(names[block].text) for block in order], fontsize=7)
    ax.set_ylim(k - 0.5, -0.5)
    ax.yaxis.tick_right()
    ax.tick_params(length=0)
    ax.spines[["top", "left", "right"]].set_visible(False)
    ax.xaxis.set_major_formatter(lambda lost, _: number(lost))
    ax.set_xlabel("log-likelihood loss from merging blocks (nats)")
    ax.set_title(f"Tree of {count(k, 'block')}", loc="left")
    stems = _draw_branches(ax, linkage, order)
    labels: dict[frozenset[int], str] = {}  # a branch at several levels is named as at the level in `blocks_`
    for n_groups in sorted(source.levels_["n_blocks"], key=lambda number: abs(number - COARSE)):
        groups = groups_at(linkage, n_groups)
        for group, name in enumerate(selector._group_names(groups, names)):
            members = frozenset(np.flatnonzero(groups == group).tolist())
            if len(members) > 1:
                labels.setdefault(members, legible(name.text))
    _label_branches(ax, [(*stems[members], text) for members, text in labels.items()])
    return ax


def _draw_branches(ax: Axes, linkage: FloatArray, order: IntArray) -> dict[frozenset[int], tuple[float, float]]:
    """Draw the lines of the tree; return the blocks of each branch and the position where they merge."""
    k = len(order)
    members = [frozenset([block]) for block in range(k)]
    places = [(0.0, float(row)) for row in np.argsort(order)]
    for first, second, lost in linkage[:, :3].tolist():
        (x1, y1), (x2, y2) = places[int(first)], places[int(second)]
        ax.plot([x1, lost, lost, x2], [y1, y1, y2, y2], color=GREY, linewidth=1, solid_capstyle="butt")
        members.append(members[int(first)] | members[int(second)])
        places.append((lost, (y1 + y2) / 2))
    ax.set_xlim((1.02 * linkage[-1, 2] if k > 1 else 0.0) or 1.0, 0)
    return dict(zip(members, places, strict=True))


def _label_branches(ax: Axes, labels: list[tuple[float, float, str]]) -> None:
    """Write each label at its position (x, y) unless it would overlap an earlier label or the block names."""
    ax.figure.figure.draw_without_rendering()  # gives the axes their final size
    taken: list[Any] = []
    for x, y, text in labels:
        label = ax.annotate(
            text, (x, y), (-2, 1), textcoords="offset points", ha="right", va="bottom", fontsize=7, color=BLUE
        )
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8})
        label.set_in_layout(False)  # so that the axes keep this size
        if label.get_window_extent().x0 < ax.bbox.x0:
            label.xy, label.xycoords = (0, y), ax.get_yaxis_transform()  # the left end of the axes
            label.set_horizontalalignment("left")
        extent = label.get_window_extent()
        if extent.x1 > ax.bbox.x1 or any(extent.overlaps(other) for other in taken):
            label.remove()
        else:
            taken.append(extent)


def block_bounds(sizes: list[int]) -> list[float]:
    """Boundaries of the blocks, as shares of all nodes: 0, the end of the first block, …, 1."""
    return [0.0, *(np.cumsum(sizes) / np.sum(sizes)).tolist()]
