"""The panel of candidate block models: how well each explains links and features, and which of them voted."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from blockselect.report.ink import BLUE, GREY, bare


def draw_candidates(axes: Axes, criteria: list[dict[str, Any]]) -> None:
    """One line a family; a candidate goes from its gain as found to its gain as refined, and is filled if it voted."""
    families = sorted({row["family"] for row in criteria}, key=lambda name: (_best(criteria, name), name))
    for row in sorted(criteria, key=lambda row: row["voted"]):  # voters on top
        level, colour = families.index(row["family"]), BLUE if row["voted"] else GREY
        axes.plot([row["gain_at_start"], row["gain"]], [level, level], color=colour, linewidth=0.8, zorder=2)
        face = colour if row["voted"] else "white"
        axes.plot(row["gain"], level, "o", color=colour, markerfacecolor=face, markersize=5, zorder=3)
    n_voted = sum(row["voted"] for row in criteria)
    axes.set_yticks(range(len(families)), families)
    axes.set(title=f"Candidates: {n_voted} of {len(criteria)} voted (filled)", ylim=(-0.6, len(families) - 0.4))
    axes.set_xlabel("log-likelihood gain in nats, as found to as refined")
    axes.xaxis.set_major_locator(MaxNLocator(4))  # more numbers with separators would overlap
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.tick_params(axis="y", length=0)
    bare(axes)


def _best(criteria: list[dict[str, Any]], family: str) -> float:
    best: float = max(row["gain"] for row in criteria if row["family"] == family)
    return best
