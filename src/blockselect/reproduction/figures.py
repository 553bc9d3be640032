"""The figures of the experiments, in colours that remain distinct to colour-blind readers and in grey print."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from scipy.stats import spearmanr

from blockselect.plot.common import STYLE, bare
from blockselect.registry import SELECTORS
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.experiments import ALL, KEPT, LOWEST, OTHER, RECOMPUTED, SUPERVISED
from blockselect.reproduction.selections import MEASURES, rows_with

# Okabe and Ito's palette, ordered so that neighbours also differ in lightness.
COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#F0E442", "#CC79A7", "#000000", "#999999")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)))
BASELINE_COLOURS = ("#E69F00", "#F0E442", "#CC79A7", "#009E73", "#BBBBBB", "#D55E00")
OUR_COLOURS = {ALL: "#ffffff", LOWEST: COLOURS[0], SUPERVISED: COLOURS[2]}
HATCHES = ("////", "....", "\\\\\\\\", "xxxx", "----", "oo", "++", "**", "||")
SEQUENTIAL = "cividis"  # perceptually uniform, made for colour-blind readers
DENSITIES: dict[Any, str] = {KEPT: "{:.0%}\nM kept", RECOMPUTED: "{:.0%}\nnew M", OTHER: "other\ncandidates"}
BOX_COLOURS: dict[Any, str] = {KEPT: COLOURS[2], RECOMPUTED: COLOURS[1], OTHER: "#eeeeee"}
TINY = 1e-9  # smaller distances are drawn here, since a log scale has no zero

TITLES = {
    "blogcatalog": "BlogCatalog",
    "citeseer": "Citeseer",
    "cora": "Cora",
    "accuracy": "ACC",
    "nmi": "NMI",
    "profile_loss": "$L_m$",
    "both_losses": "$L_b + L_m$",
}
LOSSES = ("profile_loss", "both_losses")

FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats of the figures, each with the metadata that must be omitted to make files reproducible."""


def render_figure(experiment: str, table: pd.DataFrame, config: ExperimentConfig) -> dict[str, bytes]:
    """Draw the figure of an experiment from its table; return the content of a file in each format."""
    files = {}
    with style.context([*STYLE, {"svg.hashsalt": "blockselect"}]):  # makes the ids in the SVG reproducible
        figure = PLOTS[experiment](table, config)
        for kind, metadata in FORMATS.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            files[kind] = buffer.getvalue()
    return files


def title_of(name: object) -> str:
    """The display name of a network, a method or a measure."""
    method = SELECTORS.get(str(name))
    return method.title if method else TITLES.get(str(name), str(name))


def plot_datasets(table: pd.DataFrame, config: ExperimentConfig) -> Figure:
    """Draw the sizes of the networks as a table, with names aligned left and numbers aligned right."""
    counts = ("nodes", "links", "features", "classes", "self_loops", "isolated")
    cells = [[title_of(row["dataset"]), *(f"{row[name]:,.0f}" for name in counts)] for row in table.to_dict("records")]
    figure = new_figure(0.6 + 1.05 * (1 + len(counts)), 0.5 + 0.3 * (len(cells) + 1))
    axes = figure.add_subplot()
    axes.set_axis_off()
    if not cells:
        say_empty(axes)
        return figure
    header = ["network", *(name.replace("_", "-") for name in counts)]
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


def plot_effectiveness(table: pd.DataFrame, config: ExperimentConfig) -> Figure:
    """Draw one panel of bars per network and measure, with standard deviations over the K-means runs."""
    methods = [ALL, *config.methods, LOWEST, SUPERVISED]
    figure = new_figure(max(11.0, 1.25 * len(methods)), 1.0 + 2.7 * len(config.datasets))
    grid = figure.subplots(len(config.datasets), 2, squeeze=False)
    width = 0.86 / len(methods)
    for axes, part, measure in panels(grid, table, config.datasets, MEASURES):
        tops = sorted(part["top"].unique())
        for i, method in enumerate(methods):
            bars = part[part["method"] == method].set_index("top").reindex(tops)
            drawn = axes.bar(
                np.arange(len(tops)) + (i - (len(methods) - 1) / 2) * width,
                bars[measure],
                width,
                yerr=bars[f"{measure}_sd"],
                error_kw={"linewidth": 0.8, "capsize": 1.5, "capthick": 0.8},
                color=OUR_COLOURS.get(method, BASELINE_COLOURS[i % len(BASELINE_COLOURS)]),
                hatch="" if method in OUR_COLOURS else HATCHES[i % len(HATCHES)],
                edgecolor="black",
                linewidth=0.5,
                label=title_of(method),
            )
            for artist in (*drawn.errorbar.lines[1], *drawn.errorbar.lines[2]) if drawn.errorbar else ():
                artist.set_path_effects([withStroke(linewidth=2, foreground="white")])  # visible on dark bars
        axes.set_xticks(np.arange(len(tops)), [f"{top:g}" for top in tops])
        axes.set_ylabel(title_of(measure))
        bare(axes)
    for axes in grid[-1]:
        axes.set_xlabel("selected features (d)")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), frameon=False)
    return figure


def plot_perturbation(table: pd.DataFrame, config: ExperimentConfig) -> Figure:
    """Draw a box plot for each share of reassigned nodes and kind of densities, and one for the other candidates.

    The scale is logarithmic, because the two kinds of distances differ by orders of magnitude.
    """
    figure = new_figure(1.0 + 3.8 * len(config.datasets), 3.4)
    grid = figure.subplots(1, len(config.datasets), squeeze=False, sharey=True)
    for axes, part, _ in panels(grid.T, table, config.datasets, [""]):
        groups = {key: rows["distance"] for key, rows in part.groupby(["share", "densities"], dropna=False)}
        boxes = axes.boxplot([np.maximum(values, TINY) for values in groups.values()], patch_artist=True, widths=0.6)
        names = [DENSITIES[densities].format(share) for share, densities in groups]
        axes.set_xticks(range(1, len(groups) + 1), names)
        for (_, densities), box in zip(groups, boxes["boxes"], strict=True):
            hatch = "//" if densities == RECOMPUTED else ""
            box.set(facecolor=BOX_COLOURS[densities], edgecolor="black", hatch=hatch)
        for median in boxes["medians"]:
            median.set(color="black", linewidth=2)
        axes.set_yscale("log")
        axes.tick_params(axis="x", labelsize=8)
        axes.set_xlabel("nodes reassigned; densities M kept or recomputed")
        bare(axes)
    grid[0, 0].set_ylabel("cosine distance of r")
    return figure


def plot_block_models(table: pd.DataFrame, config: ExperimentConfig) -> Figure:
    """Draw the candidates by increasing error: a line for the blocks, and one marker per d for the features."""
    figure = new_figure(1.4 + 4.2 * len(config.datasets), 6.2)
    grid = figure.subplots(len(MEASURES), len(config.datasets), squeeze=False)
    table = rows_with(table, gradient=config.gradient)
    spread = np.linspace(-0.3, 0.3, len(config.tops)) if len(config.tops) > 1 else [0.0]
    for axes, part, measure in panels(grid.T, table, config.datasets, MEASURES):
        blocks = part.groupby("candidate")[f"blocks_{measure}"].first()
        axes.hlines(blocks, blocks.index - 0.42, blocks.index + 0.42, color="black", linewidth=2, label="blocks (F)")
        correlations = []
        for i, top in enumerate(config.tops):
            of_top = rows_with(part, top=top)
            if of_top.empty:
                continue
            axes.errorbar(
                of_top["candidate"] + spread[i],
                of_top[measure],
                yerr=of_top[f"{measure}_sd"],
                linestyle="none",
                marker=MARKERS[i % len(MARKERS)],
                markersize=4.5,
                markeredgecolor="black",
                markeredgewidth=0.5,
                ecolor="#555555",
                elinewidth=0.7,
                color=COLOURS[i % len(COLOURS)],
                label=f"features, d = {top}",
            )
            correlations.append(f"{top}: {rank_correlation(of_top, f'blocks_{measure}', measure):.2f}")
        note = f"rank correlation of blocks and features, by d:\n{', '.join(correlations)}"
        axes.set_xlabel(f"candidate, lowest error first\n{note}", fontsize=8)
        axes.set_xticks(blocks.index, [str(candidate + 1) for candidate in blocks.index])
        axes.set_ylabel(title_of(measure))
        bare(axes)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def rank_correlation(table: pd.DataFrame, predictor: str, measure: str) -> float:
    """Spearman's correlation of two columns with one row per candidate; NaN if one of them is constant."""
    if table[predictor].nunique() < 2 or table[measure].nunique() < 2:
        return float("nan")
    return float(spearmanr(table[predictor], table[measure]).statistic)


def plot_parameters(table: pd.DataFrame, config: ExperimentConfig) -> Figure:
    """Draw one surface of coloured cells per network and measure."""
    names, top = config.surface_datasets, config.surface_top
    figure = new_figure(11, 0.4 + 3.9 * len(names))
    grid = figure.subplots(len(names), 2, squeeze=False)
    for axes, part, measure in panels(grid, table, names, MEASURES, note=f", {top} features"):
        surface = part.pivot(index="sparsity", columns="profile_ratio", values=measure)
        values = surface.to_numpy()
        rows, columns = (np.arange(length + 1) for length in values.shape)
        image = axes.pcolormesh(columns, rows, values, cmap=SEQUENTIAL, vmin=0)
        figure.colorbar(image, ax=axes, label=title_of(measure))
        highest = max(values.max(), 1e-9)
        for (row, column), value in np.ndenumerate(values):
            ink = "black" if value > 0.55 * highest else "white"
            text = f".{100 * value:02.0f}" if value > 0 else "–"
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=7.5)
        axes.set_xticks(columns[:-1] + 0.5, [f"{ratio:g}" for ratio in surface.columns])
        axes.set_yticks(rows[:-1] + 0.5, [f"{sparsity:g}" for sparsity in surface.index])
        axes.tick_params(length=0)
        axes.set(xlabel="profile ratio (β̄)", ylabel="sparsity (γ)")
    figure.supxlabel(f"–: fewer than {top} positive scores, counted as zero", fontsize=8)
    return figure


def plot_convergence(table: pd.DataFrame, config: ExperimentConfig) -> Figure:
    """Draw one line per ratio: lighter for larger ratios, wider for ratios of at least 0.6."""
    figure = new_figure(1.2 + 3.6 * len(config.datasets), 5.6)
    grid = figure.subplots(len(LOSSES), len(config.datasets), squeeze=False, sharex=True)
    table = rows_with(table, gradient=config.gradient)
    shades = colormaps[SEQUENTIAL](np.linspace(0, 0.9, len(config.convergence_ratios)))
    for axes, part, loss in panels(grid.T, table, config.datasets, LOSSES):
        for i, ratio in enumerate(config.convergence_ratios):
            line = rows_with(part, profile_ratio=ratio).sort_values("iteration")
            axes.plot(
                line["iteration"],
                line[loss],
                color=shades[i],
                linestyle=LINES[i % len(LINES)],
                linewidth=2.0 if ratio >= 0.6 else 1.2,
                label=f"β̄ = {ratio:g}",
            )
        bare(axes)
    for axes in grid[-1]:
        axes.set_xlabel("iteration")
    for axes, loss in zip(grid[:, 0], LOSSES, strict=True):
        axes.set_ylabel(title_of(loss))
    named = grid[0, 0].get_legend_handles_labels()
    figure.legend(*named, loc="outside right center", frameon=False, handlelength=3.2)
    return figure


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def panels(
    grid: Any, table: pd.DataFrame, datasets: Sequence[str], measures: Sequence[str], *, note: str = ""
) -> Iterator[tuple[Axes, pd.DataFrame, str]]:
    """Yield the axes, the rows and the measure for each network and measure with rows.

    `grid` has one row of axes per network. Titles consist of network, measure and note. Axes without rows say so.
    """
    for axes_of_network, dataset in zip(grid, datasets, strict=True):
        part = rows_with(table, dataset=dataset)
        for axes, measure in zip(axes_of_network, measures, strict=True):
            axes.set_title(": ".join(title_of(name) for name in (dataset, measure) if name) + note)
            if part.empty:
                say_empty(axes)
            else:
                yield axes, part, measure


def say_empty(axes: Axes) -> None:
    """Write on the axes that every trial failed."""
    axes.text(0.5, 0.5, "no data: all trials failed", ha="center", va="center", transform=axes.transAxes)
    axes.set_axis_off()


PLOTS: dict[str, Callable[[pd.DataFrame, ExperimentConfig], Figure]] = {
    "datasets": plot_datasets,
    "effectiveness": plot_effectiveness,
    "perturbation": plot_perturbation,
    "block-models": plot_block_models,
    "parameters": plot_parameters,
    "convergence": plot_convergence,
}
