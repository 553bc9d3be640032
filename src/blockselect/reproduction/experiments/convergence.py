"""Does the descent converge? Both losses by iteration for several profile ratios."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blockselect.blockmodels.model import BlockModel
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.figures import SEQUENTIAL, new_figure, say_empty, tidy, title_of
from blockselect.reproduction.networks import network_trial, solve
from blockselect.reproduction.selections import good_rows, rows_with
from blockselect.reproduction.store import Row

NAME = "convergence"
TITLE = "Losses by iteration"
LOSSES = {"profile_loss": "$L_m$", "both_losses": "$L_b + L_m$"}
LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)))


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    n_solves = 2 * len(config.convergence_ratios)
    return [network_trial(NAME, name, follow, config, n_solves=n_solves) for name in config.datasets]


def follow(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Record the losses of the lowest-error model under every ratio, in one descent per gradient."""
    rows = []
    for gradient in ("paper", "exact"):
        result = solve(
            name,
            models[:1],
            config,
            profile_ratio=list(config.convergence_ratios),
            sparsity=config.convergence_sparsity,
            gradient=gradient,
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
    """Both losses and their sum by iteration."""
    table = good_rows(rows, NAME)
    if table.empty:
        return table
    return table.assign(both_losses=table["reconstruction_loss"] + table["profile_loss"])


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """Draw one line per ratio: lighter for larger ratios, wider for ratios from 0.6 on."""
    table = results(rows)
    figure = new_figure(1.2 + 3.6 * len(config.datasets), 5.6)
    grid = figure.subplots(len(LOSSES), len(config.datasets), squeeze=False, sharex=True)
    for column, dataset in enumerate(config.datasets):
        part = rows_with(table, dataset=dataset, gradient=config.gradient)
        for axes, (loss, title) in zip(grid[:, column], LOSSES.items(), strict=True):
            if part.empty:
                say_empty(axes)
                continue
            _draw_lines(axes, part, loss, config.convergence_ratios)
            axes.set_title(f"{title_of(dataset)}: {title}")
            tidy(axes)
        grid[-1, column].set_xlabel("iteration")
    for axes, title in zip(grid[:, 0], LOSSES.values(), strict=True):
        axes.set_ylabel(title)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, handlelength=3.2)
    return figure


def _draw_lines(axes: Axes, table: pd.DataFrame, loss: str, ratios: tuple[float, ...]) -> None:
    shades = colormaps[SEQUENTIAL](np.linspace(0, 0.9, len(ratios)))
    for i, ratio in enumerate(ratios):
        line = table[table["profile_ratio"] == ratio].sort_values("iteration")
        axes.plot(
            line["iteration"],
            line[loss],
            color=shades[i],
            linestyle=LINES[i % len(LINES)],
            linewidth=2.0 if ratio >= 0.6 else 1.2,
            label=f"β̄ = {ratio:g}",
        )
