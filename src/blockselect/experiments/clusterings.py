"""Selections of features, and the clusterings that judge them: shared by all experiments, each done once.

Neighbouring settings often select the same features. A clustering is therefore keyed by what was selected, not by how.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray, IntArray
from blockselect.evaluation.clustering import evaluate_selection
from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.solves import network
from blockselect.experiments.trial import Row, Trial
from blockselect.selectors.base import best_first

CLUSTERINGS = "clusterings"


def selection_row(ranked: IntArray, top: int, **settings: Any) -> Row:
    """The best `top` of the ranked features; no selection where there are fewer."""
    chosen = sorted(int(feature) for feature in ranked[:top]) if len(ranked) >= top else None
    text = json.dumps(chosen)
    return {
        **settings,
        "top": top,
        "n_nonzero": len(ranked),
        "selected": text,
        "selection": hashlib.sha256(text.encode()).hexdigest()[:16] if chosen else None,
    }


def ranked_features(scores: FloatArray) -> IntArray:
    """Features with a score above zero, the best first."""
    order = best_first(scores)
    return order[scores[order] > 0]


def clustering_trials(rows: Iterable[Row], config: ExperimentConfig) -> list[Trial]:
    """One trial for each different selection among the rows."""
    trials = {}
    for row in rows:
        if row.get("selection") is None or row["experiment"] == CLUSTERINGS:
            continue
        settings = {"dataset": row["dataset"], "selection": row["selection"]}
        payload = {
            "dataset": row["dataset"],
            "selected": row["selected"],
            "runs": config.kmeans_runs,
            "n_init": config.kmeans_init,
            "seed": config.seed,
        }
        trials[row["dataset"], row["selection"]] = Trial(CLUSTERINGS, settings, cluster, payload)
    return list(trials.values())


def cluster(dataset: str, selected: str, runs: int, n_init: int, seed: int) -> list[Row]:
    """The paper's protocol on the selected columns."""
    graph = network(dataset)
    scores = evaluate_selection(
        graph.features, graph.classes, np.array(json.loads(selected)), n_runs=runs, n_init=n_init, first_seed=seed
    )
    return [{name: getattr(scores, name) for name in ("accuracy", "accuracy_sd", "nmi", "nmi_sd", "n_zero_rows")}]


def judged(rows: Iterable[Row], experiment: str) -> pd.DataFrame:
    """Selections of an experiment with the figures of their clusterings beside them."""
    table = pd.DataFrame(list(rows))
    figures = ["accuracy", "accuracy_sd", "nmi", "nmi_sd", "n_zero_rows"]
    clusterings = table[table["experiment"] == CLUSTERINGS][["dataset", "selection", *figures]]
    selections = table[table["experiment"] == experiment].drop(columns=figures, errors="ignore")
    return selections[selections["error"].isna()].merge(clusterings, on=["dataset", "selection"], how="left")
