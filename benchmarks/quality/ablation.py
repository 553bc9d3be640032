"""What each part adds: means and cells won of every variant, a row each."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from benchmarks.quality.cells import MEASURES, TUNED, Count, compare, count
from benchmarks.quality.real_networks import RIVAL, VARIANT
from blockselect.reproduction.store import Row


def ablate(summary: pd.DataFrame, variants: Sequence[str]) -> pd.DataFrame:
    """Means over the numbers of features for each network, and the cells won.

    Columns: method, then `(dataset, measure)` and `(dataset, "n_zero_rows")`, then `rivals` and `tuned` (Count).
    """
    lines: list[Row] = []
    for method in variants:
        own = summary[(summary["kind"] == VARIANT) & (summary["method"] == method)]
        means = own.groupby("dataset")[[*MEASURES, "n_zero_rows"]].mean() if len(own) else own
        line: Row = {"method": method}
        for dataset in sorted(summary["dataset"].unique()):
            for name in (*MEASURES, "n_zero_rows"):
                line[f"{dataset} {name}"] = float(means.loc[dataset, name]) if dataset in means.index else float("nan")
        lines.append({**line, **_won("rivals", summary, method, RIVAL), **_won("tuned", summary, method, TUNED)})
    return pd.DataFrame(lines)


def _won(name: str, summary: pd.DataFrame, method: str, rivals: str) -> Row:
    found: Count = count(compare(summary, method, rivals))
    return {f"{name}_cells": found.cells, f"{name}_won": found.at_or_above, f"{name}_within": found.within}
