"""The networks in figures: the paper's table of statistics."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.figures.style import new_figure
from blockselect.experiments.solves import n_classes, network
from blockselect.experiments.trial import Row, Trial

NAME = "datasets"
TITLE = "The networks"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    return [Trial(NAME, {"dataset": name}, count, {"name": name}) for name in config.datasets]


def count(name: str) -> list[Row]:
    graph = network(name)
    return [
        {
            "nodes": graph.n_nodes,
            "links": graph.n_links,
            "features": graph.n_features,
            "classes": n_classes(name),
            "self_loops": graph.n_self_loops,
            "isolated": graph.n_isolated,
        }
    ]


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """The table, drawn."""
    columns = ["dataset", "nodes", "links", "features", "classes", "self_loops", "isolated"]
    table = pd.DataFrame([row for row in rows if row["experiment"] == NAME])[columns]
    figure = new_figure(7, 0.6 + 0.4 * len(table))
    axes = figure.add_subplot()
    axes.axis("off")
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in table.to_numpy().tolist()]
    drawn = axes.table(cells, colLabels=[name.replace("_", "-") for name in columns], loc="center", edges="horizontal")
    drawn.scale(1, 1.6)
    return figure
