"""Claims (c), (d), (e) and (i): what the block model and the gradient change."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from blockselect.reproduction.claims.judgement import Judgement, Verdict, by_share, count, points, unmeasured
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.experiments import block_models, perturbation
from blockselect.reproduction.figures import MEASURES, title_of
from blockselect.reproduction.selections import rows_with
from blockselect.reproduction.store import Row

SMALL = 0.05  # cosine distance; corresponds to an angle of 18 degrees
AGAINST_OTHERS = 0.5  # largest share of the median distance to other candidates
NOTABLE = 0.05  # difference between the best and the worst candidate
PREDICTS = 0.5  # smallest rank correlation that counts as prediction
ENOUGH = 5  # candidates that a meaningful rank correlation needs
SAME = 0.9  # smallest share of common features
CLOSE = 0.02  # largest change of ACC


def small_changes_matter_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(c), by the median distance for each network, share of nodes and kind of densities."""
    table = perturbation.results(rows)
    moved = table[table["densities"] != perturbation.OTHER] if len(table) else table
    if moved.empty or len(moved) == len(table):
        return unmeasured("there are no rows of moved nodes, or none of other candidates to compare with.")
    groups = moved.groupby(["dataset", "share", "densities"], as_index=False, sort=False)["distance"]
    medians = groups.agg(repeats="size", median="median", largest="max")
    others = table[table["densities"] == perturbation.OTHER].groupby("dataset")["distance"].median()
    scale = medians["dataset"].map(others)
    passed = (medians["median"] <= SMALL) & (medians["median"] <= AGAINST_OTHERS * scale)
    figures = pd.DataFrame(
        {
            "network": medians["dataset"].map(title_of),
            "nodes moved": medians["share"].map("{:.0%}".format),
            "densities": medians["densities"],
            "repeats": medians["repeats"].map(str),
            "median distance": medians["median"].map("{:.4f}".format),
            "largest": medians["largest"].map("{:.4f}".format),
            "median of other candidates": scale.map("{:.4f}".format),
        }
    )
    worst = (medians["median"] / scale).max()
    summary = (
        f"{count(passed)} medians are small; the largest is {medians['median'].max():.4f}, and at most {worst:.0%} of "
        "the distance to other candidates."
    )
    return Judgement(by_share(passed, holds=1, partly=0.5), summary, figures)


def candidates_differ(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(d), by the range of the candidates and the rank of the one with the lowest error in each cell."""
    cells = _cells(rows, config)
    if not cells:
        return unmeasured("no network has rows of several candidates.")
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
    verdict = by_share([notable.mean() > 0.5, competitive.mean() > 0.5], holds=1, partly=0.5)
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
    """(e), by the median rank correlation of each network."""
    cells = [cell for cell in _cells(rows, config) if len(cell[1]) >= ENOUGH]
    table = pd.DataFrame(
        [
            {
                **cell,
                "blocks": block_models.rank_correlation(part, f"blocks_{measure}", measure),
                "error": block_models.rank_correlation(part, "relative_error", measure),
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
    """For each network, number of features and measure with at least two candidates, these by increasing error."""
    table = rows_with(block_models.results(rows), gradient=config.gradient)
    if table.empty:
        return []
    table = table.sort_values("candidate", kind="stable")
    return [
        ({"network": title_of(dataset), "d": f"{top:g}", "measure": title_of(measure)}, part, measure)
        for (dataset, top), part in table.groupby(["dataset", "top"], sort=False)
        for measure in MEASURES
        if len(part) > 1 and part["candidate"].iloc[0] == 0
    ]


def published_gradient_changes_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(i), by the common features, ACC and NMI of both gradients with the same candidates, ratio and iterations."""
    table = block_models.results(rows)
    if table.empty:
        return unmeasured("every trial of the experiment failed.")
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
    verdict = by_share([same, close], holds=1, partly=0.5)
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
