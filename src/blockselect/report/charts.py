"""Geometry of the charts on a page: coordinates and labels, which the templates draw as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2, sqrt
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.sparse import csr_array

from blockselect.plot.of_blocks import block_bounds
from blockselect.plot.of_features import SIZES, sizes_with_room
from blockselect.result import order_by_block
from blockselect.utils.arrays import FloatArray, IntArray, Sparse
from blockselect.utils.wording import count, cut, number, per_cent

WIDTH, HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 16, 42  # margins, as in the template
_ON_TOP = _TOP + 4  # height of a label above all lines
_RANKS = 400  # features in a chart by rank, at most
_UNBOUNDED = ("prevalence", "degree", "autocorrelation")  # measures whose chart ends at the largest value
_STEPS = 120  # iterations of the spring layout
_NAME_ROOM = 19  # distance between the names of two blocks
_MAX_DRAWN = 40  # blocks of the drawing
_WIDE, _HIGH = 860, 440  # largest drawing
_NARROW = 360  # width of the drawing on a phone
_LINES = 3  # lines of the drawing, as a multiple of the number of blocks
_PARTNERS = 2  # strongest neighbours of each block, which the layout of the drawing keeps near it
_NAME = 15  # characters per line of a name below a block
_ALONG = 20  # characters of a name along an axis, and of a long word below a block
_LETTER, _LINE = 8, 13  # width of a character in wide fonts, and height of a line
_FAINT = 0.05  # lines below this share of the densest pair are not drawn


@dataclass(frozen=True, slots=True)
class _Plane:
    """The area of a chart, with the range of values along each side."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return round(_LEFT + (value - self.left) / (self.right - self.left) * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP), 1)

    def path(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        return "M" + "L".join(f"{self.x(x):g} {self.y(y):g}" for x, y in zip(xs, ys, strict=True))

    def axes(self, x_label: str, x_ticks: dict[str, float], y_text: Callable[[float], str]) -> dict[str, Any]:
        """Ticks of both axes, and the label of the x axis."""
        return {
            "x_label": x_label,
            "x_ticks": [{"at": self.x(value), "text": text} for text, value in x_ticks.items()],
            "y_ticks": [{"at": self.y(value), "text": y_text(value)} for value in ticks(self.low, self.high, 4)],
        }


def ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Round numbers from low to high, few enough to read."""
    locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole)
    return [float(value) for value in locator.tick_values(low, high) if low <= value <= high]


def explained_chart(explained: dict[str, Any], n_selected: int) -> dict[str, Any]:
    """Share explained against the number of features (log scale), compared with random and all features."""
    curve, of_all = explained["curve"], explained["all"]
    sizes, shares, by_chance = ([point[key] for point in curve] for key in ("n_features", "share", "random"))
    xs = [log2(size) for size in sizes]
    plane = _Plane(0, max(xs[-1], 1), 0, 1.15 * (max(of_all or 0.0, *shares, *by_chance) or 1.0))
    lines = [{"kind": "random", "path": plane.path(xs, by_chance)}]
    names = [{"x": plane.x(xs[-1]), "y": plane.y(by_chance[-1]) - 7, "text": "random", "end": True}]
    if of_all is not None:
        text = f"all features: {per_cent(of_all)}"
        lines.append({"kind": "all", "path": plane.path((0, plane.right), (of_all, of_all))})
        names.append({"x": plane.x(0) + 4, "y": plane.y(of_all) - 7, "text": text, "end": False})
    x_ticks = {count(size): log2(size) for size in sizes_with_room(sizes)}
    return {
        **plane.axes(SIZES, x_ticks, per_cent),
        "path": plane.path(xs, shares),
        "lines": lines,
        "names": names,
        "points": [
            {
                "x": plane.x(log2(size)),
                "y": plane.y(share),
                "title": f"{count(size, 'feature')}: {per_cent(share)}; random features: {per_cent(random)}",
            }
            for size, share, random in zip(sizes, shares, by_chance, strict=True)
        ],
        "cut": plane.x(log2(n_selected)) if 0 < n_selected <= sizes[-1] else None,
        "cut_label": f"selected: {count(n_selected)}",
        "cut_at": _ON_TOP,
    }


def rank_chart(summary: dict[str, Any], measure: str) -> dict[str, Any] | None:
    """A measure by rank, for twice as many features as are selected; None if it was not computed.

    Filled dots are selected features; the cut is drawn if these come first. The axis goes from 0 to 1 for
    probabilities, otherwise from 0, or the lowest value if that is negative, to the highest.
    """
    if measure not in summary["measures"]:
        return None
    selected = {row["index"] for row in summary["selected"]}
    shown = np.argsort(summary["ranking"])[: min(_RANKS, max(2 * len(selected), 20))].tolist()
    values, on = [summary["measures"][measure][index] for index in shown], [index in selected for index in shown]
    n, n_on, unbounded = len(shown), sum(on), measure in _UNBOUNDED
    plane = _Plane(0.5, n + 0.5, min(0.0, *values), (1.15 * max(values) or 1.0) if unbounded else 1.0)
    x_ticks = {count(int(rank)): rank for rank in ticks(1, n, 5, whole=True)}
    text_of = per_cent if measure == "prevalence" else number
    return {
        **plane.axes("feature rank", x_ticks, text_of),
        "points": [
            {
                "x": plane.x(rank),
                "y": plane.y(value),
                "title": f"{name} (rank {rank}): {measure.replace('_', '-')} {text_of(value)}",
                "off": not filled,
            }
            for rank, (value, name, filled) in enumerate(
                zip(values, (cut(summary["feature_names"][index]) for index in shown), on, strict=True), start=1
            )
        ],
        "cut": plane.x(n_on + 0.5) if 0 < n_on < n and all(on[:n_on]) else None,
        "cut_label": f"selected: {count(n_on)}",
        "cut_at": _ON_TOP if unbounded else 190,
    }


def loss_chart(losses: Sequence[float]) -> dict[str, Any]:
    """A loss by iteration."""
    low, high = min(losses), max(losses)
    pad = 0.08 * (high - low) or abs(high) or 1.0
    plane = _Plane(0, len(losses) - 1, low - pad, high + pad)
    x_ticks = {count(int(step)): step for step in ticks(0, plane.right, 5, whole=True)}
    return {**plane.axes("iteration", x_ticks, number), "path": plane.path(range(len(losses)), losses)}


def boundaries(sizes: list[int]) -> list[dict[str, Any]]:
    """Positions of the blocks along the ordered adjacency matrix (side 560), and whether there is room for a name."""
    bounds = [round(560 * bound, 1) for bound in block_bounds(sizes)]
    found: list[dict[str, Any]] = []
    for block, (low, high) in enumerate(pairwise(bounds)):
        middle = round((low + high) / 2, 1)
        last = max((each["middle"] for each in found if each["named"]), default=-_NAME_ROOM)
        found.append({"block": block, "at": low, "middle": middle, "named": middle - last >= _NAME_ROOM})
    return found


def icicle(tree: list[list[dict[str, Any]]], order: Sequence[int]) -> list[list[dict[str, Any]]]:
    """The tree of a summary as a table: one row per block, in this order, and one column per level, coarse to fine.

    A cell is a group with its row and column spans; it spans all levels at which it has the same blocks.
    """
    rows: list[list[dict[str, Any]]] = [[] for _ in order]
    seen = set[tuple[int, ...]]()
    for level, groups in enumerate(tree):
        for group in groups:
            blocks = group["blocks"]
            if tuple(blocks) not in seen:
                seen.add(tuple(blocks))
                n_levels = sum(blocks in [each["blocks"] for each in finer] for finer in tree[level:])
                rows[min(map(order.index, blocks))].append({**group, "rows": len(blocks), "columns": n_levels})
    return rows


def block_drawing(summary: dict[str, Any], *, narrow: bool = False) -> dict[str, Any] | None:
    """The network of blocks: circle area shows the number of nodes, line width the link density.

    The `name` of a circle may have two lines, and is empty for a block without a name; `light` marks names that do not
    come from a selected feature.
    """
    blocks, k = summary["blocks"], summary["blocks"]["count"]
    if not 2 <= k <= _MAX_DRAWN:
        return None
    density = np.array(blocks["density"])
    between = np.triu(np.maximum(density, density.T), 1)
    between /= between.max() or 1.0
    near = np.zeros((k, k))
    for block, row in enumerate(between + between.T):
        partners = np.argsort(-row, kind="stable")[:_PARTNERS]
        near[block, partners] = near[partners, block] = row[partners]
    largest, radius = max(blocks["sizes"]), min(26.0, 115 / sqrt(k))
    radii = np.maximum(10.0, radius * np.sqrt(np.array(blocks["sizes"]) / largest))
    names = [[] if one["name_origin"] == "number" else _in_lines(one["name"]) for one in blocks["described"]]
    width, height = (_NARROW, 150 + 18 * k) if narrow else (_WIDE, 90 if k == 2 else min(_HIGH, 100 + 62 * k))
    boxes = np.array(
        [
            (max([2 * r, *(_LETTER * len(line) for line in lines)]), 2 * r + 4 + _LINE * len(lines))
            for r, lines in zip(radii, names, strict=True)
        ]
    )
    margins = boxes.max(axis=0) / 2
    places = margins + node_places(csr_array(near), np.arange(k)) * ((width, height) - 2 * margins)
    places = _without_overlap(places, boxes, np.array([width, height]))
    places[:, 1] += radii - boxes[:, 1] / 2  # from the middle of circle and name to that of the circle
    faintest = max(_FAINT, np.sort(between, axis=None)[-min(_LINES * k, k * k)])
    return {
        "width": width,
        "is_partial": bool(np.count_nonzero(between) > np.count_nonzero(between >= faintest)),
        "height": height,
        "lines": [
            {
                "ends": [*places[i], *places[j]],
                "width": max(0.6, 7 * between[i, j]),
                "title": f"{_called(blocks, i)} and {_called(blocks, j)}: density {number(blocks['density'][i][j])}",
            }
            for i, j in np.argwhere(between >= faintest).tolist()
        ],
        "circles": [
            {
                "block": block,
                "x": places[block, 0],
                "y": places[block, 1],
                "radius": radii[block],
                "name": "\n".join(names[block]),
                "title": _title(blocks, block),
                "light": blocks["described"][block]["name_origin"] not in ("selected", "given"),
            }
            for block in range(k)
        ],
    }


def _without_overlap(places: FloatArray, boxes: FloatArray, area: FloatArray) -> FloatArray:
    """Move boxes (k, 2) around these middles (k, 2) apart until none overlap, as far as the area has room."""
    before = np.sign(np.subtract.outer(np.arange(len(places)), np.arange(len(places))))[..., None]
    room = (boxes[:, None] + boxes[None]) / 2 + 3
    for _ in range(_STEPS):
        apart = places[:, None] - places[None]  # (k, k, 2)
        overlap = np.maximum(room - np.abs(apart), 0.0)
        overlap[overlap.min(axis=2) == 0] = 0.0
        overlap[np.arange(len(places)), np.arange(len(places))] = 0.0
        shortest = overlap == overlap.min(axis=2, keepdims=True)  # the direction in which they part soonest
        way = np.where(apart == 0, before, np.sign(apart))
        places = np.clip(places + 0.3 * (way * overlap * shortest).sum(axis=1), boxes / 2, area - boxes / 2)
    return places


def short(name: str) -> str:
    """A name along an axis, truncated if it is long."""
    return name if len(name) <= _ALONG else f"{name[: _ALONG - 1].rstrip()}…"


def _in_lines(name: str) -> list[str]:
    """A name in at most two lines, broken between words."""
    return [short(line) for line in wrap(name, _NAME, max_lines=2, placeholder=" …", break_long_words=False)]


def _called(blocks: dict[str, Any], block: int) -> str:
    """The name of a block, cut if it is long."""
    return cut(blocks["described"][block]["name"])


def _title(blocks: dict[str, Any], block: int) -> str:
    """The tooltip of a block."""
    found, size = blocks["described"][block], count(blocks["sizes"][block], "node")
    marked = ", ".join(cut(row["feature"]) for row in found["markers"][:3])
    number_too = "" if found["name_origin"] == "number" else f", block {block}"
    return f"{found['name']}{number_too}: {size}{f'; marked by {marked}' if marked else ''}"


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
