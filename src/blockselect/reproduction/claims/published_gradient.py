"""Claim (i), not of the paper: its published gradient, which is not the derivative of its loss, changes little."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from blockselect.reproduction.claims.judgement import Judgement, Verdict, points, unmeasured
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.candidate_quality import results
from blockselect.reproduction.experiments.figure_style import title_of
from blockselect.reproduction.trial import Row

SAME = 0.9  # share of features in common
CLOSE = 0.02  # of ACC


def published_gradient_changes_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """The same candidates, ratio and iterations by both gradients: features in common, and ACC and NMI."""
    table = results(rows)
    if table.empty:
        return unmeasured("no row of the experiment succeeded.")
    chosen = {row["selection"]: set(json.loads(row["selected"])) for row in rows if row.get("selected")}
    pair = ["dataset", "candidate", "top"]
    both = table[table["gradient"] == "exact"].merge(table[table["gradient"] == "paper"], on=pair)
    if both.empty:
        return unmeasured("no candidate has rows of both gradients.")
    common = [len(chosen[a] & chosen[b]) for a, b in zip(both["selection_x"], both["selection_y"], strict=True)]
    both = both.assign(
        overlap=np.array(common) / both["top"],
        accuracy=both["accuracy_x"] - both["accuracy_y"],
        nmi=both["nmi_x"] - both["nmi_y"],
    )
    same = both["overlap"].median() >= SAME
    close = both["accuracy"].abs().median() <= CLOSE
    verdict = (Verdict.FAILS, Verdict.PARTLY, Verdict.HOLDS)[int(same) + int(close)]
    summary = (
        f"the median overlap of the selections is {both['overlap'].median():.0%}; the median change of ACC is "
        f"{100 * both['accuracy'].abs().median():.1f} points, on average {points(both['accuracy'].mean())} for exact."
    )
    return Judgement(verdict, summary, _by_cell(both))


def _by_cell(both: pd.DataFrame) -> pd.DataFrame:
    groups = both.groupby(["dataset", "top"], as_index=False, sort=False)
    cells = groups.agg(
        candidates=("overlap", "size"),
        overlap=("overlap", "median"),
        least=("overlap", "min"),
        accuracy=("accuracy", "mean"),
        nmi=("nmi", "mean"),
    )
    return pd.DataFrame(
        {
            "network": cells["dataset"].map(title_of),
            "d": cells["top"].map("{:g}".format),
            "candidates": cells["candidates"].map(str),
            "median overlap": cells["overlap"].map("{:.0%}".format),
            "least": cells["least"].map("{:.0%}".format),
            "ACC, exact less paper, points": cells["accuracy"].map(points),
            "NMI, exact less paper, points": cells["nmi"].map(points),
        }
    )
