"""The parts of the page: from summary and details to what the template writes down, one function a part."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import Any

import numpy as np

from blockselect.arrays import IntArray
from blockselect.plot.of_blocks import block_bounds
from blockselect.report.charts import explained_chart, loss_chart, matrix_chart, rank_chart
from blockselect.wording import count, lift_in_cell, number, per_cent, times

_HEAT_CELLS = 40_000  # of the heat map, about a megabyte
_TITLED_CELLS = 5000  # up to which each says its lift in full
_CARDS = 12  # blocks with a card of their own
_CARD_MARKERS = 6
_NUMBERED = 16  # blocks up to which the cells of the heat map hold numbers
_NAME_ROOM = 30  # between the numbers of two blocks
_HARDLY = 0.05  # standard deviations
_RANKS = 400  # features of a chart by rank
_CORRELATED = 60  # features whose correlations are drawn


def strip(row: list[Any]) -> list[dict[str, Any]]:
    """Bars of a feature's mean by block, of width 6 and height 18; where there are many, the picture is narrowed."""
    return [{"x": 7 * block, "height": 2 * int(digit)} for block, digit in enumerate(row[-1])]


def heat_map(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Features by blocks: how much more common than in all nodes, features ordered by the block they mark."""
    k, selected = summary["blocks"]["count"], summary["selected"]
    if k < 2 or not selected:
        return None
    shown = selected[: max(1, _HEAT_CELLS // k)]
    at_end = k  # features that mark no block
    ordered = sorted(
        shown, key=lambda row: (at_end if row["marked_block"] is None else row["marked_block"], row["rank"])
    )
    return {
        "rows": [
            {
                "name": row["name"],
                "cells": [heat_cell(lift) for lift in row["block_lifts"]],
                "block": row["marked_block"],
            }
            for row in ordered
        ],
        "titled": k * len(shown) <= _TITLED_CELLS,
        "numbered": k <= _NUMBERED,
        "left_out": len(selected) - len(shown),
    }


def heat_cell(lift: float) -> dict[str, str]:
    """A step of the diverging ramp (−3 … 3), and the number where it is more than a little off."""
    amount = log2(lift) if lift > 0 else -9.0
    step = next((step for step, from_ in ((3, 2.58), (2, 1.58), (1, 0.58)) if abs(amount) >= from_), 0)
    sign = "p" if amount > 0 else "m"
    return {
        "step": f"{sign}{step}" if step else "z",
        "text": lift_in_cell(lift) if step else "",
        "title": times(lift),
    }


def cards(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The largest blocks, the largest first: size, links within and to others, and what marks each."""
    blocks = summary["blocks"]
    weights = np.array(blocks["link_weights"])
    found = []
    for block in _with_card(summary):
        ends = float(weights[block].sum())
        shares = weights[block] / ends if ends else np.zeros(len(weights))
        others = [
            other for other in np.argsort(-shares, kind="stable").tolist() if other != block and shares[other] > 0.02
        ]
        found.append(
            {
                **_marked_block(summary, block),
                "share": per_cent(blocks["sizes"][block] / summary["counts"]["nodes"]),
                "within": per_cent(float(shares[block])) if ends else None,
                "within_share": float(shares[block]),
                "others": [{"block": other, "share": per_cent(float(shares[other]))} for other in others[:3]],
            }
        )
    return found


def other_blocks(summary: dict[str, Any]) -> dict[str, Any] | None:
    """The blocks without a card of their own, together, the largest first."""
    blocks, shown = summary["blocks"], set(_with_card(summary))
    others = [block for block in _by_size(blocks["sizes"]) if block not in shown]
    if not others:
        return None
    size = sum(blocks["sizes"][block] for block in others)
    return {
        "blocks": [_marked_block(summary, block) for block in others],
        "are_small": set(others) <= set(blocks["small"]),
        "size": size,
        "share": per_cent(size / summary["counts"]["nodes"]),
    }


def _with_card(summary: dict[str, Any]) -> list[int]:
    """Blocks that have a card of their own: those that are not small, and not too many to read."""
    blocks = summary["blocks"]
    large = [block for block in _by_size(blocks["sizes"]) if block not in blocks["small"]]
    return large if len(large) <= _CARDS + 1 else large[:_CARDS]


def _by_size(sizes: list[int]) -> list[int]:
    return sorted(range(len(sizes)), key=lambda block: (-sizes[block], block))


def _marked_block(summary: dict[str, Any], block: int) -> dict[str, Any]:
    """A block, its size, and the first features that mark it."""
    blocks, by_index = summary["blocks"], {row["index"]: row for row in summary["selected"]}
    markers = [by_index[index] for index in blocks["marked_by"][block]]
    return {
        "block": block,
        "size": blocks["sizes"][block],
        "markers": [{"name": row["name"], "lift": times(row["block_lifts"][block])} for row in markers[:_CARD_MARKERS]],
        "more": max(0, len(markers) - _CARD_MARKERS),
    }


def densities(summary: dict[str, Any]) -> dict[str, Any]:
    """Three matrices: of the links, of the features, each on its own scale, and where their patterns differ."""
    blocks = summary["blocks"]
    graph, features = np.array(blocks["density"]), np.array(blocks["similarity"])
    differ = np.array(blocks["feature_pattern"]) - np.array(blocks["link_pattern"])
    return {
        "graph": matrix_chart(
            100 * graph / (graph.max() or 1), _titles(graph, "density"), diverging=False, digits=".0f"
        ),
        "features": matrix_chart(
            100 * features / (features.max() or 1), _titles(features, "similarity"), diverging=False, digits=".0f"
        ),
        "differ": matrix_chart(
            differ, _titles(differ, "difference in standard deviations"), diverging=True, digits=".1f"
        ),
        "furthest": _furthest(differ),
    }


def _titles(values: Any, what: str) -> list[list[str]]:
    return [
        [f"blocks {row} and {column}: {what} {number(float(value))}" for column, value in enumerate(line)]
        for row, line in enumerate(values)
    ]


def _furthest(differ: Any) -> str:
    row, column = np.unravel_index(np.abs(differ).argmax(), differ.shape)
    value = differ[row, column]
    if abs(value) < _HARDLY:
        return "they hardly differ"
    way = "more" if value > 0 else "less"
    pair = "within itself" if row == column else f"to block {column}"
    return f"the features tie block {row} {pair} {way} than the links do, by {abs(value):.1f} standard deviations"


def boundaries(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Blocks along the side of the ordered adjacency, in a square of 560, with the number where there is room."""
    bounds = block_bounds(summary["blocks"]["sizes"])
    places, last = list[dict[str, Any]](), -float(_NAME_ROOM)
    for block, (low, high) in enumerate(pairwise(bounds)):
        middle = 560 * (low + high) / 2
        named = middle - last >= _NAME_ROOM
        last = middle if named else last
        places.append({"block": block, "at": 560 * low, "middle": middle, "named": named})
    return places


def drawing(more: dict[str, Any]) -> dict[str, Any]:
    """Nodes and links of a small graph, in a square of 560."""
    places = [(30 + 500 * x, 30 + 500 * y) for x, y in more["drawing"]["places"]]
    return {
        "links": [(*places[i], *places[j]) for i, j in more["drawing"]["links"]],
        "nodes": [
            {"x": x, "y": y, "block": block, "title": f"{node}: block {block}"}
            for (x, y), block, node in zip(places, more["labels"], more["node_ids"], strict=True)
        ],
    }


def explained(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Share of the block structure that the first features explain."""
    found = summary["explained"]
    if found is None or len(found["curve"]) < 2:
        return None
    return explained_chart(found, summary["counts"]["selected_features"])


def score_curve(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Scores by rank, four times as many as are selected; a line where these are the first, else dots."""
    scores = np.array(summary["scores"])
    shown = np.argsort(summary["ranking"])[: min(_RANKS, max(4 * summary["counts"]["selected_features"], 20))]
    if len(shown) < 2 or not scores.max() > 0:
        return None
    on = _are_selected(summary, shown)
    return rank_chart(
        scores[shown].tolist(),
        on,
        y_top=float(scores.max()) * 1.05,
        dots=on != sorted(on, reverse=True),
        what="score",
        order="rank of the feature",
    )


def stability(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Stability by rank, to twice the selected ones."""
    return _measure(summary, "stability")


def discoveries(summary: dict[str, Any]) -> dict[str, Any] | None:
    """q-values by rank."""
    return _measure(summary, "q_value")


def _measure(summary: dict[str, Any], measure: str) -> dict[str, Any] | None:
    values = summary["measures"].get(measure)
    if values is None:
        return None
    n_selected = summary["counts"]["selected_features"]
    shown = np.argsort(summary["ranking"])[: min(_RANKS, max(2 * n_selected, 20))]
    return rank_chart(
        np.array(values)[shown].tolist(),
        _are_selected(summary, shown),
        y_top=1.0,
        dots=True,
        what=measure.replace("_", "-"),
        order="rank of the feature",
    )


def _are_selected(summary: dict[str, Any], indices: IntArray) -> list[bool]:
    selected = {row["index"] for row in summary["selected"]}
    return [index in selected for index in indices.tolist()]


def loss_charts(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Both losses of the paper's descent by iteration, each on its own scale."""
    if summary["loss_history"] is None:
        return []
    kinds = (
        ("reconstruction", "how badly features rebuild the blocks"),
        ("profile", "how badly they repeat who links to whom"),
    )
    return [
        {
            "kind": kind,
            "meaning": meaning,
            "chart": loss_chart(losses),
            "from": number(losses[0]),
            "to": number(losses[-1]),
            "rises": losses[-1] > losses[0],
        }
        for kind, meaning in kinds
        if len(losses := summary["loss_history"][kind]) > 1
    ]


def correlations(summary: dict[str, Any], more: dict[str, Any]) -> dict[str, Any] | None:
    """Correlations among the first selected features as a matrix, by rank."""
    found = more["redundancy"]
    if found is None or found["n_compared"] < 3:
        return None
    values = np.array(found["correlations"])[:_CORRELATED, :_CORRELATED]
    names = [row["name"] for row in summary["selected"][: len(values)]]
    titles = [[f"{a} and {b}: {values[i, j]:.2f}" for j, b in enumerate(names)] for i, a in enumerate(names)]
    chart = matrix_chart(values - np.diag(np.diag(values)), titles, diverging=True, digits=".1f")
    labels = [{**label, "text": count(int(label["text"]) + 1)} for label in chart["labels"]]
    return {**chart, "labels": labels, "n_shown": len(values)}
