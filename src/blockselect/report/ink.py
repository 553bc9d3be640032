"""How every panel of the picture looks."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

# From matplotlib's own defaults, so that a user's settings do not change the picture.
STYLE: list[Any] = ["default", {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"}]
INK, GREY = "#222222", "#b5b5b5"
BLUE, VERMILION = "#0072b2", "#d55e00"  # Okabe and Ito: distinct for colour-blind readers, and in grey


def bare(axes: Axes) -> None:
    """Only what helps to read the values."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
