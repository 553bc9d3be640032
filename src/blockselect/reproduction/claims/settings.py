"""Claims (f), (g) and (h): what the profile ratio (β̄) and the sparsity (γ) change, and how the losses converge."""

from __future__ import annotations

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray
from blockselect.reproduction.claims.judgement import Judgement, by_share, count, points, unmeasured
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.experiments import convergence, parameters
from blockselect.reproduction.figures import MEASURES, title_of
from blockselect.reproduction.store import Row

BELOW, ABOVE = 0.4, 0.6  # ratios between which the cliff is claimed
CLIFF = LITTLE = 0.05
FROM_RATIO = 0.6
RISE = 0.01  # largest rise above an earlier value, as a share of the range of the curve
SETTLED = 0.01  # largest range of the last tenth, as a share of the range of the curve


def cliff_then_stable(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(f), by the mean over the sparsities at each ratio, for each network and measure."""
    table = parameters.results(rows)
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
    """Mean over the sparsities that leave enough features, or zero if none does."""
    means = table[table["enough"]].groupby("profile_ratio")[measure].mean()
    return means.reindex(sorted(table["profile_ratio"].unique()), fill_value=0.0)


def sparsity_matters_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(g), by the range over the sparsities that leave enough features, for each network, ratio and measure."""
    table = parameters.results(rows)
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
        return unmeasured("no cell has two sparsities that leave enough features.")
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


def losses_fall_and_settle(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(h), with one curve per network, ratio and loss."""
    table = convergence.results(rows)
    table = table[table["profile_ratio"] >= FROM_RATIO] if len(table) else table
    if table.empty or config.max_iter < 200:
        return unmeasured(f"there are no rows of 200 iterations with a ratio from {FROM_RATIO:g}.")
    found = []
    for (dataset, gradient, ratio), part in table.groupby(["dataset", "gradient", "profile_ratio"], sort=False):
        for loss, title in convergence.LOSSES.items():
            curve = part.sort_values("iteration")[loss].to_numpy()[:201]
            found.append(
                {
                    "network": title_of(dataset),
                    "gradient": gradient,
                    "β̄": f"{ratio:g}",
                    "loss": title.replace("$", ""),
                    "first": f"{curve[0]:.3f}",
                    "last": f"{curve[-1]:.3f}",
                    "rise, of its range": f"{highest_rise(curve):.1%}",
                    "falls": "yes" if falls(curve) else "no",
                    "settles": "yes" if settles(curve) else "no",
                }
            )
    figures = pd.DataFrame(found)
    ours = figures[figures["gradient"] == config.gradient]
    falling, settled = ours["falls"] == "yes", ours["settles"] == "yes"
    summary = f"{count(falling)} curves fall monotonically, {count(settled)} settle ({config.gradient} gradient)."
    return Judgement(by_share([*falling, *settled], holds=1, partly=0.5), summary, figures)


def falls(curve: FloatArray) -> bool:
    """Whether the loss never exceeds an earlier value by more than 1 % of the range of the curve."""
    return highest_rise(curve) <= RISE


def highest_rise(curve: FloatArray) -> float:
    """The largest excess over the lowest earlier value, as a share of the range of the curve."""
    span = np.ptp(curve)
    return float(np.max(curve - np.minimum.accumulate(curve)) / span) if span else 0.0


def settles(curve: FloatArray) -> bool:
    """Whether the range over the last tenth of the iterations is at most 1 % of the range of the curve."""
    last = curve[-(len(curve) // 10) :]
    return bool(np.ptp(last) <= SETTLED * np.ptp(curve))
