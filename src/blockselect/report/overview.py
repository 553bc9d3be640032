"""Figures of a summary: an overview for a paper or a slide, and diagnostics of the fit."""

from __future__ import annotations

import io
import warnings
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from blockselect import plot
from blockselect.plot.common import INK, STYLE
from blockselect.plot.of_blocks import SIMILARITY
from blockselect.plot.of_features import SHOWN
from blockselect.report.sentences import follows_network, is_doubtful, no_evidence
from blockselect.report.summarize import block_names
from blockselect.utils.wording import count

_LINE = 110  # characters of the headline that fit the width of the figure


def draw_overview(summary: dict[str, Any]) -> Figure:
    """Draw the top features, their lift in each block, the links and similarity of blocks, and the share explained.

    Parameters
    ----------
    summary : dict
        The result of :func:`blockselect.report.summarize`.

    Returns
    -------
    matplotlib.figure.Figure
        No pyplot state is read or changed.
    """
    with style.context(STYLE):
        figure = _figure(summary, (12, 9.5))
        parts: Any = figure.subfigures(2, 1, height_ratios=[1.25, 1])
        top, bottom = parts
        _draw_features(top, summary)
        graph, features, many = bottom.subplots(1, 3)
        blocks, names = summary["blocks"], block_names(summary)
        plot.block_densities(blocks["density"], graph, sizes=blocks["sizes"], block_names=names)
        plot.block_densities(blocks["similarity"], features, sizes=blocks["sizes"], block_names=names)
        features.set_title(SIMILARITY, loc="left")
        if summary["explained"] and summary["explained"]["curve"]:
            plot.explained(summary["explained"], many, n_selected=summary["counts"]["selected_features"])
        else:
            why = "there is only one block" if blocks["count"] == 1 else "there are no features to assess"
            _nothing(many, f"No curve: {why}.")
    return figure


def draw_diagnostics(summary: dict[str, Any]) -> Figure:
    """Draw diagnostics of the fit: the candidate block models (or the losses of BMGUFS), and the stability if known.

    Parameters
    ----------
    summary : dict
        The result of :func:`blockselect.report.summarize`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    stability, candidates = summary["measures"].get("stability"), summary["candidates"]
    with style.context(STYLE):
        n_panels = 1 + (stability is not None)
        figure = _figure(summary, (5.2 * n_panels, 4.2))
        panels = figure.subplots(1, n_panels, squeeze=False)[0]
        if candidates is None:
            plot.losses(summary["loss_history"], panels[0])
        else:
            plot.candidates(candidates, panels[0])
        if stability is not None:
            support = np.isin(range(len(stability)), [row["index"] for row in summary["selected"]])
            plot.stability(stability, panels[1], ranking=summary["ranking"], support=support)
    return figure


def render_png(figure: Figure) -> bytes:
    """Return the figure as PNG without date and version, so that the same data give the same bytes."""
    buffer = io.BytesIO()
    with style.context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # an empty box is clear enough
        figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _figure(summary: dict[str, Any], size: tuple[float, float]) -> Figure:
    figure = Figure(figsize=size, dpi=130, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
    figure.suptitle(_headline(summary), fontsize=12, fontweight="bold", color=INK)
    return figure


def _headline(summary: dict[str, Any]) -> str:
    counts, blocks = summary["counts"], summary["blocks"]
    selected = f"{count(counts['selected_features'])} of {count(counts['features'], 'feature')} selected"
    if is_doubtful(summary):
        selected = f"{no_evidence(summary)} ({count(counts['features'], 'feature')})"
    chosen = " (chosen automatically)" if blocks["automatic"] else ""
    size = f"{count(counts['nodes'], 'node')}, {count(counts['links'], 'link')}"
    headline = f"{selected}: {size}, {count(blocks['count'], 'block')}{chosen}"
    if not is_doubtful(summary):
        return headline
    return "\n".join([headline, *wrap(str(follows_network(summary)), _LINE)])


def _draw_features(figure: Any, summary: dict[str, Any]) -> None:
    """Draw one bar per feature, with its lift in each block to the right."""
    rows = summary["selected"][:SHOWN]
    if not rows:
        _nothing(figure.subplots(), "No feature is selected.")
        return
    bars, lifts = figure.subplots(1, 2, sharey=True)
    names = [row["name"] for row in rows]
    by_block = [row["block_lifts"] for row in rows]
    plot.features_by_block(by_block, lifts, feature_names=names, block_names=block_names(summary))
    plot.scores([row["score"] for row in rows], bars, feature_names=names, ranking=range(1, len(rows) + 1))
    which = "selected" if len(summary["selected"]) <= SHOWN else f"top {SHOWN}"
    bars.set_title(f"Scores of the {which} features", loc="left")
    lifts.tick_params(labelleft=False)


def _nothing(ax: Any, why: str) -> None:
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", color=INK, transform=ax.transAxes)
