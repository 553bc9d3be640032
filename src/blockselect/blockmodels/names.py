"""name_blocks: a short name for each block, from its markers, its nodes or its links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

import numpy as np

from blockselect.blockmodels.markers import Markers
from blockselect.utils.arrays import FloatArray, IntArray, best_first

_NEARLY = 0.8  # a marker can name a block if its evidence there is at least this share of its strongest evidence


@dataclass(frozen=True, slots=True)
class BlockName:
    """The name of a block and its origin."""

    text: str
    origin: str  # "selected" or "other" for a marker, "node", "links", "number", "given", or "blocks" for a merger
    feature: int = -1  # column of the marker; −1 for other names


def name_blocks(
    markers: Markers,
    chosen: IntArray,
    feature_names: Sequence[str],
    nodes: Sequence[str | None],
    link_weights: FloatArray,
    taken: Collection[int] = (),
) -> list[BlockName]:
    """Name k blocks.

    A block is named after its strongest selected marker or, if there is none, its strongest other marker. No two blocks
    get the same marker, and a marker that is clearly stronger in another block names only that block. A block without a
    marker of its own is named after its most typical node or, if nodes have no names, after the block that it links to
    most.

    Parameters
    ----------
    markers : Markers
    chosen : array of shape (d,)
        Selected features.
    feature_names : sequence of m str
    nodes : sequence of length k
        The most typical node of each block, or None if nodes have no names.
    link_weights : array of shape (k, k)
        Link weight between each pair of blocks.
    taken : collection of int
        Features that must not be used.
    """
    others = np.setdiff1d(np.arange(len(feature_names)), chosen)
    names: dict[int, BlockName] = {}
    for origin, among in (("selected", chosen), ("other", others)):
        used = {*taken, *(name.feature for name in names.values())}
        for block, feature in _strongest_first(markers, among):
            text = feature_names[feature].strip()
            if block not in names and feature not in used and text:
                names[block] = BlockName(text, origin, feature)
                used.add(feature)
    near = {block: BlockName(f"near {node}", "node") for block, node in enumerate(nodes) if node}
    names = near | names
    weights = link_weights.astype(np.float64, copy=True)
    np.fill_diagonal(weights, 0.0)
    marked = np.isin(np.arange(len(nodes)), list(names))
    for block in np.flatnonzero(~marked).tolist():
        partner = int(np.where(marked, weights[block], -1.0).argmax())
        linked = marked[partner] and weights[block, partner] > 0
        text = f"linked to {names[partner].text}" if linked else f"block {block}"
        names[block] = BlockName(text, "links" if linked else "number")
    return _unique(_shortened([names[block] for block in range(len(nodes))]))


def _strongest_first(markers: Markers, among: IntArray) -> list[tuple[int, int]]:
    """Pairs of a block and a feature that marks no other block much more strongly, by decreasing evidence."""
    evidence = np.where(markers.marks[:, among], markers.evidence[:, among], 0.0)
    near = (evidence > 0) & (evidence >= _NEARLY * evidence.max(axis=0, initial=0.0))
    blocks, columns = np.nonzero(near)
    order = best_first(evidence[blocks, columns])
    return list(zip(blocks[order].tolist(), among[columns[order]].tolist(), strict=True))


def _shortened(names: list[BlockName]) -> list[BlockName]:
    """Remove namespaces (``tag:use::gameplaying``), and a prefix (``subsystem=``) that all markers share."""
    of_markers = [name for name in names if name.feature >= 0]
    prefixes = {name.text.rpartition("=")[0] for name in of_markers}
    is_shared = len(of_markers) > 1 and len(prefixes) == 1
    shorter = [
        replace(name, text=_without_prefix(name.text, is_shared) or name.text) if name.feature >= 0 else name
        for name in names
    ]
    how_often = Counter(name.text for name in shorter)
    return [short if how_often[short.text] == 1 else name for short, name in zip(shorter, names, strict=True)]


def _without_prefix(text: str, is_shared: bool) -> str:
    if is_shared:
        text = text.rpartition("=")[2]
    return text.rpartition(":")[2].strip() if "::" in text else text


def _unique(names: list[BlockName]) -> list[BlockName]:
    """Add numbers to names that occur several times, because nodes or features have equal names."""
    made: dict[str, BlockName] = {}
    for name in names:
        numbered = (f"{name.text} ({number})" for number in count(2))
        text = next(text for text in chain([name.text], numbered) if text not in made)
        made[text] = replace(name, text=text)
    return list(made.values())
