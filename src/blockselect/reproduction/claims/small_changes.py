"""Claim (c): scores under perturbed blocks."""

from __future__ import annotations

import pandas as pd

from blockselect.reproduction.claims.judgement import Judgement, by_share, count, unmeasured
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.figure_style import title_of
from blockselect.reproduction.experiments.perturbation import OTHER, results
from blockselect.reproduction.trial import Row

LITTLE = 0.05  # cosine distance, an angle of 18 degrees
AGAINST_OTHERS = 0.5  # of the median distance to other candidates: how far whole other blocks move r


def small_changes_matter_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(c) By the median distance of each network, share of nodes and kind of densities."""
    table = results(rows)
    moved = table[table["densities"] != OTHER] if len(table) else table
    if moved.empty or len(moved) == len(table):
        return unmeasured("there are no rows of moved nodes, or none of other candidates to compare with.")
    groups = moved.groupby(["dataset", "share", "densities"], as_index=False, sort=False)["distance"]
    medians = groups.agg(repeats="size", median="median", largest="max")
    others = table[table["densities"] == OTHER].groupby("dataset")["distance"].median()
    scale = medians["dataset"].map(others)
    passed = (medians["median"] <= LITTLE) & (medians["median"] <= AGAINST_OTHERS * scale)
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
