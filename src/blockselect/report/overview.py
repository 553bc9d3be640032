"""A summary as one picture: scores and their stability, the candidates, the losses, the blocks and the induced ones."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from blockselect.arrays import FloatArray
from blockselect.report.candidates_panel import draw_candidates
from blockselect.report.ink import BLUE, GREY, INK, STYLE, VERMILION, bare

DENSITY_COLOURS = "Blues"  # lightness falls evenly, so it reads in grey as well
_MAX_WRITTEN_BLOCKS = 12  # beyond that the numbers in the cells would not be legible
_MAX_TICKS = 20
_LOG_RANKS_FROM = 200  # features from which the few selected ones would vanish on a linear axis


def draw_overview(summary: dict[str, Any]) -> Figure:
    """Draw what a selector found.

    Parameters
    ----------
    summary : dict
        As :func:`blockselect.report.summarize` makes it.

    Returns
    -------
    matplotlib.figure.Figure
        With its own canvas: no pyplot state is read or changed.
    """
    with style.context(STYLE):
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
        figure = Figure(figsize=(10.5, 10.5), dpi=150, layout=layout)
        FigureCanvasAgg(figure)
        figure.suptitle(_headline(summary), fontsize=12, fontweight="bold", color=INK)
        rows: Any = figure.subfigures(2, 1, height_ratios=[1.4, 1.45])
        top, bottom = rows
        left, right = top.subfigures(1, 2, width_ratios=[1.5, 1])
        _draw_features(left, summary)
        losses = right
        if summary["criteria"] is not None:
            candidates, losses = right.subfigures(2, 1, height_ratios=[1, 1.25])
            draw_candidates(candidates.subplots(), summary["criteria"])
        _draw_losses(losses.subplots(2, 1, sharex=True), summary)
        _draw_profiles(bottom, summary)
    return figure


def render_png(figure: Figure) -> bytes:
    """The picture as a PNG that does not say when and by which version it was made: same data, same bytes."""
    buffer = io.BytesIO()
    with style.context(STYLE):
        figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _headline(summary: dict[str, Any]) -> str:
    counts, n_blocks = summary["counts"], len(summary["blocks"]["sizes"])
    selected = f"{counts['selected_features']:,} of {counts['features']:,} features selected"
    blocks = "1 block" if n_blocks == 1 else f"{n_blocks:,} blocks"
    if summary["blocks"]["automatic"]:
        blocks += " (chosen)"
    return f"{selected}: {counts['nodes']:,} nodes, {counts['links']:,} links, {blocks}"


def _draw_features(figure: Any, summary: dict[str, Any]) -> None:
    """Scores and, where it was estimated, stability, of all features by rank."""
    order = np.argsort(summary["ranking"])
    selected = np.isin(order, [row["index"] for row in summary["selected"]])
    stability = summary["measures"].get("stability")
    if stability is None:
        scores = below = figure.subplots()
    else:
        scores, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        _draw_stability(below, np.array(stability)[order], selected)
    _draw_scores(scores, np.array(summary["scores"])[order], selected)
    if len(order) >= _LOG_RANKS_FROM:
        below.set_xscale("log")
        below.xaxis.set_major_formatter("{x:,.0f}")
    below.set(xlabel="rank of the feature", xlim=(0.5, len(order) + 0.5))


def _draw_scores(axes: Axes, scores: FloatArray, selected: NDArray[np.bool_]) -> None:
    edges = np.arange(len(scores) + 1) + 0.5  # a feature of rank i stands from i − ½ to i + ½
    for name, part, colour in (("selected", selected, BLUE), ("not selected", ~selected, GREY)):
        if part.any():
            values = np.where(part, scores, 0.0)
            axes.stairs(values, edges, fill=True, color=colour, label=f"{name}: {np.count_nonzero(part):,}")
    n_selected = np.count_nonzero(selected)
    if selected[:n_selected].all():  # discoveries have no cut by rank
        axes.axvline(edges[n_selected], color=INK, linestyle="--", linewidth=1.2, label="cut")
    axes.set(title="Scores, the best first", ylabel="score", ylim=(0, 1.05 * scores.max() if scores.max() > 0 else 1))
    axes.legend(frameon=False, loc="upper right")
    bare(axes)


def _draw_stability(axes: Axes, stability: FloatArray, selected: NDArray[np.bool_]) -> None:
    ranks = np.arange(1, len(stability) + 1)
    for part, colour in ((~selected, GREY), (selected, BLUE)):
        axes.plot(ranks[part], stability[part], ".", color=colour, markersize=4)
    mean = f": {stability[selected].mean():.2f}, mean of the selected" if selected.any() else ""
    axes.set(title=f"Chance to be selected on a resampled graph{mean}", ylabel="stability", ylim=(-0.05, 1.05))
    bare(axes)


def _draw_losses(panels: Any, summary: dict[str, Any]) -> None:
    history = summary["loss_history"]
    kinds = (("reconstruction", BLUE, "-"), ("profile", VERMILION, "--"))
    for axes, (kind, colour, line) in zip(panels, kinds, strict=True):
        losses = history[kind]
        axes.plot(range(len(losses)), losses, color=colour, linestyle=line, linewidth=2)
        axes.set_ylabel(f"{kind}\nloss")  # in two lines: the panel is low
        axes.margins(y=0.15)
        bare(axes)
    panels[0].set_title("Losses by iteration")
    panels[1].set_xlabel("iteration")
    panels[1].xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_profiles(figure: Any, summary: dict[str, Any]) -> None:
    blocks = summary["blocks"]
    both = [np.array(blocks["target_profile"]), np.array(blocks["induced_profile"])]
    reflected = ", reflected" if blocks["reflected"] else ""
    titles = (f"Block densities of the graph{reflected}", "Block densities induced by the scores")
    highest = max(profile.max() for profile in both)
    figure.suptitle(
        "How blocks connect: each row of densities scaled to sum to one, so that both are on one scale",
        fontsize=10,
        color=INK,
    )
    panels = figure.subplots(1, 2)
    for axes, profile, title in zip(panels, both, titles, strict=True):
        image = _draw_profile(axes, profile, blocks["sizes"], highest)
        axes.set_title(title)
    figure.colorbar(image, ax=panels, label="share of the row", shrink=0.9, pad=0.02)


def _draw_profile(axes: Axes, profile: FloatArray, sizes: list[int], highest: float) -> AxesImage:
    image = axes.imshow(profile, cmap=DENSITY_COLOURS, vmin=0, vmax=highest)
    n_blocks = len(sizes)
    ticks = range(0, n_blocks, -(-n_blocks // _MAX_TICKS))
    axes.set_xticks(ticks)
    axes.set_yticks(ticks, [f"{block}  ({sizes[block]:,})" for block in ticks])
    axes.set(xlabel="block", ylabel="block (nodes)")
    axes.tick_params(length=0)
    if n_blocks <= _MAX_WRITTEN_BLOCKS:
        for row, column in np.ndindex(profile.shape):
            share = profile[row, column]
            colour = "white" if share > 0.55 * highest else INK
            axes.text(column, row, f"{share:.2f}", ha="center", va="center", color=colour, fontsize=8)
    return image
