"""Does BMGUFS select better features than the baselines? ACC and NMI by the number of features.

BMGUFS* uses no labels: it takes the candidate with the lowest error and the strongest sparsity that leaves enough
features. BMGUFSˢ takes the candidate and the sparsity with the best accuracy, so that it uses the classes, as in the
paper.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from blockselect.blockmodels.model import BlockModel
from blockselect.datasets.catalogue import find_dataset
from blockselect.registry import SELECTORS, make_selector
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.figures import COLOURS, MEASURES, new_figure, say_empty, tidy, title_of
from blockselect.reproduction.networks import n_classes, network, network_trial, solve
from blockselect.reproduction.selections import clustering_trials, good_rows, ranked_features, rows_with, selection_row
from blockselect.reproduction.store import Row

NAME = "effectiveness"
TITLE = "ACC and NMI by number of features"
LOWEST, SUPERVISED, ALL = "BMGUFS*", "BMGUFSˢ (sees labels)", "all features"
GRID = "bmgufs-grid"  # every candidate and sparsity of BMGUFS, from which both variants are chosen
BASELINE_COLOURS = ("#E69F00", "#F0E442", "#CC79A7", "#009E73", "#BBBBBB", "#D55E00")
HATCHES = ("////", "....", "\\\\\\\\", "xxxx", "----", "oo", "++", "**", "||")
_PER_ENTRY = 5e-6  # seconds of a baseline per entry of the feature matrix; baselines differ widely


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    found = []
    for name in config.datasets:
        n_solves = config.n_candidates * len(config.sparsities)
        found.append(network_trial(NAME, name, rank_candidates, config, n_solves=n_solves, method=GRID))
        counts = find_dataset(name).counts
        for method in config.methods:
            payload = {"name": name, "method": method, "config": config}
            cost = _PER_ENTRY * counts.nodes * counts.features
            found.append(Trial(NAME, {"dataset": name, "method": method}, rank_by_method, payload, cost))
        found.append(Trial(NAME, {"dataset": name, "method": ALL}, take_all, {"name": name}))
    return found + clustering_trials(rows, config)


def rank_candidates(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Rank by every candidate with every sparsity, in one descent."""
    scores = solve(name, models, config, sparsity=list(config.sparsities)).scores
    return [
        selection_row(
            ranked_features(scores[i, j]),
            top,
            candidate=i,
            relative_error=model.relative_error,
            sparsity=sparsity,
        )
        for i, model in enumerate(models)
        for j, sparsity in enumerate(config.sparsities)
        for top in feasible_tops(name, config)
    ]


def rank_by_method(name: str, method: str, config: ExperimentConfig) -> list[Row]:
    tops = feasible_tops(name, config)
    selector = make_selector(method, max(tops), n_blocks=n_classes(name), random_state=config.seed)
    selector.fit(network(name).features, adjacency=network(name).adjacency)
    ranked = np.argsort(selector.ranking_)[: selector.n_features_]
    return [selection_row(ranked, top) for top in tops]


def take_all(name: str) -> list[Row]:
    n_features = network(name).n_features
    return [selection_row(np.arange(n_features), n_features)]


def feasible_tops(name: str, config: ExperimentConfig) -> list[int]:
    """The numbers of features to keep that do not exceed those of the network."""
    return [top for top in config.tops if top <= network(name).n_features]


def results(rows: list[Row]) -> pd.DataFrame:
    """One row per network, method and number of features; 'all features' is repeated for every number."""
    table = good_rows(rows, NAME)
    table = table[table["selection"].notna()] if "selection" in table else table
    if table.empty:
        return table
    grid = table[table["method"] == GRID]
    ours = [lowest_error_rows(grid), best_rows(grid)] if len(grid) else []  # the trials of the grid may have failed
    baselines = table[~table["method"].isin([GRID, ALL])]
    everything = table[table["method"] == ALL].drop(columns="top")
    cells = pd.concat([grid, baselines])[["dataset", "top"]].drop_duplicates()
    parts = [everything.merge(cells, on="dataset"), baselines, *ours]
    return pd.concat([part for part in parts if len(part)], ignore_index=True).drop(columns=["error", "warning"])


def lowest_error_rows(grid: pd.DataFrame) -> pd.DataFrame:
    """BMGUFS*: the candidate with the lowest error and the strongest sparsity that leaves enough features."""
    ours = grid[grid["candidate"] == 0].sort_values("sparsity", kind="stable")
    return ours.groupby(["dataset", "top"]).tail(1).assign(method=LOWEST)


def best_rows(grid: pd.DataFrame) -> pd.DataFrame:
    """BMGUFSˢ: the candidate and the sparsity with the best accuracy, chosen by the labels."""
    ordered = grid.sort_values(["accuracy", "candidate", "sparsity"], ascending=[False, True, True], kind="stable")
    return ordered.groupby(["dataset", "top"]).head(1).assign(method=SUPERVISED)


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """Draw one panel of bars per network and measure, with standard deviations over the K-means runs."""
    table = results(rows)
    methods = [ALL, *config.methods, LOWEST, SUPERVISED]
    figure = new_figure(max(11.0, 1.25 * len(methods)), 1.0 + 2.7 * len(config.datasets))
    grid = figure.subplots(len(config.datasets), 2, squeeze=False)
    for axes_row, dataset in zip(grid, config.datasets, strict=True):
        part = rows_with(table, dataset=dataset)
        for axes, measure in zip(axes_row, MEASURES, strict=True):
            axes.set_title(f"{title_of(dataset)}: {title_of(measure)}")
            if part.empty:
                say_empty(axes)
                continue
            _draw_bars(axes, part, methods, measure)
            axes.set_ylabel(title_of(measure))
    for axes in grid[-1]:
        axes.set_xlabel("features kept (d)")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), frameon=False)
    return figure


def _draw_bars(axes: Axes, table: pd.DataFrame, methods: list[str], measure: str) -> None:
    tops = sorted(table["top"].unique())
    width = 0.86 / len(methods)
    for i, method in enumerate(methods):
        bars = table[table["method"] == method].set_index("top").reindex(tops)
        drawn = axes.bar(
            np.arange(len(tops)) + (i - (len(methods) - 1) / 2) * width,
            bars[measure],
            width,
            yerr=bars[f"{measure}_sd"],
            error_kw={"linewidth": 0.8, "capsize": 1.5, "capthick": 0.8},
            color=_colour(method, i),
            hatch="" if method in (ALL, LOWEST, SUPERVISED) else HATCHES[i % len(HATCHES)],
            edgecolor="black",
            linewidth=0.5,
            label=method_title(method),
        )
        for artist in (*drawn.errorbar.lines[1], *drawn.errorbar.lines[2]) if drawn.errorbar else ():
            artist.set_path_effects([withStroke(linewidth=2, foreground="white")])  # visible on dark bars
    axes.set_xticks(np.arange(len(tops)), [f"{top:g}" for top in tops])
    tidy(axes)


def _colour(method: str, place: int) -> str:
    marked = {ALL: "#ffffff", LOWEST: COLOURS[0], SUPERVISED: COLOURS[2]}
    return marked.get(method, BASELINE_COLOURS[place % len(BASELINE_COLOURS)])


def method_title(method: str) -> str:
    return SELECTORS[method].title if method in SELECTORS else method
