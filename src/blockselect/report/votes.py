"""The panel of candidates: what each tells of links and features, as found and as improved, and who voted."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from blockselect.report.ink import BLUE, GREY, bare


def draw_votes(axes: Axes, criteria: list[dict[str, Any]]) -> None:
    """One line a family; a candidate goes from its evidence as found to that as improved, filled if it voted."""
    families = sorted({row["family"] for row in criteria}, key=lambda name: (_best(criteria, name), name))
    for row in sorted(criteria, key=lambda row: row["voted"]):  # voters on top
        level, colour = families.index(row["family"]), BLUE if row["voted"] else GREY
        axes.plot([row["evidence_at_start"], row["evidence"]], [level, level], color=colour, linewidth=0.8, zorder=2)
        face = colour if row["voted"] else "white"
        axes.plot(row["evidence"], level, "o", color=colour, markerfacecolor=face, markersize=5, zorder=3)
    n_voted = sum(row["voted"] for row in criteria)
    axes.set_yticks(range(len(families)), families)
    axes.set(title=f"Candidates: {n_voted} of {len(criteria)} voted (filled)", ylim=(-0.6, len(families) - 0.4))
    axes.set_xlabel("evidence in nats, from as found to as improved")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.tick_params(axis="y", length=0)
    bare(axes)


def _best(criteria: list[dict[str, Any]], family: str) -> float:
    best: float = max(row["evidence"] for row in criteria if row["family"] == family)
    return best
