"""Do good blocks give good features? The quality of each candidate's features, beside that of its blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from blockselect.blockmodels.model import BlockModel
from blockselect.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.experiments.effectiveness import feasible_tops
from blockselect.reproduction.figures import (
    COLOURS,
    MARKERS,
    MEASURES,
    new_figure,
    say_empty,
    tidy,
    title_of,
)
from blockselect.reproduction.networks import classes, network_trial, solve
from blockselect.reproduction.selections import clustering_trials, good_rows, ranked_features, rows_with, selection_row
from blockselect.reproduction.store import Row

NAME = "block-models"
TITLE = "Features of each candidate block model"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    n_solves = 2 * config.n_candidates
    solves = [network_trial(NAME, name, rank, config, n_solves=n_solves) for name in config.datasets]
    return solves + clustering_trials(rows, config)


def rank(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Rank by every candidate without a sparsity penalty, in one descent per gradient."""
    known = classes(name)
    figures = [
        {
            "candidate": i,
            "relative_error": model.relative_error,
            "blocks_accuracy": clustering_accuracy(known, model.labels),
            "blocks_nmi": normalized_mutual_information(known, model.labels),
        }
        for i, model in enumerate(models)
    ]
    rows = []
    for gradient in ("paper", "exact"):
        scores = solve(name, models, config, gradient=gradient).scores[:, 0]
        rows += [
            selection_row(ranked_features(of_model), top, gradient=gradient, **of_candidate)
            for of_model, of_candidate in zip(scores, figures, strict=True)
            for top in feasible_tops(name, config)
        ]
    return rows


def results(rows: list[Row]) -> pd.DataFrame:
    """The selections of every candidate by both gradients that have enough features."""
    table = good_rows(rows, NAME)
    return table[table["selection"].notna()] if "selection" in table else table


def rank_correlation(table: pd.DataFrame, predictor: str, measure: str) -> float:
    """Spearman's correlation of two columns with one row per candidate; NaN if one of them is constant."""
    if table[predictor].nunique() < 2 or table[measure].nunique() < 2:
        return float("nan")
    return float(spearmanr(table[predictor], table[measure]).statistic)


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """Draw the candidates by increasing error: their blocks as lines, their features as one marker per d."""
    table = results(rows)
    figure = new_figure(1.4 + 4.2 * len(config.datasets), 6.2)
    grid = figure.subplots(len(MEASURES), len(config.datasets), squeeze=False)
    for column, dataset in enumerate(config.datasets):
        part = rows_with(table, dataset=dataset, gradient=config.gradient)
        for axes, measure in zip(grid[:, column], MEASURES, strict=True):
            axes.set_title(f"{title_of(dataset)}: {title_of(measure)}")
            if part.empty:
                say_empty(axes)
                continue
            _draw_candidates(axes, part, measure, config.tops)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def _draw_candidates(axes: Axes, table: pd.DataFrame, measure: str, tops: tuple[int, ...]) -> None:
    blocks = table.groupby("candidate")[f"blocks_{measure}"].first()
    axes.hlines(blocks, blocks.index - 0.42, blocks.index + 0.42, color="black", linewidth=2, label="blocks (F)")
    spread = np.linspace(-0.3, 0.3, len(tops)) if len(tops) > 1 else [0.0]
    lines = []
    for i, top in enumerate(tops):
        part = table[table["top"] == top]
        if part.empty:
            continue
        axes.errorbar(
            part["candidate"] + spread[i],
            part[measure],
            yerr=part[f"{measure}_sd"],
            linestyle="none",
            marker=MARKERS[i % len(MARKERS)],
            markersize=4.5,
            markeredgecolor="black",
            markeredgewidth=0.5,
            ecolor="#555555",
            elinewidth=0.7,
            color=COLOURS[i % len(COLOURS)],
            label=f"features, d = {top}",
        )
        lines.append(f"{top}: {rank_correlation(part, f'blocks_{measure}', measure):.2f}")
    axes.set_xlabel(
        f"candidate, lowest error first\nrank correlation of blocks and features, by d:\n{', '.join(lines)}", fontsize=8
    )
    axes.set_xticks(blocks.index, [str(candidate + 1) for candidate in blocks.index])
    axes.set_ylabel(title_of(measure))
    tidy(axes)
