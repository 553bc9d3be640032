"""Does the descent settle? Both losses by iteration for several profile ratios."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.figures.style import COLOURS, LINES, TITLES, new_figure, tidy
from blockselect.experiments.solves import candidates, network_trial, solve
from blockselect.experiments.trial import Row, Trial

NAME = "convergence"
TITLE = "Losses by iteration"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    return [network_trial(NAME, name, follow, config) for name in config.datasets]


def follow(name: str, config: ExperimentConfig) -> list[Row]:
    """The lowest-error model under every ratio, in one descent for each gradient."""
    rows = []
    for gradient in ("paper", "exact"):
        result = solve(
            name,
            candidates(name, config.n_candidates, config.seed)[:1],
            profile_ratio=list(config.convergence_ratios),
            sparsity=config.convergence_sparsity,
            gradient=gradient,
            max_iter=config.max_iter,
        )
        rows += [
            {
                "gradient": gradient,
                "profile_ratio": ratio,
                "iteration": iteration,
                "reconstruction_loss": float(result.reconstruction_loss[0, i, iteration]),
                "profile_loss": float(result.profile_loss[0, i, iteration]),
            }
            for i, ratio in enumerate(config.convergence_ratios)
            for iteration in range(config.max_iter + 1)
        ]
    return rows


def results(rows: list[Row]) -> pd.DataFrame:
    table = pd.DataFrame([row for row in rows if row["experiment"] == NAME and not row["error"]])
    return table.assign(both=table["reconstruction_loss"] + table["profile_loss"])


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    table = results(rows)
    table = table[table["gradient"] == config.gradient]
    figure = new_figure(3.8 * len(config.datasets), 6)
    grid = figure.subplots(2, len(config.datasets), squeeze=False)
    for column, dataset in enumerate(config.datasets):
        part = table[table["dataset"] == dataset]
        for axes, (loss, title) in zip(grid[:, column], (("profile_loss", "L_m"), ("both", "L_b + L_m")), strict=True):
            for i, ratio in enumerate(config.convergence_ratios):
                line = part[part["profile_ratio"] == ratio].sort_values("iteration")
                axes.plot(
                    line["iteration"],
                    line[loss],
                    color=COLOURS[i % len(COLOURS)],
                    linestyle=LINES[i % len(LINES)],
                    label=f"β̄ = {ratio:g}",
                )
            axes.set_title(f"{TITLES.get(dataset, dataset)}: {title}")
            axes.set_xlabel("iteration")
            tidy(axes)
    grid[0, 0].legend(fontsize=7, frameon=False, ncols=2)
    return figure
