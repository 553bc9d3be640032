"""How much do β̄ and γ matter? ACC and NMI over a grid of both, zero where too few scores are positive."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from blockselect.blockmodels.model import BlockModel
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.figures import MEASURES, SEQUENTIAL, new_figure, say_empty, title_of
from blockselect.reproduction.networks import network_trial, solve
from blockselect.reproduction.selections import clustering_trials, good_rows, ranked_features, rows_with, selection_row
from blockselect.reproduction.store import Row

NAME = "parameters"
TITLE = "Quality over profile ratio and sparsity"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    n_solves = len(config.surface_ratios) * len(config.sparsities)
    solves = [network_trial(NAME, name, rank, config, n_solves=n_solves) for name in config.surface_datasets]
    return solves + clustering_trials(rows, config)


def rank(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Rank by the lowest-error model under every pair of settings, in one descent."""
    pairs = [(ratio, sparsity) for ratio in config.surface_ratios for sparsity in config.sparsities]
    result = solve(
        name,
        models[:1],
        config,
        profile_ratio=[ratio for ratio, _ in pairs],
        sparsity=[sparsity for _, sparsity in pairs],
    )
    return [
        selection_row(ranked_features(scores), config.surface_top, profile_ratio=ratio, sparsity=sparsity)
        for scores, (ratio, sparsity) in zip(result.scores[0], pairs, strict=True)
    ]


def results(rows: list[Row]) -> pd.DataFrame:
    """The grid, with zero for settings that leave too few features, as in the paper; `enough` marks the others."""
    table = good_rows(rows, NAME)
    if "selection" not in table:
        return table
    enough = table["selection"].notna()
    return table.assign(enough=enough, **{measure: table[measure].where(enough, 0.0) for measure in MEASURES})


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    table = results(rows)
    names = config.surface_datasets
    figure = new_figure(11, 0.4 + 3.9 * len(names))
    grid = figure.subplots(len(names), 2, squeeze=False)
    for axes_row, dataset in zip(grid, names, strict=True):
        part = rows_with(table, dataset=dataset)
        for axes, measure in zip(axes_row, MEASURES, strict=True):
            title = f"{title_of(dataset)}: {title_of(measure)}, {config.surface_top} features"
            axes.set_title(title)
            if part.empty:
                say_empty(axes)
                continue
            figure.colorbar(_draw_surface(axes, part, measure), ax=axes, label=title_of(measure))
    figure.supxlabel(f"–: fewer than {config.surface_top} scores above zero, counted as zero", fontsize=8)
    return figure


def _draw_surface(axes: Axes, table: pd.DataFrame, measure: str) -> QuadMesh:
    """Draw one coloured cell per setting with its value, or a dash if too few features are left."""
    surface = table.pivot(index="sparsity", columns="profile_ratio", values=measure)
    values = surface.to_numpy()
    rows, columns = values.shape
    image = axes.pcolormesh(np.arange(columns + 1), np.arange(rows + 1), values, cmap=SEQUENTIAL, vmin=0)
    highest = max(values.max(), 1e-9)
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        ink = "black" if value > 0.55 * highest else "white"
        text = f".{100 * value:02.0f}" if value > 0 else "–"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=7.5)
    axes.set_xticks(np.arange(columns) + 0.5, [f"{ratio:g}" for ratio in surface.columns])
    axes.set_yticks(np.arange(rows) + 0.5, [f"{sparsity:g}" for sparsity in surface.index])
    axes.tick_params(length=0)
    axes.set_xlabel("profile ratio (β̄)")
    axes.set_ylabel("sparsity (γ)")
    return image
