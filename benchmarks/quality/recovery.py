"""Precision on planted networks: means, and paired comparisons of a variant with the best rival."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.quality.planted_networks import NAME
from benchmarks.quality.real_networks import RIVAL, VARIANT
from blockselect.reproduction.selections import good_rows
from blockselect.reproduction.store import Row

_ROUNDING = 1e-12


def precisions(rows: Sequence[Row]) -> pd.DataFrame:
    """One row per regime, method and network, without failed trials."""
    table = good_rows(list(rows), NAME)
    return table if len(table) else pd.DataFrame(columns=["regime", "kind", "method", "seed", "precision"])


def summarize_precisions(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error of each method in each regime. Columns: regime, kind, method, mean, se, n."""
    grouped = table.groupby(["regime", "kind", "method"], sort=False)["precision"]
    summary = grouped.agg(["mean", "sem", "count"])
    return summary.rename(columns={"sem": "se", "count": "n"}).reset_index()


def compare_precisions(table: pd.DataFrame, method: str) -> pd.DataFrame:
    """One row per regime: a variant, the rival with the highest mean, and their paired differences."""
    summary = summarize_precisions(table)
    rivals = summary[summary["kind"] == RIVAL].sort_values("mean", ascending=False, kind="stable")
    best_of_regime = rivals.drop_duplicates("regime").sort_index()
    lines = []
    for best in best_of_regime.to_dict("records"):
        regime, here = best["regime"], table[table["regime"] == best["regime"]]
        own = here[(here["kind"] == VARIANT) & (here["method"] == method)].set_index("seed")["precision"]
        rival = here[(here["kind"] == RIVAL) & (here["method"] == best["method"])].set_index("seed")["precision"]
        lines.append(
            {
                "regime": regime,
                "mean": own.mean(),
                "se": own.sem(),
                "rival": best["method"],
                "rival_mean": best["mean"],
                "rival_se": best["se"],
                **_paired((own - rival).dropna().to_numpy()),
            }
        )
    return pd.DataFrame(lines)


def _paired(differences: np.ndarray) -> Row:
    n = len(differences)
    return {
        "difference": float(differences.mean()) if n else np.nan,
        "difference_se": float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        "wins": int((differences > _ROUNDING).sum()),
        "ties": int((np.abs(differences) <= _ROUNDING).sum()),
        "losses": int((differences < -_ROUNDING).sum()),
    }
