"""Claim (h), that the descent settles; and what the published gradient, which is not the derivative, changes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray
from blockselect.reproduction.claims.record import Judgement, Verdict, by_share, count, points, unmeasured
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.figures import block_models
from blockselect.reproduction.figures.convergence import LOSSES, results
from blockselect.reproduction.figures.style import title_of
from blockselect.reproduction.trial import Row

FROM_RATIO = 0.6
RISE = 0.01  # of a curve's range, that it may lie above where it has been
SETTLED = 0.01  # of a curve's range, that the last tenth may move
SAME = 0.9  # share of features in common
CLOSE = 0.02  # of ACC


def losses_fall_and_settle(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """(h) Each network, ratio and loss is a curve."""
    table = results(rows)
    table = table[table["profile_ratio"] >= FROM_RATIO] if len(table) else table
    if table.empty or config.max_iter < 200:
        return unmeasured(f"there are no rows of 200 iterations with a ratio from {FROM_RATIO:g}.")
    found = []
    for (dataset, gradient, ratio), part in table.groupby(["dataset", "gradient", "profile_ratio"], sort=False):
        for loss, title in LOSSES.items():
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
    told = f"{count(falling)} curves fall monotonically, {count(settled)} settle ({config.gradient} gradient)."
    return Judgement(by_share([*falling, *settled], holds=1, partly=0.5), told, figures)


def falls(curve: FloatArray) -> bool:
    """The loss never lies more than a hundredth of what the curve spans above a value that it had before."""
    return highest_rise(curve) <= RISE


def highest_rise(curve: FloatArray) -> float:
    """How far the curve comes to lie above its lowest value so far, as a share of what it spans."""
    span = np.ptp(curve)
    return float(np.max(curve - np.minimum.accumulate(curve)) / span) if span else 0.0


def settles(curve: FloatArray) -> bool:
    """The last tenth of the iterations moves the loss by no more than a hundredth of what the curve spans."""
    last = curve[-(len(curve) // 10) :]
    return bool(np.ptp(last) <= SETTLED * np.ptp(curve))


def published_gradient_changes_little(rows: list[Row], config: ExperimentConfig) -> Judgement:
    """The same candidates, ratio and iterations by both gradients: features in common, and ACC and NMI."""
    table = block_models.results(rows)
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
    told = (
        f"the median overlap of the selections is {both['overlap'].median():.0%}; the median change of ACC is "
        f"{100 * both['accuracy'].abs().median():.1f} points, on average {points(both['accuracy'].mean())} for exact."
    )
    return Judgement(verdict, told, _by_cell(both))


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
