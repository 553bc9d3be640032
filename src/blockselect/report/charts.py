"""Geometry of the charts of a page: numbers in, coordinates and labels out; the template draws them as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log2, log10
from typing import Any

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.plot.of_blocks import order_by_block
from blockselect.wording import count, number, per_cent

WIDTH, HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 16, 42  # margins, as in the template
CELL = 26  # width of a matrix cell with room for two digits
_MARGIN = 26
_MAX_NUMBERED = 12  # with more blocks than this, the cells hold no numbers
_STEPS = 120  # iterations of the spring layout


def explained_chart(explained: dict[str, Any], n_selected: int) -> dict[str, Any]:
    """Share explained by the number of features on a logarithmic axis, beside random and all features."""
    curve, of_all = explained["curve"], explained["all"]
    xs = [log2(point["n_features"]) for point in curve]
    right = max(xs[-1], 1)
    top = 1.15 * (max(of_all or 0.0, *(max(point["share"], point["random"]) for point in curve)) or 1.0)
    x, y = _scale(0, right, horizontal=True), _scale(0, top, horizontal=False)
    lines = [{"kind": "random", "path": _path([(x(a), y(p["random"])) for a, p in zip(xs, curve, strict=True)])}]
    names = [{"x": x(xs[-1]), "y": y(curve[-1]["random"]) - 7, "text": "random", "end": True}]
    if of_all is not None:
        lines.append({"kind": "all", "path": _path([(x(0), y(of_all)), (x(right), y(of_all))])})
        names.append({"x": x(0) + 4, "y": y(of_all) - 7, "text": f"all features: {per_cent(of_all)}", "end": False})
    return {
        "path": _path([(x(a), y(point["share"])) for a, point in zip(xs, curve, strict=True)]),
        "lines": lines,
        "names": names,
        "points": [
            {"x": x(a), "y": y(point["share"]), "title": _explained_title(point)}
            for a, point in zip(xs, curve, strict=True)
        ],
        "x_ticks": [_labelled(x(log2(size)), count(size)) for size in _spread(curve, xs)],
        "y_ticks": [_labelled(y(value), per_cent(value)) for value in ticks(0, top, 4)],
        "x_label": "number of features, the best first (each step doubles it)",
        "cut": x(log2(n_selected)) if 0 < n_selected <= curve[-1]["n_features"] else None,
        "cut_label": f"selected: {count(n_selected)}",
        "cut_at": _TOP + 4,  # above all lines
    }


def _explained_title(point: dict[str, Any]) -> str:
    n_features = count(point["n_features"], "feature")
    return f"{n_features}: {per_cent(point['share'])}; as many random ones: {per_cent(point['random'])}"


def _spread(curve: list[dict[str, Any]], xs: list[float]) -> list[int]:
    """Numbers of features whose labels do not overlap, chosen from the last one backwards."""
    step, kept = max(xs[-1], 1) / 8, list[int]()
    for i in reversed(range(len(curve))):
        if not kept or xs[kept[-1]] - xs[i] >= step:
            kept.append(i)
    return [curve[i]["n_features"] for i in reversed(kept)]


def rank_chart(
    values: Sequence[float], names: Sequence[str], on: Sequence[bool], what: str, *, is_share: bool = True
) -> dict[str, Any]:
    """Dots for the values of features by rank, filled if `on`; the cut is drawn if these come first.

    The axis goes from 0 to 1 for shares, otherwise from 0, or the lowest value if that is negative, to the highest.
    """
    n, n_on, low = len(values), sum(on), min(0.0, *values)
    high = 1.0 if is_share else 1.15 * max(values) or 1.0
    x, y = _scale(0.5, n + 0.5, horizontal=True), _scale(low, high, horizontal=False)
    features = enumerate(zip(values, names, on, strict=True), start=1)
    return {
        "path": None,
        "points": [
            {"x": x(rank), "y": y(value), "title": f"{name} (rank {rank}): {what} {number(value)}", "on": bool(filled)}
            for rank, (value, name, filled) in features
        ],
        "x_ticks": [_labelled(x(value), count(int(value))) for value in ticks(1, n, 5) if value == int(value)],
        "y_ticks": [_labelled(y(value), number(value)) for value in ticks(low, high, 4)],
        "x_label": "rank of the feature",
        "cut": x(n_on + 0.5) if 0 < n_on < n and all(on[:n_on]) else None,
        "cut_label": f"selected: {count(n_on)}",
        "cut_at": 190 if is_share else _TOP + 4,
    }


def loss_chart(losses: Sequence[float]) -> dict[str, Any]:
    """A loss by iteration."""
    low, high = min(losses), max(losses)
    pad = 0.08 * (high - low) or abs(high) or 1.0
    x = _scale(0, max(len(losses) - 1, 1), horizontal=True)
    y = _scale(low - pad, high + pad, horizontal=False)
    return {
        "path": _path([(x(step), y(loss)) for step, loss in enumerate(losses)]),
        "points": [],
        "x_ticks": [_labelled(x(v), count(int(v))) for v in ticks(0, len(losses) - 1, 5) if v == int(v)],
        "y_ticks": [_labelled(y(v), number(v)) for v in ticks(low - pad, high + pad, 4)],
        "x_label": "iteration",
        "cut": None,
    }


def matrix_chart(values: FloatArray, what: str, *, diverging: bool = False) -> dict[str, Any]:
    """A matrix of block pairs: amounts in per cent of the highest one, or signed values around 0."""
    k = len(values)
    top = float(np.abs(values).max()) or 1.0
    cell = CELL if k <= _MAX_NUMBERED else max(8, CELL * _MAX_NUMBERED // k)
    darkest = 0.5 if k <= _MAX_NUMBERED else 1.0  # numbers stay legible on light colours, in both themes
    cells = []
    for row, column in np.ndindex(k, k):
        value = float(values[row, column])
        text = _digits(value, ".1f") if diverging else _digits(100 * value / top, ".0f")
        cells.append(
            {
                "x": _MARGIN + column * cell,
                "y": _MARGIN + row * cell,
                "alpha": f"{darkest * abs(value) / top:.3f}",
                "less": diverging and value < 0,
                "text": text if k <= _MAX_NUMBERED else "",
                "title": f"blocks {row} and {column}: {what} {number(value)}",
            }
        )
    return {
        "cells": cells,
        "cell": cell,
        "extent": _MARGIN + k * cell + 2,
        "width": min(480, 60 + 45 * k),  # a few blocks need no large picture
        "labels": [{"at": _MARGIN + (block + 0.5) * cell, "text": str(block)} for block in range(0, k, ceil(k / 20))],
    }


def _digits(value: float, form: str) -> str:
    """Format a number; zero has no sign."""
    text = format(value, form)
    return "0" if float(text) == 0 else text


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, few enough to read."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** floor(log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _scale(low: float, high: float, *, horizontal: bool) -> Any:
    """Return a function from values to coordinates on one axis."""
    begin, end = (_LEFT, WIDTH - _RIGHT) if horizontal else (HEIGHT - _BOTTOM, _TOP)
    width = (high - low) or 1.0
    return lambda value: round(begin + (value - low) / width * (end - begin), 1)


def _labelled(at: float, text: str) -> dict[str, Any]:
    return {"at": at, "text": text}


def _path(places: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in places)


def node_places(adjacency: Sparse, labels: IntArray) -> FloatArray:
    """Positions (n, 2) in the unit square by a spring layout (Fruchterman and Reingold, 1991), without randomness.

    The nodes start on a circle, ordered by block, so that the nodes of a block need not find one another.
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
