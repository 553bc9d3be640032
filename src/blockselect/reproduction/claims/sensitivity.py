"""Claims (f) and (g): what the profile ratio (β̄) and the sparsity (γ) change."""

from __future__ import annotations

import pandas as pd

from blockselect.reproduction.claims.judgement import Judgement, by_share, count, points, unmeasured
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.figure_style import MEASURES, title_of
from blockselect.reproduction.experiments.parameter_surfaces import results
from blockselect.reproduction.trial import Row

BELOW, ABOVE = 0.4, 0.6  # the ratios between which the cliff is claimed
CLIFF = LITTLE = 0.05


def cliff_then_stable(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(f) By the mean over sparsities, at each ratio, of each network and measure."""
    table = results(rows)
    if table.empty or not {BELOW, ABOVE} <= set(table["profile_ratio"]):
        return unmeasured(f"the ratios {BELOW:g} and {ABOVE:g} have no rows.")
    found = []
    for dataset, part in table.groupby("dataset", sort=False):
        for measure in MEASURES:
            line = mean_by_ratio(part, measure)
            before, after = line[line.index <= BELOW], line[line.index >= ABOVE]
            steps = line.diff().abs()
            found.append(
                {
                    "network": title_of(dataset),
                    "measure": title_of(measure),
                    "rise": after.mean() - before.mean(),
                    "largest step to": steps.idxmax(),
                    "range": after.max() - after.min(),
                }
            )
    cells = pd.DataFrame(found)
    near = (cells["largest step to"] > BELOW) & (cells["largest step to"] <= ABOVE)
    cliff, stable = (cells["rise"] >= CLIFF) & near, cells["range"] <= LITTLE
    figures = pd.DataFrame(
        {
            **{name: cells[name] for name in ("network", "measure")},
            f"mean from {ABOVE:g} less mean to {BELOW:g}, points": cells["rise"].map(points),
            "β̄ after the largest step": cells["largest step to"].map("{:g}".format),
            f"range from {ABOVE:g}, points": cells["range"].map(points),
        }
    )
    summary = f"a cliff there in {count(cliff)} surfaces, stable after it in {count(stable)}."
    return Judgement(by_share([*cliff, *stable], holds=1, partly=0.5), summary, figures)


def mean_by_ratio(table: pd.DataFrame, measure: str) -> pd.Series:
    """Mean over the sparsities that leave enough features; zero at a ratio where none does."""
    means = table[table["enough"]].groupby("profile_ratio")[measure].mean()
    return means.reindex(sorted(table["profile_ratio"].unique()), fill_value=0.0)


def sparsity_matters_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(g) By the range over sparsities that leave enough features, at each ratio of each network and measure."""
    table = results(rows)
    enough = table[table["enough"]] if len(table) else table
    found = [
        {
            "network": title_of(dataset),
            "measure": title_of(measure),
            "β̄": ratio,
            "sparsities": len(part),
            "range": part[measure].max() - part[measure].min(),
        }
        for (dataset, ratio), part in (enough.groupby(["dataset", "profile_ratio"], sort=False) if len(enough) else ())
        for measure in MEASURES
        if len(part) > 1
    ]
    if not found:
        return unmeasured("nowhere do two sparsities leave enough features.")
    cells = pd.DataFrame(found)
    little = cells["range"] <= LITTLE
    figures = cells.assign(
        **{
            "β̄": cells["β̄"].map("{:g}".format),
            "sparsities": cells["sparsities"].map(str),
            "range": cells["range"].map(points),
        }
    ).rename(columns={"sparsities": "sparsities with enough", "range": "range over γ, points"})
    summary = f"the range over γ is at most {100 * LITTLE:g} points in {count(little)} cells."
    return Judgement(by_share(little, holds=0.9, partly=0.5), summary, figures)
