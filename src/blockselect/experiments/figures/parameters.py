"""How much do β̄ and γ matter? ACC and NMI over a grid of both, zero where too few scores are left."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from blockselect.experiments.clusterings import clustering_trials, judged, ranked_features, selection_row
from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.figures.style import SEQUENTIAL, TITLES, new_figure
from blockselect.experiments.solves import candidates, network_trial, solve
from blockselect.experiments.trial import Row, Trial

NAME = "parameters"
TITLE = "Quality over profile ratio and sparsity"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    solves = [network_trial(NAME, name, rank, config) for name in config.surface_datasets]
    return solves + clustering_trials([row for row in rows if row["experiment"] == NAME], config)


def rank(name: str, config: ExperimentConfig) -> list[Row]:
    """The lowest-error model under every pair of settings, in one descent."""
    pairs = [(ratio, sparsity) for ratio in config.surface_ratios for sparsity in config.sparsities]
    result = solve(
        name,
        candidates(name, config.n_candidates, config.seed)[:1],
        profile_ratio=[ratio for ratio, _ in pairs],
        sparsity=[sparsity for _, sparsity in pairs],
        gradient=config.gradient,
        max_iter=config.max_iter,
    )
    return [
        selection_row(ranked_features(scores), config.surface_top, profile_ratio=ratio, sparsity=sparsity)
        for scores, (ratio, sparsity) in zip(result.scores[0], pairs, strict=True)
    ]


def results(rows: list[Row]) -> pd.DataFrame:
    """As in the paper, a setting that leaves too few features counts zero."""
    table = judged(rows, NAME)
    too_few = table["selection"].isna()
    table.loc[too_few, ["accuracy", "nmi"]] = 0.0
    return table


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    table = results(rows)
    names = config.surface_datasets
    figure = new_figure(9.5, 4.2 * len(names))
    grid = figure.subplots(len(names), 2, squeeze=False)
    for axes_row, dataset in zip(grid, names, strict=True):
        for axes, measure in zip(axes_row, ("accuracy", "nmi"), strict=True):
            surface = table[table["dataset"] == dataset].pivot_table(
                index="sparsity", columns="profile_ratio", values=measure
            )
            image = axes.pcolormesh(
                np.arange(len(surface.columns) + 1), np.arange(len(surface.index) + 1), surface, cmap=SEQUENTIAL, vmin=0
            )
            axes.set_xticks(np.arange(len(surface.columns)) + 0.5, [f"{ratio:g}" for ratio in surface.columns])
            axes.set_yticks(np.arange(len(surface.index)) + 0.5, [f"{sparsity:g}" for sparsity in surface.index])
            axes.set_xlabel("profile ratio (β̄)")
            axes.set_ylabel("sparsity (γ)")
            axes.set_title(f"{TITLES.get(dataset, dataset)}: {TITLES[measure]}, {config.surface_top} features")
            figure.colorbar(image, ax=axes)
    return figure
