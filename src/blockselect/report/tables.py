"""The tables of a summary as CSV text, with numbers in full precision.

Names come from other people's files; none is written such that a spreadsheet would execute it as a formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from blockselect.arrays import IntArray
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.write import as_text_cell

_TEXT = ["feature", "id", "marked_by"]  # columns that hold names


def selected_table(summary: dict[str, Any]) -> str:
    """One line per selected feature, the best first.

    The columns are rank, feature, score, the available measures, the share of nodes that have the feature, the block
    it marks, its lift there, and its mean in each block.
    """
    rows, columns = summary["selected"], ["rank", "name", "score", *summary["measures"]]
    if "blocks" not in summary:
        return _csv(pd.DataFrame(rows, columns=columns, dtype=object))
    table = pd.DataFrame(rows, columns=[*columns, "prevalence", "marked_block", "lift"], dtype=object)
    blocks = [f"block_{block}" for block in range(summary["blocks"]["count"])]
    return _csv(table.join(pd.DataFrame([row["block_means"] for row in rows], columns=blocks, dtype=object)))


def nodes_table(graph: AttributedGraph, labels: IntArray | None, chosen: IntArray) -> str:
    """One line per node: id, block (if there are blocks), number of links and number of chosen features."""
    columns = {
        "id": range(graph.n_nodes) if graph.node_ids is None else graph.node_ids,
        **({} if labels is None else {"block": labels}),
        "degree": np.diff(graph.adjacency.indptr),
        "selected_features": np.asarray((graph.features[:, chosen] != 0).sum(axis=1)).ravel(),
    }
    return _csv(pd.DataFrame(columns, dtype=object))


def blocks_table(summary: dict[str, Any]) -> str:
    """One line per block: size, whether it is small, density of links to each block, and the features that mark it."""
    blocks, every = summary["blocks"], range(summary["blocks"]["count"])
    columns = {
        "block": every,
        "size": blocks["sizes"],
        "small": [int(block in blocks["small"]) for block in every],
        **{f"density_to_{block}": [density[block] for density in blocks["density"]] for block in every},
        "marked_by": ["; ".join(row["feature"] for row in found["markers"]) for found in blocks["described"]],
    }
    return _csv(pd.DataFrame(columns, dtype=object))


def scores_table(summary: dict[str, Any]) -> str:
    """One line per feature, the best first: rank, feature, score, whether it is selected, available measures."""
    columns = {
        "rank": summary["ranking"],
        "feature": summary["feature_names"],
        "score": summary["scores"],
        "selected": np.isin(range(len(summary["ranking"])), [row["index"] for row in summary["selected"]]).astype(int),
        **summary["measures"],
    }
    return _csv(pd.DataFrame(columns, dtype=object).sort_values("rank"))


def _csv(table: pd.DataFrame) -> str:
    table = table.rename(columns={"name": "feature"})
    for column in table.columns.intersection(_TEXT):
        table[column] = table[column].map(as_text_cell)
    return table.to_csv(index=False, lineterminator="\n")
