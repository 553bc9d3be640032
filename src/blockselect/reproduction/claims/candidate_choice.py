"""Claims (d) and (e): how candidate block models differ, and what predicts the good ones."""

from __future__ import annotations

import pandas as pd

from blockselect.reproduction.claims.judgement import Judgement, Verdict, count, points, unmeasured
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.candidate_quality import rank_correlation, results
from blockselect.reproduction.experiments.figure_style import MEASURES, title_of
from blockselect.reproduction.trial import Row

NOTABLE = 0.05  # between the best and the worst candidate
PREDICTS = 0.5  # rank correlation
ENOUGH = 5  # candidates, for a rank correlation to mean something


def candidates_differ(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(d) In each cell: best less worst candidate, and where the one of lowest error stands."""
    cells = _cells(rows, config)
    if not cells:
        return unmeasured("no network has several candidates with rows.")
    table = pd.DataFrame(
        [
            {
                **cell,
                "range": part[measure].max() - part[measure].min(),
                "lowest": part[measure].iloc[0],
                "median": part[measure].median(),
                "best": part[measure].max(),
            }
            for cell, part, measure in cells
        ]
    )
    notable, competitive = table["range"] >= NOTABLE, table["lowest"] >= table["median"]
    n_passed = int(notable.mean() > 0.5) + int(competitive.mean() > 0.5)
    verdict = (Verdict.FAILS, Verdict.PARTLY, Verdict.HOLDS)[n_passed]
    figures = pd.DataFrame(
        {
            **{name: table[name] for name in ("network", "d", "measure")},
            "best − worst, points": table["range"].map(points),
            "lowest error": table["lowest"].map("{:.3f}".format),
            "median": table["median"].map("{:.3f}".format),
            "best": table["best"].map("{:.3f}".format),
        }
    )
    summary = (
        f"{count(notable)} cells differ by {100 * NOTABLE:g} points or more; in {count(competitive)} the candidate of "
        "lowest error reaches the median."
    )
    return Judgement(verdict, summary, figures)


def blocks_do_not_predict(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(e) By the median rank correlation of each network."""
    cells = [cell for cell in _cells(rows, config) if len(cell[1]) >= ENOUGH]
    table = pd.DataFrame(
        [
            {
                **cell,
                "blocks": rank_correlation(part, f"blocks_{measure}", measure),
                "error": rank_correlation(part, "relative_error", measure),
            }
            for cell, part, measure in cells
        ]
    )
    medians = table.groupby("network", sort=False)["blocks"].median().dropna() if len(table) else table
    if medians.empty:
        return unmeasured(f"no network has {ENOUGH} candidates that differ.")
    predicted = medians >= PREDICTS
    verdict = Verdict.PARTLY
    if predicted.all():
        verdict = Verdict.FAILS
    if not predicted.any():
        verdict = Verdict.HOLDS
    figures = pd.DataFrame(
        {
            **{name: table[name] for name in ("network", "d", "measure")},
            "ρ with the accuracy of F": table["blocks"].map("{:+.2f}".format),
            "ρ with the error of F": table["error"].map("{:+.2f}".format),
        }
    )
    summary = "; ".join(f"{name}: median ρ = {median:+.2f}" for name, median in medians.items()) + "."
    return Judgement(verdict, summary, figures)


def _cells(rows: list[Row], config: ExperimentConfig) -> list[tuple[dict[str, object], pd.DataFrame, str]]:
    """The candidates of each network, number of features and measure, lowest error first; two at least."""
    table = results(rows)
    if table.empty:
        return []
    table = table[table["gradient"] == config.gradient].sort_values("candidate", kind="stable")
    return [
        ({"network": title_of(dataset), "d": f"{top:g}", "measure": title_of(measure)}, part, measure)
        for (dataset, top), part in table.groupby(["dataset", "top"], sort=False)
        for measure in MEASURES
        if len(part) > 1 and part["candidate"].iloc[0] == 0
    ]
