"""The tables of a summary as CSV text, with numbers in full precision.

Names come from other people's files; none is written such that a spreadsheet would execute it as a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from blockselect.arrays import IntArray
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.write import as_text_cell

MEASURES = (  # written if they were computed
    "explained_more",
    "explained_alone",
    "stability",
    "p_value",
    "q_value",
    "prevalence",
    "degree",
    "autocorrelation",
)


def selected_table(summary: dict[str, Any]) -> str:
    """One line per selected feature, the best first.

    The columns are rank, feature, score, the available measures, the share of nodes that have the feature, the block
    it marks, its lift there, and its mean in each block.
    """
    with_blocks = "blocks" in summary
    measures = [*_measures(summary), *(("prevalence", "marked_block", "lift") if with_blocks else ())]
    blocks = [f"block_{block}" for block in range(len(summary["blocks"]["sizes"]))] if with_blocks else []
    rows = (
        [row["rank"], row["name"], row["score"], *(row[measure] for measure in measures), *row.get("block_means", [])]
        for row in summary["selected"]
    )
    return _csv(["rank", "feature", "score", *measures, *blocks], rows)


def nodes_table(graph: AttributedGraph, labels: IntArray | None, chosen: IntArray) -> str:
    """One line per node: id, block (if there are blocks), number of links and number of chosen features."""
    columns = {
        "id": range(graph.n_nodes) if graph.node_ids is None else graph.node_ids,
        **({} if labels is None else {"block": labels.tolist()}),
        "degree": np.diff(graph.adjacency.indptr).tolist(),
        "selected_features": np.asarray((graph.features[:, chosen] != 0).sum(axis=1)).ravel().tolist(),
    }
    return _csv(list(columns), zip(*columns.values(), strict=True))


def blocks_table(summary: dict[str, Any]) -> str:
    """One line per block: size, whether it is small, density of links to each block, and the features that mark it."""
    blocks = summary["blocks"]
    rows = (
        [block, size, int(block in blocks["small"]), *density, "; ".join(row["feature"] for row in found["markers"])]
        for block, (size, density, found) in enumerate(
            zip(blocks["sizes"], blocks["density"], blocks["described"], strict=True)
        )
    )
    to = [f"density_to_{block}" for block in range(len(blocks["sizes"]))]
    return _csv(["block", "size", "small", *to, "marked_by"], rows)


def scores_table(summary: dict[str, Any]) -> str:
    """One line per feature, the best first: rank, feature, score, whether it is selected, available measures."""
    measures, chosen = _measures(summary), {row["index"] for row in summary["selected"]}
    rows = (
        [
            summary["ranking"][column],
            summary["feature_names"][column],
            summary["scores"][column],
            int(column in chosen),
            *(summary["measures"][measure][column] for measure in measures),
        ]
        for column in np.argsort(summary["ranking"]).tolist()
    )
    return _csv(["rank", "feature", "score", "selected", *measures], rows)


def _measures(summary: dict[str, Any]) -> list[str]:
    return [measure for measure in MEASURES if measure in summary["measures"]]


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([as_text_cell(cell) for cell in row] for row in rows)
    return text.getvalue()
