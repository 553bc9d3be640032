"""The tables of a summary, as CSV text: numbers in full, so that they read back as they were."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def selected_table(summary: dict[str, Any]) -> str:
    """One line a selected feature, the best first: rank, feature, score, and its mean in each block."""
    blocks = [f"block_{block}" for block in range(len(summary["blocks"]["sizes"]))]
    rows = ([row["rank"], row["name"], row["score"], *row["block_means"]] for row in summary["selected"])
    return _csv(["rank", "feature", "score", *blocks], rows)


def scores_table(summary: dict[str, Any]) -> str:
    """One line a feature, in the order of the columns: feature, score, rank."""
    rows = zip(summary["feature_names"], summary["scores"], summary["ranking"], strict=True)
    return _csv(["feature", "score", "rank"], rows)


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
