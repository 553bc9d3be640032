"""The table of the sizes of the networks."""

from __future__ import annotations

from matplotlib.figure import Figure

from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.figures import draw_table, title_of
from blockselect.reproduction.networks import n_classes, network
from blockselect.reproduction.selections import good_rows
from blockselect.reproduction.store import Row

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
    """Draw the table."""
    table = good_rows(rows, NAME)
    cells = [[title_of(row["dataset"]), *(f"{row[name]:,.0f}" for name in COUNTS)] for row in table.to_dict("records")]
    return draw_table(["network", *(name.replace("_", "-") for name in COUNTS)], cells)
