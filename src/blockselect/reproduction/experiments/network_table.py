"""The networks: the paper's table of their sizes."""

from __future__ import annotations

from matplotlib.figure import Figure

from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.figure_style import draw_table, title_of
from blockselect.reproduction.network_data import n_classes, network
from blockselect.reproduction.row_tables import good_rows
from blockselect.reproduction.trial import Row, Trial

NAME = "datasets"
TITLE = "The networks"
COUNTS = ("nodes", "links", "features", "classes", "self_loops", "isolated")


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    return [Trial(NAME, {"dataset": name}, count, {"name": name}) for name in config.networks]


def count(name: str) -> list[Row]:
    graph = network(name)
    counts = (
        graph.n_nodes,
        graph.n_links,
        graph.n_features,
        n_classes(name),
        graph.n_self_loops,
        graph.n_isolated,
    )
    return [dict(zip(COUNTS, counts, strict=True))]


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """The table, drawn."""
    table = good_rows(rows, NAME)
    cells = [[title_of(row["dataset"]), *(f"{row[name]:,.0f}" for name in COUNTS)] for row in table.to_dict("records")]
    return draw_table(["network", *(name.replace("_", "-") for name in COUNTS)], cells)
