"""Selections of features, the clusterings that evaluate them, and tables of both.

Similar settings often select the same features. A clustering is therefore identified by the selected features, not by
the settings, and all experiments share it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from blockselect.evaluation.clustering import evaluate_selection
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.networks import classes, network
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import FloatArray, IntArray, best_first

CLUSTERINGS = "clusterings"
MEASURES = ("accuracy", "nmi")
FIGURES = ("accuracy", "accuracy_sd", "nmi", "nmi_sd", "n_zero_rows")
_LAST = ("warning", "error")
# columns that remain integers even if values are missing
_WHOLE = ("candidate", "seed", "top", "asked_for", "n_selected", "n_nonzero", "n_zero_rows", "repeat")


def selection_row(ranked: IntArray, top: int, **settings: Any) -> Row:
    """A row with the `top` best ranked features, or without a selection if fewer features are ranked."""
    text = json.dumps(sorted(int(feature) for feature in ranked[:top])) if len(ranked) >= top else None
    return {
        **settings,
        "top": top,
        "n_nonzero": len(ranked),
        "selected": text,
        "selection": hashlib.sha256(text.encode()).hexdigest()[:16] if text else None,
    }


def ranked_features(scores: FloatArray) -> IntArray:
    """Features with positive scores, in order of decreasing score."""
    order = best_first(scores)
    return order[scores[order] > 0]


def clustering_trials(rows: Iterable[Row], config: ExperimentConfig) -> list[Trial]:
    """One trial per distinct selection in the rows."""
    selections = {(row["dataset"], row["selection"]): row["selected"] for row in rows if row.get("selection")}
    return [
        Trial(CLUSTERINGS, {"dataset": dataset, "selection": selection}, partial(cluster, dataset, selected, config))
        for (dataset, selection), selected in selections.items()
    ]


def cluster(dataset: str, selected: str, config: ExperimentConfig) -> list[Row]:
    """Evaluate the selected columns by the protocol of the paper."""
    columns = np.array(json.loads(selected))
    runs = {"n_runs": config.kmeans_runs, "n_init": config.kmeans_init, "first_seed": config.seed}
    scores = evaluate_selection(network(dataset).features, classes(dataset), columns, **runs)
    return [{**{name: getattr(scores, name) for name in FIGURES}, "n_features": len(columns)}]


def experiment_table(rows: Sequence[Row], experiment: str) -> pd.DataFrame:
    """All rows of an experiment, including failed ones, each with the results or the error of its clustering."""
    table = pd.DataFrame([row for row in rows if row["experiment"] == experiment])
    if "selection" not in table:
        return _in_order(table)
    clusterings = pd.DataFrame(
        [row for row in rows if row["experiment"] == CLUSTERINGS], columns=["dataset", "selection", *FIGURES, "error"]
    )
    merged = table.merge(clusterings, on=["dataset", "selection"], how="left", suffixes=("", "_of_clustering"))
    merged["error"] = merged["error"].where(merged["error"].notna(), merged["error_of_clustering"])
    return _in_order(merged.drop(columns="error_of_clustering"))


def clustering_table(rows: Sequence[Row]) -> pd.DataFrame:
    """All clusterings, each once, with the selected features."""
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


def rows_with(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows that have these values in the named columns; an empty table need not have the columns."""
    for column, value in values.items():
        table = table[table[column] == value] if len(table) else table
    return table


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    columns = [*(name for name in table if name not in _LAST), *(name for name in _LAST if name in table)]
    return table[columns].astype({name: "Int64" for name in _WHOLE if name in table})
