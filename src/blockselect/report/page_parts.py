"""The parts of the page: one function per part, from the summary and the details to what the template writes."""

from __future__ import annotations

from itertools import pairwise
from math import log2, sqrt
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from blockselect.blockmodels.description import interval
from blockselect.plot.of_blocks import block_bounds
from blockselect.report.charts import explained_chart, loss_chart, matrix_chart, node_places, rank_chart
from blockselect.wording import count, cut, lift_in_cell, number, per_cent, times

_MAX_DRAWN = 40  # blocks of the drawing
_DRAWN_WIDTH, _DRAWN_HEIGHT = 680, 400
_LINES = 3  # lines of the drawing, as a multiple of the number of blocks
_PARTNERS = 2  # strongest neighbours of each block, which the layout of the drawing keeps near it
_NAME = 13  # characters of a feature's name below a block
_FAINT = 0.05  # lines below this share of the densest pair are not drawn
_HEAT_CELLS = 40_000  # cells of the heat map, about a megabyte
_TITLED_CELLS = 5000  # up to this number, each cell states its lift on hover
_CARDS = 12  # blocks with a card of their own
_CARD_MARKERS = 6
_CARD_NODES = 3
_WORTH_NAMING = 0.02  # share of the links of a block that go to another one
_NUMBERED = 20  # with more blocks than this, the cells of the heat map hold no numbers
_NAME_ROOM = 30  # distance between the numbers of two blocks
_LABEL_STEPS = (("p3", 0.5), ("p2", 0.2), ("p1", 0.05))  # colour of a cell, from this share of the block
_HARDLY = 0.05  # standard deviations
_UNBOUNDED = ("prevalence", "degree", "autocorrelation")  # measures whose chart ends at the largest value
_RANKS = 400  # features of a chart by rank


def strip(row: list[Any]) -> list[dict[str, Any]]:
    """Bars (6 wide, up to 18 high) for the mean of a feature in each block."""
    return [{"x": 7 * block, "height": 2 * int(digit)} for block, digit in enumerate(row[-1])]


def block_drawing(summary: dict[str, Any]) -> dict[str, Any] | None:
    """The network of blocks: the area of a circle shows the size, the width of a line the density of the links."""
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
    height = 90 if k == 2 else min(_DRAWN_HEIGHT, 90 + 62 * k)
    places = 45 + node_places(csr_array(near), np.arange(k)) * (_DRAWN_WIDTH - 90, height - 90)
    largest, radius = max(blocks["sizes"]), min(26.0, 115 / sqrt(k))
    faintest = max(_FAINT, np.sort(between, axis=None)[-min(_LINES * k, k * k)])
    return {
        "width": _DRAWN_WIDTH,
        "height": height,
        "lines": [
            {"ends": [*places[i], *places[j]], "width": max(0.6, 7 * between[i, j]), "title": _pair_title(blocks, i, j)}
            for i, j in np.argwhere(between >= faintest).tolist()
        ],
        "circles": [
            {
                "block": block,
                "x": places[block, 0],
                "y": places[block, 1],
                "radius": max(10.0, radius * sqrt(size / largest)),
                "title": _block_title(summary, block),
                "name": _short_name(summary, block),
            }
            for block, size in enumerate(blocks["sizes"])
        ],
    }


def _short_name(summary: dict[str, Any], block: int) -> str:
    """The end of the name of the best feature that marks a block; empty if there is none."""
    markers = _marked_block(summary, block)["markers"]
    name = markers[0]["name"] if markers else ""
    return name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"


def _pair_title(blocks: dict[str, Any], i: int, j: int) -> str:
    return f"blocks {i} and {j}: density of links {number(blocks['density'][i][j])}"


def _block_title(summary: dict[str, Any], block: int) -> str:
    found = _marked_block(summary, block)
    names = ", ".join(cut(marker["name"]) for marker in found["markers"][:3])
    return f"block {block}: {count(found['size'], 'node')}{f'; marked by {names}' if names else ''}"


def heat_map(summary: dict[str, Any]) -> dict[str, Any] | None:
    """The lift of each selected feature in each block; the features are ordered by the block they mark."""
    k, selected = summary["blocks"]["count"], summary["selected"]
    if k < 2 or not selected:
        return None
    shown = selected[: max(1, _HEAT_CELLS // k)]
    ordered = sorted(shown, key=lambda row: (k if row["marked_block"] is None else row["marked_block"], row["rank"]))
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


def label_rows(more: dict[str, Any]) -> list[list[dict[str, str]]]:
    """Numbers of nodes by block and known label; the colour shows the share of the block."""
    rows = []
    for counts in more["labels"]["counts"]:
        steps = [next((step for step, from_ in _LABEL_STEPS if one >= from_ * sum(counts)), "z") for one in counts]
        rows.append(
            [{"step": step, "text": count(one) if one else ""} for one, step in zip(counts, steps, strict=True)]
        )
    return rows


def heat_cell(lift: float) -> dict[str, str]:
    """A step of the diverging colours (−3 … 3), and the number if it is at least 1.5 or at most two thirds."""
    amount = log2(lift) if lift > 0 else -9.0
    step = next((step for step, from_ in ((3, 2.58), (2, 1.58), (1, 0.58)) if abs(amount) >= from_), 0)
    sign = "p" if amount > 0 else "m"
    return {
        "step": f"{sign}{step}" if step else "z",
        "text": lift_in_cell(lift) if step else "",
        "title": times(lift),
    }


def cards(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The largest blocks, the largest first: size, links within and to others, markers and typical nodes."""
    blocks = summary["blocks"]
    found = []
    for block in _with_card(summary):
        described = blocks["described"][block]
        within = described["share_within"]
        others = [row for row in described["links"] if row["block"] != block and row["share"] > _WORTH_NAMING]
        found.append(
            {
                **_marked_block(summary, block),
                "share": per_cent(blocks["sizes"][block] / summary["counts"]["nodes"]),
                "within": None if within is None else per_cent(within),
                "within_share": within,
                "others": [
                    {
                        "block": row["block"],
                        "share": per_cent(row["share"]),
                        "title": f"{times(row['relative_density'])} the density of random links with the same degrees",
                    }
                    for row in others[:3]
                ],
                "nodes": described["typical_nodes"][:_CARD_NODES],
            }
        )
    return found


def other_blocks(summary: dict[str, Any]) -> dict[str, Any] | None:
    """The blocks without a card of their own, the largest first, and their total size."""
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
    """Blocks with a card of their own: those that are not small, and not too many to read."""
    blocks = summary["blocks"]
    large = [block for block in _by_size(blocks["sizes"]) if block not in blocks["small"]]
    return large if len(large) <= _CARDS + 1 else large[:_CARDS]


def _by_size(sizes: list[int]) -> list[int]:
    return sorted(range(len(sizes)), key=lambda block: (-sizes[block], block))


def _marked_block(summary: dict[str, Any], block: int) -> dict[str, Any]:
    """A block, its size, and the first features that mark it."""
    blocks = summary["blocks"]
    markers = blocks["described"][block]["markers"]
    return {
        "block": block,
        "size": blocks["sizes"][block],
        "markers": [
            {"name": row["feature"], "lift": times(row["lift"]), "interval": interval(row)}
            for row in markers[:_CARD_MARKERS]
        ],
        "more": max(0, len(markers) - _CARD_MARKERS),
    }


def densities(summary: dict[str, Any]) -> dict[str, Any]:
    """Three matrices of block pairs: the links, the features, and the difference of the two patterns."""
    blocks = summary["blocks"]
    differ = np.array(blocks["feature_pattern"]) - np.array(blocks["link_pattern"])
    return {
        "graph": matrix_chart(np.array(blocks["density"]), "density"),
        "features": matrix_chart(np.array(blocks["similarity"]), "similarity"),
        "differ": matrix_chart(differ, "difference in standard deviations", diverging=True),
        "furthest": _furthest(differ),
    }


def _furthest(differ: Any) -> str:
    row, column = np.unravel_index(np.abs(differ).argmax(), differ.shape)
    value = differ[row, column]
    if abs(value) < _HARDLY:
        return "The two patterns hardly differ"
    way = "more" if value > 0 else "less"
    pair = "to itself" if row == column else f"to block {column}"
    difference = f"by {abs(value):.1f} standard deviations"
    return f"The largest difference: the features tie block {row} {pair} {way} than the links do, {difference}"


def boundaries(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Positions of the blocks along a side of 560 of the ordered adjacency matrix; named if there is room."""
    bounds = block_bounds(summary["blocks"]["sizes"])
    places, last = list[dict[str, Any]](), -float(_NAME_ROOM)
    for block, (low, high) in enumerate(pairwise(bounds)):
        middle = 560 * (low + high) / 2
        named = middle - last >= _NAME_ROOM
        last = middle if named else last
        places.append({"block": block, "at": 560 * low, "middle": middle, "named": named})
    return places


def drawing(more: dict[str, Any]) -> dict[str, Any]:
    """Nodes and links of a small graph in a square of 560."""
    graph = more["drawing"]
    places = [(30 + 500 * x, 30 + 500 * y) for x, y in graph["places"]]
    return {
        "links": [(*places[i], *places[j]) for i, j in graph["links"]],
        "nodes": [
            {"x": x, "y": y, "block": block, "title": f"{name}: block {block}"}
            for (x, y), block, name in zip(places, graph["labels"], graph["names"], strict=True)
        ],
    }


def explained(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Share of the block structure that the first features explain."""
    found = summary["explained"]
    if found is None or len(found["curve"]) < 2:
        return None
    return explained_chart(found, summary["counts"]["selected_features"])


def by_rank(summary: dict[str, Any], measure: str) -> dict[str, Any] | None:
    """A measure by rank, for twice as many features as are selected; None if it was not computed."""
    values = summary["measures"].get(measure)
    if values is None:
        return None
    selected = {row["index"] for row in summary["selected"]}
    shown = np.argsort(summary["ranking"])[: min(_RANKS, max(2 * len(selected), 20))].tolist()
    return rank_chart(
        [values[index] for index in shown],
        [cut(summary["feature_names"][index]) for index in shown],
        [index in selected for index in shown],
        measure.replace("_", "-"),
        is_share=measure not in _UNBOUNDED,
    )


def loss_charts(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Both losses of BMGUFS by iteration, each on its own scale."""
    if summary["loss_history"] is None:
        return []
    kinds = (
        ("reconstruction", "how far the features are from reproducing the links"),
        ("profile", "how far they are from reproducing how the blocks are connected"),
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
