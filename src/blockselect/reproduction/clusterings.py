"""Selections of features, and the clusterings that evaluate them: shared by all experiments, each done once.

Neighbouring settings often select the same features. A clustering is therefore keyed by what was selected, not by how.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from blockselect.arrays import FloatArray, IntArray
from blockselect.base import best_first
from blockselect.datasets.catalogue import find_dataset
from blockselect.evaluation.clustering import evaluate_selection
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.network_data import classes, network
from blockselect.reproduction.trial import Row, Trial

CLUSTERINGS = "clusterings"
FIGURES = ("accuracy", "accuracy_sd", "nmi", "nmi_sd", "n_zero_rows")
_PER_START = 1e-7  # seconds of one start of K-means, for a node, by the root of the features


def selection_row(ranked: IntArray, top: int, **settings: Any) -> Row:
    """The best `top` of the ranked features; no selection where there are fewer."""
    text = json.dumps(sorted(int(feature) for feature in ranked[:top])) if len(ranked) >= top else None
    return {
        **settings,
        "top": top,
        "n_nonzero": len(ranked),
        "selected": text,
        "selection": hashlib.sha256(text.encode()).hexdigest()[:16] if text else None,
    }


def ranked_features(scores: FloatArray) -> IntArray:
    """Features with a score above zero, the best first."""
    order = best_first(scores)
    return order[scores[order] > 0]


def clustering_trials(rows: Iterable[Row], config: ExperimentConfig) -> list[Trial]:
    """One trial for each different selection among the rows."""
    trials = {}
    for row in rows:
        if row.get("selection") is None:
            continue
        dataset, selection = row["dataset"], row["selection"]
        settings = {"dataset": dataset, "selection": selection}
        payload = {
            "dataset": dataset,
            "selected": row["selected"],
            "runs": config.kmeans_runs,
            "n_init": config.kmeans_init,
            "seed": config.seed,
        }
        starts = find_dataset(dataset).counts.nodes * config.kmeans_runs * config.kmeans_init
        cost = _PER_START * starts * row["top"] ** 0.5
        trials[dataset, selection] = Trial(CLUSTERINGS, settings, cluster, payload, cost)
    return list(trials.values())


def cluster(dataset: str, selected: str, runs: int, n_init: int, seed: int) -> list[Row]:
    """The paper's protocol on the selected columns."""
    columns = np.array(json.loads(selected))
    features = network(dataset).features
    scores = evaluate_selection(features, classes(dataset), columns, n_runs=runs, n_init=n_init, first_seed=seed)
    return [{**{name: getattr(scores, name) for name in FIGURES}, "n_features": len(columns)}]
