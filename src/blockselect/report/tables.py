"""The tables of a summary as CSV text, with numbers in full precision.

Names may come from untrusted files, so they are escaped to keep spreadsheets from executing them as formulas.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.write import as_text_cell
from blockselect.utils.arrays import IntArray, ObjectArray

_TEXT = ["feature", "id", "name", "block_name", "markers", "other_markers", "linked_to", "typical_nodes", "branch"]


def selected_table(summary: dict[str, Any]) -> str:
    """One line per selected feature, best first.

    The columns are rank, feature, score, the available measures, the share of nodes that have the feature, the block
    it marks most clearly, the name of that block, the lift of the feature there, how many blocks it marks, and its mean
    in each block.
    """
    rows, columns = summary["selected"], ["rank", "name", "score", *summary["measures"]]
    if "blocks" in summary:
        columns += ["prevalence", "marked_block", "block_name", "lift", "n_marked_blocks"]
    table = pd.DataFrame(rows, columns=columns, dtype=object).rename(columns={"name": "feature"})
    if "blocks" not in summary:
        return _csv(table)
    blocks = [f"block_{block}" for block in range(summary["blocks"]["count"])]
    return _csv(table.join(pd.DataFrame([row["block_means"] for row in rows], columns=blocks, dtype=object)))


def nodes_table(
    graph: AttributedGraph, chosen: IntArray, labels: IntArray | None = None, block_names: ObjectArray | None = None
) -> str:
    """One line per node: id, block and block name (if there are blocks), numbers of links and of selected features."""
    columns = {
        "id": range(graph.n_nodes) if graph.node_ids is None else graph.node_ids,
        **({} if labels is None or block_names is None else {"block": labels, "block_name": block_names[labels]}),
        "degree": np.diff(graph.adjacency.indptr),
        "selected_features": np.asarray((graph.features[:, chosen] != 0).sum(axis=1)).ravel(),
    }
    return _csv(pd.DataFrame(columns, dtype=object))


def blocks_table(blocks: pd.DataFrame, summary: dict[str, Any]) -> str:
    """One line per block: its row of `blocks_`, whether it is small, and the density of its links to each block."""
    found, every = summary["blocks"], range(summary["blocks"]["count"])
    columns = {
        "small": [int(block in found["small"]) for block in every],
        **{f"density_to_{block}": [density[block] for density in found["density"]] for block in every},
    }
    return _csv(blocks.astype(object).join(pd.DataFrame(columns, dtype=object)).reset_index(names="block"))


def scores_table(summary: dict[str, Any]) -> str:
    """One line per feature, best first: rank, feature, score, whether it is selected, available measures."""
    columns = {
        "rank": summary["ranking"],
        "feature": summary["feature_names"],
        "score": summary["scores"],
        "selected": np.isin(range(len(summary["ranking"])), [row["index"] for row in summary["selected"]]).astype(int),
        **summary["measures"],
    }
    return _csv(pd.DataFrame(columns, dtype=object).sort_values("rank"))


def _csv(table: pd.DataFrame) -> str:
    for column in table.columns.intersection(_TEXT):
        table[column] = table[column].map(as_text_cell)
    return table.to_csv(index=False, lineterminator="\n")
