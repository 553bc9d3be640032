"""Drawings of networks: positions of blocks, or of the nodes of a small graph, which the templates draw as SVG."""

from __future__ import annotations

from math import sqrt
from textwrap import wrap
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from blockselect.report.charts import short
from blockselect.report.summarize import block_names
from blockselect.result import order_by_block
from blockselect.utils.arrays import FloatArray, IntArray, ObjectArray, Sparse
from blockselect.utils.wording import count, cut, number

_STEPS = 120  # iterations of the layouts
_MAX_DRAWN = 40  # with more blocks than this, their network is not drawn
_WIDE, _HIGH = 860, 440  # largest size of the drawing of blocks
_NARROW = 360  # width of this drawing on a phone
_LINKS = 3  # maximum number of lines between blocks, as a multiple of the number of blocks
_FAINT = 0.05  # pairs of blocks below this share of the highest density get no line
_PARTNERS = 2  # number of strongest neighbours that the layout keeps near each block
_NAME = 15  # characters per line of a name below a block
_LETTER, _LINE = 8, 13  # width of a character in a wide font, and height of a line


def block_drawing(summary: dict[str, Any], *, narrow: bool = False) -> dict[str, Any] | None:
    """The network of blocks: circle area shows the number of nodes, line width the link density.

    The `name` of a circle has up to two lines, none for a block without a name; `light` marks names that do not come
    from a selected feature. The result is None for one block and for more than 40.
    """
    blocks, k = summary["blocks"], summary["blocks"]["count"]
    if not 2 <= k <= _MAX_DRAWN:
        return None
    density, every = np.array(blocks["density"]), block_names(summary)
    between = np.triu(np.maximum(density, density.T), 1)
    between /= between.max() or 1.0
    faintest = max(_FAINT, np.sort(between, axis=None)[-min(_LINKS * k, k * k)])
    radii = np.maximum(10.0, min(26.0, 115 / sqrt(k)) * np.sqrt(np.array(blocks["sizes"]) / max(blocks["sizes"])))
    origins = [one["name_origin"] for one in blocks["described"]]
    names = [[] if origin == "number" else _in_lines(name) for name, origin in zip(every, origins, strict=True)]
    width = _NARROW if narrow else _WIDE
    height = 90 if k == 2 else 150 + 18 * k if narrow else min(_HIGH, 100 + 62 * k)
    places = _block_places(between, radii, names, np.array([width, height]))
    return {
        "width": width,
        "height": height,
        "is_partial": bool(np.count_nonzero(between) > np.count_nonzero(between >= faintest)),
        "links": [
            {
                "ends": [*places[i], *places[j]],
                "width": max(0.6, 7 * between[i, j]),
                "title": f"{cut(every[i])} and {cut(every[j])}: density {number(blocks['density'][i][j])}",
            }
            for i, j in np.argwhere(between >= faintest).tolist()
        ],
        "circles": [
            {
                "block": block,
                "x": places[block, 0],
                "y": places[block, 1],
                "radius": radii[block],
                "name": names[block],
                "title": _hover_text(blocks, block),
                "light": origins[block] not in ("selected", "given"),
            }
            for block in range(k)
        ],
    }


def node_drawing(adjacency: Sparse, node_ids: ObjectArray | None, labels: IntArray) -> dict[str, Any]:
    """Node positions of a small graph in a square of side 560, and the endpoints of its links."""
    places = (30 + 500 * node_places(adjacency, labels).round(4)).tolist()
    links, ids = adjacency.tocoo(), range(len(labels)) if node_ids is None else node_ids
    return {
        "nodes": [
            {"x": x, "y": y, "name": str(name), "block": int(block)}
            for (x, y), name, block in zip(places, ids, labels, strict=True)
        ],
        "links": [(places[i], places[j]) for i, j in zip(links.row, links.col, strict=True) if i < j],
    }


def _in_lines(name: str) -> list[str]:
    """A name in at most two lines, broken between words."""
    return [short(line) for line in wrap(name, _NAME, max_lines=2, placeholder=" …", break_long_words=False)]


def _hover_text(blocks: dict[str, Any], block: int) -> str:
    found, size = blocks["described"][block], count(blocks["sizes"][block], "node")
    marked = ", ".join(cut(row["feature"]) for row in found["markers"][:3])
    number_too = "" if found["name_origin"] == "number" else f", block {block}"
    return f"{found['name']}{number_too}: {size}{f'; marked by {marked}' if marked else ''}"


def _block_places(between: FloatArray, radii: FloatArray, names: list[list[str]], area: FloatArray) -> FloatArray:
    """Centres (k, 2) of circles with these radii (k,), with room for the names below them; linked blocks are close.

    `between` (k, k) contains the link densities above the diagonal.
    """
    near = np.zeros_like(between)
    for block, row in enumerate(between + between.T):
        partners = np.argsort(-row, kind="stable")[:_PARTNERS]
        near[block, partners] = near[partners, block] = row[partners]
    boxes = np.array(
        [
            (max([2 * r, *(_LETTER * len(line) for line in lines)]), 2 * r + 4 + _LINE * len(lines))
            for r, lines in zip(radii, names, strict=True)
        ]
    )
    margins = boxes.max(axis=0) / 2
    places = margins + node_places(csr_array(near), np.arange(len(radii))) * (area - 2 * margins)
    places = _without_overlap(places, boxes, area)
    places[:, 1] += radii - boxes[:, 1] / 2  # from the centre of the box to the centre of its circle
    return places


def _without_overlap(places: FloatArray, boxes: FloatArray, area: FloatArray) -> FloatArray:
    """Move overlapping boxes apart, as far as the area has room, and return their new centres (k, 2).

    `places` (k, 2) contains the centres of the boxes, `boxes` (k, 2) their widths and heights.
    """
    before = np.sign(np.subtract.outer(np.arange(len(places)), np.arange(len(places))))[..., None]
    room = (boxes[:, None] + boxes[None]) / 2 + 3
    for _ in range(_STEPS):
        apart = places[:, None] - places[None]  # (k, k, 2)
        overlap = np.maximum(room - np.abs(apart), 0.0)
        overlap[overlap.min(axis=2) == 0] = 0.0
        overlap[np.arange(len(places)), np.arange(len(places))] = 0.0
        shortest = overlap == overlap.min(axis=2, keepdims=True)  # the direction of the shorter move
        way = np.where(apart == 0, before, np.sign(apart))
        places = np.clip(places + 0.3 * (way * overlap * shortest).sum(axis=1), boxes / 2, area - boxes / 2)
    return places


def node_places(adjacency: Sparse, labels: IntArray) -> FloatArray:
    """Positions (n, 2) in the unit square by a spring layout (Fruchterman and Reingold, 1991), without randomness.

    The nodes start on a circle, ordered by block, so that nodes of the same block start close together.
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
