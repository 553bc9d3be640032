"""How every plot looks, and the axes it is drawn on where none are given."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from blockselect.errors import ParameterError

# From matplotlib's own defaults, so that a user's settings do not change the picture.
STYLE: list[Any] = ["default", {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"}]
INK, GREY = "#222222", "#b5b5b5"
BLUE, AMBER = "#0b62b8", "#b26200"  # apart for colour-blind readers, and in grey
AMOUNTS = LinearSegmentedColormap.from_list("amounts", ["#ffffff", BLUE])
AROUND = LinearSegmentedColormap.from_list(
    "around", ["#e8c999", "#ffffff", BLUE]
)  # amber to blue by white: as expected


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, which a notebook shows by itself."""
    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise ParameterError("ax", f"is of type {type(ax).__name__}; expected axes of matplotlib: plt.subplots()[1].")
    from matplotlib import pyplot as plt  # only where a figure is to be shown

    return plt.subplots(layout="constrained")[1]


def bare(ax: Axes, *, grid: str | None = "y") -> None:
    """Only what helps to read the values."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(axis=grid, color="#e6e6e6", linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def title(ax: Axes, text: str) -> None:
    """On the left, whatever the user's settings."""
    ax.set_title(text, loc="left")
