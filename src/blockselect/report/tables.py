"""The tables of a summary, as CSV text: numbers in full, so that they read back as they were."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

MEASURES = ("stability", "p_value", "q_value")  # of each feature, where they were computed


def selected_table(summary: dict[str, Any]) -> str:
    """One line a selected feature, the best first: rank, feature, score, measures there are, its mean in each block."""
    measures = _measures(summary)
    blocks = [f"block_{block}" for block in range(len(summary["blocks"]["sizes"]))]
    rows = (
        [row["rank"], row["name"], row["score"], *(row[measure] for measure in measures), *row["block_means"]]
        for row in summary["selected"]
    )
    return _csv(["rank", "feature", "score", *measures, *blocks], rows)


def scores_table(summary: dict[str, Any]) -> str:
    """One line a feature, in the order of the columns: feature, score, rank, whether selected, measures there are."""
    measures = _measures(summary)
    chosen = {row["index"] for row in summary["selected"]}
    selected = [int(column in chosen) for column in range(len(summary["scores"]))]
    columns = (summary["feature_names"], summary["scores"], summary["ranking"], selected)
    rows = zip(*columns, *(summary["measures"][measure] for measure in measures), strict=True)
    return _csv(["feature", "score", "rank", "selected", *measures], rows)


def _measures(summary: dict[str, Any]) -> list[str]:
    return [measure for measure in MEASURES if measure in summary["measures"]]


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
