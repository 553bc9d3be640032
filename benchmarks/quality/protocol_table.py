"""The table of a protocol: BlockModelSelector, the best single rival and the references, one column per network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from benchmarks.quality.cells import TUNED
from benchmarks.quality.real_networks import REFERENCE, RIVAL, VARIANT
from benchmarks.quality.references import REFERENCES
from blockselect.evaluation.comparison_result import markdown_table

MEAN = "mean"  # over the networks


def best_single_rival(summary: pd.DataFrame, measures: Sequence[str]) -> str | None:
    """The label-free rival with the highest mean of the measures, among those with a result in every cell."""
    rivals = summary[summary["kind"] == RIVAL]
    n_cells = len(summary[["dataset", "top"]].drop_duplicates())
    complete = rivals.groupby("method").filter(lambda part: len(part) == n_cells)
    if complete.empty:
        return None
    return str(complete.groupby("method")[list(measures)].mean().mean(axis=1).idxmax())


def protocol_table(summary: pd.DataFrame, measures: Sequence[str], default: str) -> pd.DataFrame:
    """Means over the numbers of features, with the columns row, network and the measures."""
    rival = best_single_rival(summary, measures)
    tuned = summary.loc[summary["kind"] == TUNED, "method"].unique()
    wanted = [("the default", VARIANT, default)]
    wanted += [] if rival is None else [(f"the best single rival: {rival}", RIVAL, rival)]
    wanted += [(str(method), TUNED, str(method)) for method in tuned]
    wanted += [(method, REFERENCE, method) for method in REFERENCES]
    parts = []
    for title, kind, method in wanted:
        own = summary[(summary["kind"] == kind) & (summary["method"] == method)]
        if len(own):
            means = own.groupby("dataset")[list(measures)].mean()
            means.loc[MEAN] = means.mean()
            parts.append(means.rename_axis("network").reset_index().assign(row=title))
    columns = ["row", "network", *measures]
    return pd.concat(parts, ignore_index=True)[columns].round(4) if parts else pd.DataFrame(columns=columns)


def protocol_markdown(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """A Markdown table with one column per network; measures are separated by slashes."""
    if table.empty:
        return "There are no results.\n"
    networks = [*(name for name in table["network"].unique() if name != MEAN), MEAN]
    lines = []
    for row, part in table.groupby("row", sort=False):
        found = part.set_index("network")
        cells = ["–" if name not in found.index else _figures(found.loc[name, list(titles)]) for name in networks]
        lines.append([str(row), *cells])
    return markdown_table([" / ".join(titles.values()), *networks], lines)


def _figures(means: pd.Series) -> str:
    return " / ".join("–" if pd.isna(mean) else f"{mean:.3f}" for mean in means)
