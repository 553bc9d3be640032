"""Rows as tables: those of one experiment, selections with the figures of their clusterings beside them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from blockselect.reproduction.clusterings import CLUSTERINGS, FIGURES
from blockselect.reproduction.trial import Row

_LAST = ("warning", "error")
_WHOLE = (
    "candidate",
    "seed",
    "top",
    "asked_for",
    "n_selected",
    "n_nonzero",
    "n_zero_rows",
    "repeat",
)  # stay integers beside rows that lack them


def experiment_table(rows: Sequence[Row], experiment: str) -> pd.DataFrame:
    """All rows of an experiment, failed ones too; selections with ACC and NMI, or the error of their clustering."""
    table = pd.DataFrame([row for row in rows if row["experiment"] == experiment])
    if "selection" not in table:
        return _in_order(table)
    clusterings = pd.DataFrame(
        [row for row in rows if row["experiment"] == CLUSTERINGS], columns=["dataset", "selection", *FIGURES, "error"]
    )
    clusterings = clusterings.rename(columns={"error": "clustering_error"})
    merged = table.drop(columns="selected").merge(clusterings, on=["dataset", "selection"], how="left")
    merged["error"] = merged["error"].where(merged["error"].notna(), merged["clustering_error"])
    return _in_order(merged.drop(columns="clustering_error"))


def clustering_table(rows: Sequence[Row]) -> pd.DataFrame:
    """All clusterings with the features that they were made by, each once."""
    columns = {(row["dataset"], row["selection"]): row["selected"] for row in rows if row.get("selected")}
    clusterings = {
        (row["dataset"], row["selection"]): {**row, "selected": columns[row["dataset"], row["selection"]]}
        for row in rows
        if row["experiment"] == CLUSTERINGS
    }
    return _in_order(pd.DataFrame([clusterings[key] for key in sorted(clusterings)]))


def good_rows(rows: Sequence[Row], experiment: str) -> pd.DataFrame:
    """The rows of an experiment that did not fail."""
    table = experiment_table(rows, experiment)
    return table[table["error"].isna()] if "error" in table else table


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    columns = [*(name for name in table if name not in _LAST), *(name for name in _LAST if name in table)]
    return table[columns].astype({name: "Int64" for name in _WHOLE if name in table})
