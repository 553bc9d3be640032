"""The style of the figures. The colours are distinguishable by colour-blind readers and in grey print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Based on matplotlib's own defaults, so that a user's settings do not change figures, with reproducible SVG ids.
STYLE: list[Any] = [
    "default",
    {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left", "svg.hashsalt": "blockselect"},
]
# Okabe and Ito's palette, ordered so that neighbours also differ in lightness.
COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#F0E442", "#CC79A7", "#000000", "#999999")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
SEQUENTIAL = "cividis"  # perceptually uniform, made for colour-blind readers

TITLES = {
    "blogcatalog": "BlogCatalog",
    "citeseer": "Citeseer",
    "cora": "Cora",
    "accuracy": "ACC",
    "nmi": "NMI",
}
MEASURES = ("accuracy", "nmi")


def title_of(name: object) -> str:
    """The display name of a network or a measure."""
    return TITLES.get(str(name), str(name))


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def tidy(axes: Axes) -> None:
    """Remove the box and add a faint grid for reading values."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def say_empty(axes: Axes) -> None:
    """State that every trial failed, in place of the data."""
    axes.text(0.5, 0.5, "no rows: the trials failed", ha="center", va="center", transform=axes.transAxes)
    axes.set_axis_off()


def draw_table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> Figure:
    """Draw a table, with names aligned left and numbers aligned right."""
    figure = new_figure(0.6 + 1.05 * len(header), 0.5 + 0.3 * (len(cells) + 1))
    axes = figure.add_subplot()
    axes.set_axis_off()
    if not cells:
        say_empty(axes)
        return figure
    drawn = axes.table(cells, colLabels=header, loc="center", edges="horizontal", cellLoc="right", colLoc="right")
    drawn.auto_set_font_size(False)
    drawn.scale(1, 1.5)
    for (row, column), cell in drawn.get_celld().items():
        cell.set_edgecolor("#999999")
        if row == 0:
            cell.set_text_props(weight="bold")
        if column == 0:
            cell.set_text_props(ha="left")
            cell.get_text().set_x(0.0)
    return figure
