"""Diagnostic plots of a fit (losses, candidate block models), and comparisons of methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from blockselect.base import ScoreSelector
from blockselect.bmgufs.estimator import LossHistory
from blockselect.evaluation.comparison_result import ALL_FEATURES, Comparison, ComparisonRow
from blockselect.evaluation.explained_links import ExplainedLinks
from blockselect.plot.common import AMBER, BLUE, GREY, INK, axes_or_new, bare, of_selector
from blockselect.utils.arrays import FloatArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers

_NAME_SIZE = 8  # points


def losses(source: ScoreSelector | LossHistory | Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw both losses of BMGUFS by iteration, each relative to its initial value.

    Parameters
    ----------
    source : fitted BMGUFS, LossHistory, or mapping
        A mapping contains the losses under the keys `reconstruction` and `profile`.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    history = of_selector(source, "history_", "losses") if isinstance(source, ScoreSelector) else source
    for kind, colour, line in (("reconstruction", BLUE, "-"), ("profile", AMBER, "--")):
        given = history.get(kind, ()) if isinstance(history, Mapping) else getattr(history, kind, ())
        values = as_numbers("source", given, (None,), f"losses by iteration under {kind}, as in BMGUFS.history_")
        relative = values / (values[0] or 1.0)
        ax.plot(range(len(relative)), relative, color=colour, linestyle=line, linewidth=2)
        ax.annotate(
            kind, (len(relative) - 1, relative[-1]), (4, 0), textcoords="offset points", va="center", color=colour
        )
    last = ax.dataLim.x1
    ax.set_xticks([tick for tick in MaxNLocator(6, integer=True).tick_values(0, last) if 0 <= tick <= last])
    ax.set(xlabel="iteration", ylabel="loss relative to initial value")
    ax.margins(x=0.02, y=0.15)
    ax.set_xlim(right=1.28 * max(ax.get_xlim()[1], 1.0))  # room for the names
    ax.set_title("Losses by iteration", loc="left")
    bare(ax)
    return ax


def candidates(source: ScoreSelector | pd.DataFrame | Iterable[Mapping[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw the log-likelihood gain of each candidate block model before and after refinement, by family.

    Filled dots are the candidates used to rank the features.

    Parameters
    ----------
    source : fitted BlockModelSelector, or its `candidates_table_` as a DataFrame or as rows
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    rows: Any = of_selector(source, "candidates_table_", "candidates") if isinstance(source, ScoreSelector) else source
    table = pd.DataFrame(rows)
    wanted = {"family", "gain", "gain_at_start", "in_consensus"}
    _check_columns(table, wanted, "pass candidates_table_ of a BlockModelSelector")
    best = table.groupby("family")["gain"].max()
    families = sorted(best.index, key=lambda name: (best[name], name))
    for row in table.sort_values("in_consensus", kind="stable").to_dict("records"):  # used candidates on top
        level, colour = families.index(row["family"]), BLUE if row["in_consensus"] else GREY
        ax.plot([row["gain_at_start"], row["gain"]], [level, level], color=colour, linewidth=0.8, zorder=2)
        face = colour if row["in_consensus"] else "white"
        ax.plot(row["gain"], level, "o", color=colour, markerfacecolor=face, markersize=5, zorder=3)
    ax.set_yticks(range(len(families)), families)
    ax.set_ylim(-0.6, len(families) - 0.4)
    ax.set_xlabel("log-likelihood gain before and after refinement (nats)")
    ax.xaxis.set_major_locator(MaxNLocator(4))  # more of these long numbers would overlap
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(axis="y", length=0)
    n_used = int(table["in_consensus"].sum())
    ax.set_title(f"Candidate block models: {n_used} of {len(table)} in the consensus (filled)", loc="left")
    bare(ax)
    return ax


def compare(
    source: Comparison | pd.DataFrame | Mapping[str, float] | Iterable[Any],
    ax: Axes | None = None,
    *,
    measure: str | None = None,
) -> Axes:
    """Compare methods: bars for one number of features, lines for several. A dashed line shows all features.

    Parameters
    ----------
    source : Comparison, DataFrame, rows of a comparison, or mapping of names to values
        The result of :func:`blockselect.compare_methods`, or your own values. A table needs the columns `method`,
        `n_features` and the measure, like `comparison.csv`.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    measure : str, optional
        Column to show; by default the first measure of a Comparison, and otherwise "nmi".

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if measure is None:
        measure = next(iter(source.titles)) if isinstance(source, Comparison) else "nmi"
    figures = _comparison(source, measure)
    of_all = figures["method"] == ALL_FEATURES
    table = figures[~of_all]
    sizes = sorted(table["n_features"].unique())
    if len(sizes) < 2:
        _bars(ax, table, measure)
    else:
        _lines(ax, table, measure, sizes)
    for value in figures.loc[of_all, measure]:
        draw = ax.axvline if len(sizes) < 2 else ax.axhline
        draw(value, color=INK, linewidth=0.8, linestyle="--", label="all features")
        ax.legend(loc="lower right", frameon=False, fontsize=_NAME_SIZE)
    ax.set_title(f"{_in_words(measure)} by method", loc="left")
    return ax


def _in_words(measure: str) -> str:
    return ExplainedLinks.titles.get(measure, measure.replace("_", " "))


def _comparison(source: Any, measure: str) -> pd.DataFrame:
    if isinstance(source, pd.DataFrame | Comparison):
        table = source.table() if isinstance(source, Comparison) else source
    elif isinstance(source, Mapping):
        table = pd.DataFrame({"method": list(source), "n_features": 0, measure: list(source.values())})
    else:
        table = pd.DataFrame([row.record([measure]) if isinstance(row, ComparisonRow) else row for row in source])
    _check_columns(table, {"method", "n_features", measure}, "pass rows of a comparison, or {name: value}")
    table = table.dropna(subset=[measure])
    as_numbers("source", table[measure], (None,), f"rows that have a value of {measure}")
    return table


def _check_columns(table: pd.DataFrame, wanted: set[str], advice: str) -> None:
    missing = wanted - set(table.columns)
    if missing:
        raise ParameterError("source", f"has no column {', '.join(sorted(missing))}; {advice}.")


def _bars(ax: Axes, table: pd.DataFrame, measure: str) -> None:
    ordered = table.sort_values(measure, kind="stable")
    ax.barh(range(len(ordered)), ordered[measure].to_numpy(), color=BLUE, height=0.6)
    ax.set_yticks(range(len(ordered)), ordered["method"].astype(str).tolist())
    ax.set_xlabel(_in_words(measure))
    ax.tick_params(axis="y", length=0)
    bare(ax, grid="x")


def _lines(ax: Axes, table: pd.DataFrame, measure: str, sizes: list[Any]) -> None:
    """Draw one line per method, named at its end; the best method at the largest number of features is blue."""
    best = table[table["n_features"] == sizes[-1]].set_index("method")[measure].idxmax()
    for method, rows in table.groupby("method"):
        ordered = rows.sort_values("n_features")
        colour = BLUE if method == best else GREY
        ax.plot(
            ordered["n_features"], ordered[measure], "o-", color=colour, markersize=4, zorder=3 if method == best else 2
        )
    ax.set_xticks(sizes)
    ax.set_xlim(right=sizes[-1] + 0.3 * (sizes[-1] - sizes[0]))
    ax.set(xlabel="number of features", ylabel=_in_words(measure))
    bare(ax)
    last = table.sort_values("n_features").groupby("method").tail(1)
    for (_, end), offset in zip(last.iterrows(), _offsets(ax, last[measure].to_numpy()), strict=True):
        ax.annotate(
            str(end["method"]),
            (end["n_features"], end[measure]),
            (5, offset),
            textcoords="offset points",
            va="center",
            color=INK,
            fontsize=_NAME_SIZE,
        )


def _offsets(ax: Axes, values: FloatArray) -> FloatArray:
    """How many points to move each name up so that names do not overlap."""
    heights = ax.transData.transform(np.column_stack([np.zeros(len(values)), values]))[:, 1] * 72 / ax.figure.dpi
    order = np.argsort(heights, kind="stable")
    steps = _NAME_SIZE * 1.3 * np.arange(len(values))
    free = np.maximum.accumulate(heights[order] - steps) + steps  # each at least one line above the one below
    offsets = np.empty(len(values))
    offsets[order] = free - heights[order]
    return offsets
