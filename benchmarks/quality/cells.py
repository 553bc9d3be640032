"""Cells (network × number of features × measure): BlockModelSelector compared with the best rival.

Means and standard deviations are over seeds and runs of K-means.

- The best rival of a cell is the label-free method with the highest mean in that cell.
- *At or above*: the mean is no lower than the mean of the rival.
- *Within one sd*: the mean is lower, but by no more than the root mean square of the two standard deviations.

A cell in which BlockModelSelector has no result counts as below. Rivals that failed in a cell are left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from benchmarks.quality.real_networks import GRID_KIND, NAME, REFERENCE, RIVAL, VARIANT
from blockselect.reproduction.experiments import LOWEST, SUPERVISED, best_rows, lowest_error_rows
from blockselect.reproduction.selections import good_rows
from blockselect.reproduction.store import Row

TUNED = "tuned"  # kind of methods whose settings were chosen with labels
MEASURES = ("accuracy", "nmi")
Line: TypeAlias = Mapping[Hashable, Any]  # a row of `summarize`
_ROUNDING = 1e-12  # rounding may make equal means differ by this much


@dataclass(frozen=True, slots=True)
class Count:
    """The number of cells that BlockModelSelector wins."""

    cells: int
    at_or_above: int
    within: int  # within one sd below the rival


def summarize(rows: Sequence[Row]) -> pd.DataFrame:
    """Mean and sd over seeds and runs, for each method, network and number of features.

    Columns: kind, method, dataset, top, accuracy, accuracy_sd, nmi, nmi_sd, n_zero_rows, n_selected, n_seeds.
    """
    table = good_rows(list(rows), NAME)
    table = table[table["selection"].notna()] if "selection" in table else table
    if table.empty:
        return pd.DataFrame(columns=["kind", "method", "dataset", "top"])
    grid = table[table["kind"] == GRID_KIND].assign(n_selected=lambda part: part["top"])
    chosen = [part for _, of_seed in grid.groupby("seed") for part in _papers(of_seed)]
    direct = table[table["kind"].isin([VARIANT, RIVAL, REFERENCE])]
    parts = [part for part in (direct, *chosen) if len(part)]
    return pool(pd.concat(parts, ignore_index=True))


def compare(
    summary: pd.DataFrame, method: str, rivals: str = RIVAL, measures: Sequence[str] = MEASURES
) -> pd.DataFrame:
    """One row per cell: a variant, the best rival of a given kind, the margin, and whether the variant wins."""
    ours: dict[tuple[str, int], Line] = {}
    there: dict[tuple[str, int], list[Line]] = {}
    for line in summary.sort_values(["dataset", "top"], kind="stable").to_dict("records"):
        place = (line["dataset"], line["top"])
        if (line["kind"], line["method"]) == (VARIANT, method):
            ours[place] = line
        elif line["kind"] == rivals:
            there.setdefault(place, []).append(line)
    return pd.DataFrame(
        [
            {"dataset": dataset, "top": top, "measure": measure, **_cell(ours.get((dataset, top)), lines, measure)}
            for (dataset, top), lines in there.items()
            for measure in measures
        ]
    )


def count(cells: pd.DataFrame) -> Count:
    """Count the cells at or above the rival, and the cells within one sd of it."""
    if cells.empty:
        return Count(0, 0, 0)
    return Count(len(cells), int(cells["at_or_above"].sum()), int(cells["within"].sum()))


def count_by_rival(summary: pd.DataFrame, method: str) -> dict[str, Count]:
    """Count the cells won against each label-free rival alone, in the order of the summary."""
    return {rival: count(compare(part, method)) for rival, part in by_rival(summary)}


def by_rival(summary: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each label-free rival, with the summary restricted to it as the only rival."""
    is_rival = summary["kind"] == RIVAL
    for rival in summary.loc[is_rival, "method"].unique():
        yield str(rival), summary[~is_rival | (summary["method"] == rival)]


def _cell(own: Line | None, rivals: list[Line], measure: str) -> Row:
    best = max(rivals, key=lambda line: line[measure])
    mean, sd, zero_rows = (np.nan,) * 3 if own is None else (own[measure], own[f"{measure}_sd"], own["n_zero_rows"])
    margin = float(mean - best[measure])
    spread = float(np.sqrt((sd**2 + best[f"{measure}_sd"] ** 2) / 2))
    at_or_above = margin >= -_ROUNDING  # false for NaN
    return {
        "mean": float(mean),
        "sd": float(sd),
        "zero_rows": float(zero_rows),
        "rival": best["method"],
        "rival_mean": float(best[measure]),
        "rival_sd": float(best[f"{measure}_sd"]),
        "rival_zero_rows": float(best["n_zero_rows"]),
        "margin": margin,
        "at_or_above": at_or_above,
        "within": not at_or_above and margin >= -spread,
    }


def _papers(grid: pd.DataFrame) -> list[pd.DataFrame]:
    """The paper's choices without and with labels, from the candidates of one seed."""
    lowest, best = lowest_error_rows(grid), best_rows(grid)
    return [lowest.assign(kind=RIVAL, method=LOWEST), best.assign(kind=TUNED, method=SUPERVISED)]


def pool(table: pd.DataFrame, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Pool means and sds over seeds, which all have the same number of runs."""
    table = table.astype(dict.fromkeys((*measures, "n_zero_rows", "n_selected"), "float64"))
    for measure in measures:
        table[f"{measure}_square"] = table[measure] ** 2 + table[f"{measure}_sd"] ** 2
    grouped = table.groupby(["kind", "method", "dataset", "top"], sort=False)
    squares = [f"{measure}_square" for measure in measures]
    pooled = grouped[[*measures, *squares, "n_zero_rows", "n_selected"]].mean()
    pooled["n_seeds"] = grouped.size()
    for measure in measures:
        variance = pooled.pop(f"{measure}_square") - pooled[measure] ** 2
        pooled[f"{measure}_sd"] = np.sqrt(variance.clip(lower=0))
    return pooled.reset_index()
