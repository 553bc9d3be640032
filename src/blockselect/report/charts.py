"""Charts of a page as coordinates and labels, which the templates draw as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from blockselect.plot.of_blocks import block_bounds
from blockselect.plot.of_features import SIZES, sizes_with_room
from blockselect.utils.wording import count, cut, number, per_cent

WIDTH, HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 16, 42  # margins, as in the template
_ON_TOP = _TOP + 4  # height of a label above all lines
_RANKS = 400  # maximum number of features in a chart by rank
_UNBOUNDED = ("prevalence", "degree", "autocorrelation")  # measures whose chart ends at the largest value
_NAME_ROOM = 19  # smallest distance between the names of two blocks
_ALONG = 20  # maximum number of characters of a name along an axis


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

    Filled dots are selected features; if they have the first ranks, a vertical line follows them. The axis goes from 0
    (or the lowest value, if negative) to 1 for probabilities and to the highest value otherwise.
    """
    if measure not in summary["measures"]:
        return None
    selected, names = {row["index"] for row in summary["selected"]}, summary["feature_names"]
    n_selected, is_unbounded = len(selected), measure in _UNBOUNDED
    shown = np.argsort(summary["ranking"])[: min(_RANKS, max(2 * n_selected, 20))].tolist()
    values, n = [summary["measures"][measure][index] for index in shown], len(shown)
    plane = _Plane(0.5, n + 0.5, min(0.0, *values), (1.15 * max(values) or 1.0) if is_unbounded else 1.0)
    x_ticks = {count(int(rank)): rank for rank in ticks(1, n, 5, whole=True)}
    text_of = per_cent if measure == "prevalence" else number
    return {
        **plane.axes("feature rank", x_ticks, text_of),
        "points": [
            {
                "x": plane.x(rank),
                "y": plane.y(value),
                "title": f"{cut(names[index])} (rank {rank}): {measure.replace('_', '-')} {text_of(value)}",
                "off": index not in selected,
            }
            for rank, (index, value) in enumerate(zip(shown, values, strict=True), start=1)
        ],
        "cut": plane.x(n_selected + 0.5) if 0 < n_selected < n and selected == set(shown[:n_selected]) else None,
        "cut_label": f"selected: {count(n_selected)}",
        "cut_at": _ON_TOP if is_unbounded else 190,
    }


def loss_chart(losses: Sequence[float]) -> dict[str, Any]:
    """The values of a loss by iteration."""
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
    """The tree of a summary as a table: one row per block, in the given order, one column per level, coarse to fine.

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


def short(name: str) -> str:
    """A name along an axis, truncated if it is long."""
    return name if len(name) <= _ALONG else f"{name[: _ALONG - 1].rstrip()}…"
