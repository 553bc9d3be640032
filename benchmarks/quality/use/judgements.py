"""Judgements: the results of the three protocols for each distinct selection, on the CPU or a torch device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.quality.use import selections
from benchmarks.quality.use.seen_networks import network, split
from benchmarks.quality.use.use_config import HIDDEN, UseConfig
from blockselect.evaluation import classify_selection, evaluate_selection, predict_links
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import FloatArray

NAME = selections.NAME  # judgements depend on these rows
JUDGEMENTS = "judgements"
CLASSES, LINKS = "classes", "links"
MEASURES = {CLASSES: ("ACC", "NMI", "few_labels", "few_labels_averaged"), LINKS: ("AUC",)}


def trials(config: UseConfig, rows: list[Row]) -> list[Trial]:
    """One trial for each distinct selection and each kind of judgement."""
    asked = {_identity(trial.settings) for trial in selections.trials(config, [])}
    found = {}
    for row in rows:
        if row.get("selection") is None or _identity(row) not in asked:  # the store may contain rows from other calls
            continue
        for hidden in judged_by(row):
            trial = _trial(row, hidden, config)
            found[trial.key] = trial
    return list(found.values())


def judged_by(row: Row) -> list[int | None]:
    """How a selection is judged: None for classes, or the seed of the held-out links.

    Methods that use no links select the same features with and without held-out links, so both judgements apply.
    """
    if row["hidden"] is not None:
        return [row["hidden"]]
    return [None] if selections.reads_links(row["kind"], row["method"]) else [None, HIDDEN]


def key_of(row: Row, hidden: int | None, config: UseConfig) -> str:
    """The key of a judgement in the store."""
    return _trial(row, hidden, config).key


def _trial(row: Row, hidden: int | None, config: UseConfig) -> Trial:
    settings = {"network": row["network"], "hidden": hidden, "selection": row["selection"]}
    common = {"name": row["network"], "selected": row["selected"], "n_runs": config.n_runs, "device": config.device}
    if hidden is None:
        return Trial(JUDGEMENTS, settings, partial(judge_by_classes, **common, n_init=config.n_init))
    return Trial(JUDGEMENTS, settings, partial(judge_by_links, **common, hidden=hidden))


def judge_by_classes(name: str, selected: str, n_runs: int, n_init: int, device: str | None) -> list[Row]:
    """Evaluate by clustering, and by few-label classification with and without averaging over neighbours."""
    graph, columns = network(name), np.array(json.loads(selected))
    assert graph.classes is not None
    if device is None:
        clusters = evaluate_selection(graph.features, graph.classes, columns, n_runs=n_runs, n_init=n_init)
        few = classify_selection(graph.features, graph.classes, columns, adjacency=graph.adjacency, n_runs=n_runs)
    else:
        from benchmarks.quality.use.device_protocols import classify_on_device, cluster_on_device

        clusters = cluster_on_device(graph, columns, n_runs=n_runs, n_init=n_init, device=device)
        few = classify_on_device(graph, columns, n_runs=n_runs, device=device)
    runs = (clusters.accuracies, clusters.nmis, few.accuracies, few.averaged_accuracies)
    return [_figures(dict(zip(MEASURES[CLASSES], runs, strict=True)), clusters.n_zero_rows)]


def judge_by_links(name: str, hidden: int, selected: str, n_runs: int, device: str | None) -> list[Row]:
    columns = np.array(json.loads(selected))
    if device is None:
        scores = predict_links(network(name).features, split(name, hidden), columns, n_runs=n_runs)
    else:
        from benchmarks.quality.use.device_protocols import predict_links_on_device

        scores = predict_links_on_device(
            network(name).features, split(name, hidden), columns, n_runs=n_runs, device=device
        )
    return [_figures({"AUC": scores.aucs}, scores.n_zero_rows)]


def _figures(runs: dict[str, FloatArray], n_zero_rows: int) -> Row:
    means = {name: float(values.mean()) for name, values in runs.items()}
    return {**means, **{f"{name}_sd": float(values.std()) for name, values in runs.items()}, "n_zero_rows": n_zero_rows}


def _identity(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    """The settings that identify the trial of a selection; its rows contain them too."""
    return tuple(settings[name] for name in ("network", "hidden", "tops", "kind", "method", "seed"))
