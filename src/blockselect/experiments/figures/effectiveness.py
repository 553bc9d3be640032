"""Does BMGUFS select better features than the baselines? ACC and NMI against the number of features (paper: figure 2).

BMGUFS* takes the candidate with the lowest error, and the strongest sparsity that leaves enough features: no labels.
BMGUFSˢ takes the candidate and sparsity with the best accuracy: it has seen the classes, as in the paper.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from blockselect.experiments.clusterings import clustering_trials, judged, ranked_features, selection_row
from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.figures.style import COLOURS, HATCHES, TITLES, new_figure, tidy
from blockselect.experiments.solves import candidates, n_classes, network, network_trial, solve
from blockselect.experiments.trial import Row, Trial
from blockselect.selectors.registry import SELECTORS, fit_selector, make_selector

NAME = "effectiveness"
TITLE = "ACC and NMI by number of features"
LOWEST, SUPERVISED, ALL = "BMGUFS*", "BMGUFSˢ (labels)", "all features"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    found = []
    for name in config.datasets:
        found.append(network_trial(NAME, name, rank_candidates, config, method="bmgufs"))
        for method in config.methods:
            payload = {"name": name, "method": method, "config": config}
            found.append(Trial(NAME, {"dataset": name, "method": method}, rank_by_method, payload))
        found.append(Trial(NAME, {"dataset": name, "method": ALL}, take_all, {"name": name}))
    return found + clustering_trials([row for row in rows if row["experiment"] == NAME], config)


def rank_candidates(name: str, config: ExperimentConfig) -> list[Row]:
    """Every candidate with every sparsity, in one descent."""
    models = candidates(name, config.n_candidates, config.seed)
    result = solve(
        name,
        models,
        profile_ratio=config.profile_ratio,
        sparsity=list(config.sparsities),
        gradient=config.gradient,
        max_iter=config.max_iter,
    )
    return [
        selection_row(
            ranked_features(result.scores[i, j]),
            top,
            candidate=i,
            relative_error=model.relative_error,
            sparsity=sparsity,
        )
        for i, model in enumerate(models)
        for j, sparsity in enumerate(config.sparsities)
        for top in config.tops
        if top <= network(name).n_features
    ]


def rank_by_method(name: str, method: str, config: ExperimentConfig) -> list[Row]:
    graph = network(name)
    tops = [top for top in config.tops if top <= graph.n_features]
    selector = make_selector(method, max(tops), n_blocks=n_classes(name), random_state=config.seed)
    fit_selector(selector, graph)
    ranked = np.argsort(selector.ranking_)[: selector.n_features_]
    return [selection_row(ranked, top) for top in tops]


def take_all(name: str) -> list[Row]:
    n_features = network(name).n_features
    return [selection_row(np.arange(n_features), n_features)]


def results(rows: list[Row]) -> pd.DataFrame:
    """One row for each network, method and number of features; 'all features' stands beside every number."""
    table = judged(rows, NAME)
    grid = table[table["method"] == "bmgufs"].dropna(subset=["selection"])
    lowest = grid[grid["candidate"] == 0].sort_values("sparsity").groupby(["dataset", "top"], as_index=False).last()
    best = grid.sort_values("accuracy").groupby(["dataset", "top"], as_index=False).last()
    baselines = table[(table["method"] != "bmgufs") & (table["method"] != ALL)]
    everything = table[table["method"] == ALL].drop(columns="top")
    everything = everything.merge(grid[["dataset", "top"]].drop_duplicates(), on="dataset")
    parts = [everything, baselines, lowest.assign(method=LOWEST), best.assign(method=SUPERVISED)]
    return pd.concat(parts, ignore_index=True).drop(columns=["selected", "error"], errors="ignore")


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """A row of bars for each network and measure, with a standard deviation on each bar."""
    table = results(rows)
    methods = [ALL, *config.methods, LOWEST, SUPERVISED]
    figure = new_figure(11, 2.8 * len(config.datasets))
    grid = figure.subplots(len(config.datasets), 2, squeeze=False)
    for axes_row, dataset in zip(grid, config.datasets, strict=True):
        for axes, measure in zip(axes_row, ("accuracy", "nmi"), strict=True):
            _draw_bars(axes, table[table["dataset"] == dataset], methods, config.tops, measure)
            axes.set_title(f"{TITLES.get(dataset, dataset)}: {TITLES[measure]}")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _draw_bars(axes, table: pd.DataFrame, methods: list[str], tops: tuple[int, ...], measure: str) -> None:
    width = 0.85 / len(methods)
    for i, method in enumerate(methods):
        rows = table[table["method"] == method].set_index("top").reindex(tops)
        title = SELECTORS[method].title if method in SELECTORS else method
        axes.bar(
            np.arange(len(tops)) + (i - len(methods) / 2 + 0.5) * width,
            rows[measure],
            width,
            yerr=rows[f"{measure}_sd"],
            error_kw={"linewidth": 0.7},
            color=COLOURS[i % len(COLOURS)],
            hatch=HATCHES[i % len(HATCHES)],
            edgecolor="black",
            linewidth=0.4,
            label=title,
        )
    axes.set_xticks(np.arange(len(tops)), [str(top) for top in tops])
    axes.set_xlabel("features kept")
    tidy(axes)
