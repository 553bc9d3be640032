"""Claim (h): both losses fall monotonically and settle."""

from __future__ import annotations

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray
from blockselect.reproduction.claims.judgement import Judgement, by_share, count, unmeasured
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.convergence import LOSSES, results
from blockselect.reproduction.experiments.figure_style import title_of
from blockselect.reproduction.trial import Row

FROM_RATIO = 0.6
RISE = 0.01  # of a curve's range, that it may lie above where it has been
SETTLED = 0.01  # of a curve's range, that the last tenth may move


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
    summary = f"{count(falling)} curves fall monotonically, {count(settled)} settle ({config.gradient} gradient)."
    return Judgement(by_share([*falling, *settled], holds=1, partly=0.5), summary, figures)


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
