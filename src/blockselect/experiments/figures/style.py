"""How figures look: colours that colour-blind readers and grey printers can tell apart."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's palette, ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#F0E442", "#CC79A7", "#000000", "#999999")
HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo", "", "++")
LINES = ("-", "--", ":", "-.")
SEQUENTIAL = "cividis"  # even lightness, made for colour-blind readers

TITLES = {
    "blogcatalog": "BlogCatalog",
    "citeseer": "Citeseer",
    "cora": "Cora",
    "accuracy": "ACC",
    "nmi": "NMI",
}


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def tidy(axes: Axes) -> None:
    """No box, and a faint grid to read values by."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
