"""What the page shows beyond the summary: all features, redundancy, the graph, how it was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.bmgufs.estimator import BMGUFS
from blockselect.graphs.attributed import AttributedGraph
from blockselect.inspection.markers import Markers, block_markers
from blockselect.plot.of_blocks import ordered_links
from blockselect.report.charts import node_places
from blockselect.report.provenance import package_versions, python_to_repeat, settings_table
from blockselect.report.redundancy import redundancy

_MAX_DRAWN, _MAX_LINKS = 60, 400  # nodes and links of a graph that is drawn node by node
_ROWS_BYTES = 9_000_000  # of the table of features in the page; the rest of it is in scores.csv


def details(
    selector: BlockGuidedSelector,
    graph: AttributedGraph,
    summary: dict[str, Any],
    *,
    title: str,
    command: str | None,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """What :func:`blockselect.report.summarize` leaves out since only a page needs it, as plain data.

    Parameters
    ----------
    selector, graph
        As `summarize` took them.
    summary : dict
        What it returned.
    title : str
        Name of the network.
    command : str or None
        The command that made the selection.
    warnings : sequence of str
        What the fit warned of.
    """
    labels, adjacency = selector.block_model_.labels, graph.adjacency
    chosen = np.array([row["index"] for row in summary["selected"]], dtype=np.intp)
    small = draws_each_node(adjacency)
    return {
        "title": title,
        "method": type(selector).__name__,
        "asked": _asked(selector),
        "features": feature_rows(summary, block_markers(graph.features, labels)),
        "redundancy": redundancy(graph.features, chosen),
        "labels": labels.tolist() if small else None,
        "node_ids": _node_ids(graph) if small else None,
        "drawing": drawing(adjacency, labels) if small else None,
        "ordered_links": None if small else ordered_links(adjacency, labels),
        "gram_form": selector.gram_form_ if isinstance(selector, BMGUFS) else None,
        "settings": settings_table(selector),
        "seeded": selector.random_state is not None,
        "versions": package_versions(),
        "python": python_to_repeat(selector),
        "command": command,
        "warnings": list(warnings),
    }


def feature_rows(summary: dict[str, Any], markers: Markers) -> dict[str, Any]:
    """Features as compact rows, the selected first, then by rank, as many as may stand in a page.

    A row: name, rank, score, whether selected, prevalence, marked block (−1: none), lift there, the measures there are,
    and its mean in each block as digits, 9 for the highest of them.
    """
    measures = list(summary["measures"])
    by_rank = np.argsort(summary["ranking"]).tolist()
    selected = {row["index"] for row in summary["selected"]}
    order = [row["index"] for row in summary["selected"]] + [index for index in by_rank if index not in selected]
    names, strips = summary["feature_names"], block_strips(markers.block_means)
    rows: list[list[Any]] = []
    room = _ROWS_BYTES
    for index in order:
        row = [
            names[index],
            summary["ranking"][index],
            _short(summary["scores"][index], 6),
            int(index in selected),
            _short(markers.prevalence[index]),
            int(markers.marked_block[index]),
            _short(markers.marked_lift[index]),
            *(_short(summary["measures"][measure][index]) for measure in measures),
            strips[index],
        ]
        room -= len(json.dumps(row, separators=(",", ":"))) + 1
        if room < 0:
            break
        rows.append(row)
    return {"measures": measures, "rows": rows, "n_features": len(names)}


def block_strips(block_means: FloatArray) -> list[str]:
    """Means (k, m) of each feature by block as k digits, relative to the highest."""
    highest = np.maximum(block_means.max(axis=0), np.finfo(np.float64).tiny)
    shares = np.minimum(np.maximum(block_means, 0.0) / highest, 1.0)
    digits = np.ceil(9 * shares).astype(np.uint8) + ord("0")
    return [row.tobytes().decode("ascii") for row in np.ascontiguousarray(digits.T)]


def _short(number: float, digits: int = 4) -> float:
    """A few significant digits: the page is to read, files hold numbers in full."""
    return float(f"{number:.{digits}g}")


def _asked(selector: BlockGuidedSelector) -> int | str | None:
    """How many features were asked for: a number, "auto", or None where a share or the default half was."""
    wanted = selector.n_features_to_select
    if isinstance(wanted, str):
        return wanted
    return int(wanted) if isinstance(wanted, int | np.integer) else None


def _node_ids(graph: AttributedGraph) -> list[str]:
    ids = range(graph.n_nodes) if graph.node_ids is None else graph.node_ids
    return [str(each) for each in ids]


def draws_each_node(adjacency: Sparse) -> bool:
    """Whether the graph is small enough to draw its nodes and links one by one."""
    return bool(adjacency.shape[0] <= _MAX_DRAWN and adjacency.nnz <= 2 * _MAX_LINKS)


def drawing(adjacency: Sparse, labels: IntArray) -> dict[str, Any]:
    """Positions of the nodes, and the pairs of linked nodes, as plain data."""
    links = adjacency.tocoo()
    return {
        "places": node_places(adjacency, labels).round(4).tolist(),
        "links": [[int(i), int(j)] for i, j in zip(links.row, links.col, strict=True) if i < j],
    }
