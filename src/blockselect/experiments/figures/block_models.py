"""Do good blocks make good features? Each candidate's features beside the accuracy of its blocks themselves."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from blockselect.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from blockselect.experiments.clusterings import clustering_trials, judged, ranked_features, selection_row
from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.figures.style import COLOURS, TITLES, new_figure, tidy
from blockselect.experiments.solves import candidates, network, network_trial, solve
from blockselect.experiments.trial import Row, Trial

NAME = "block-models"
TITLE = "Features of each candidate block model"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    solves = [network_trial(NAME, name, rank, config) for name in config.datasets]
    return solves + clustering_trials([row for row in rows if row["experiment"] == NAME], config)


def rank(name: str, config: ExperimentConfig) -> list[Row]:
    """Every candidate without a penalty, by both gradients, in one descent each."""
    models = candidates(name, config.n_candidates, config.seed)
    classes = network(name).classes
    rows = []
    for gradient in ("paper", "exact"):
        result = solve(
            name,
            models,
            profile_ratio=config.profile_ratio,
            sparsity=0.0,
            gradient=gradient,
            max_iter=config.max_iter,
        )
        rows += [
            selection_row(
                ranked_features(result.scores[i, 0]),
                top,
                candidate=i,
                gradient=gradient,
                relative_error=model.relative_error,
                blocks_accuracy=clustering_accuracy(classes, model.labels),
                blocks_nmi=normalized_mutual_information(classes, model.labels),
            )
            for i, model in enumerate(models)
            for top in config.tops
            if top <= network(name).n_features
        ]
    return rows


def results(rows: list[Row]) -> pd.DataFrame:
    return judged(rows, NAME)


def rank_correlation(table: pd.DataFrame, predictor: str, measure: str = "accuracy") -> float:
    """Spearman's between a figure of the candidates and the quality of their features."""
    if table[predictor].nunique() < 2 or table[measure].nunique() < 2:
        return float("nan")
    return float(spearmanr(table[predictor], table[measure]).statistic)


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """Each candidate a point: accuracy of its blocks against accuracy of its features."""
    table = results(rows)
    table = table[table["gradient"] == config.gradient]
    figure = new_figure(3.8 * len(config.datasets), 6.4)
    grid = figure.subplots(2, len(config.datasets), squeeze=False)
    for measure, axes_row in zip(("accuracy", "nmi"), grid, strict=True):
        for axes, dataset in zip(axes_row, config.datasets, strict=True):
            for i, top in enumerate(config.tops):
                part = table[(table["dataset"] == dataset) & (table["top"] == top)]
                if part.empty:
                    continue
                correlation = rank_correlation(part, f"blocks_{measure}", measure)
                axes.scatter(
                    part[f"blocks_{measure}"],
                    part[measure],
                    color=COLOURS[i % len(COLOURS)],
                    marker="osD^v"[i % 5],
                    edgecolor="black",
                    linewidth=0.4,
                    label=f"d = {top}, ρ = {correlation:.2f}",
                )
            axes.set_title(f"{TITLES.get(dataset, dataset)}: {TITLES[measure]}")
            axes.set_xlabel(f"{TITLES[measure]} of the blocks")
            axes.set_ylabel(f"{TITLES[measure]} of the features")
            axes.legend(fontsize=7, frameon=False)
            tidy(axes)
    return figure
