"""Do small changes of the blocks change the scores? Cosine distance of r under random re-allocation of nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.figures.style import COLOURS, TITLES, new_figure, tidy
from blockselect.experiments.solves import candidates, network, network_trial, solve
from blockselect.experiments.trial import Row, Trial

NAME = "perturbation"
TITLE = "Change of the scores when nodes are re-allocated at random"


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    return [network_trial(NAME, name, measure, config) for name in config.datasets]


def measure(name: str, config: ExperimentConfig) -> list[Row]:
    """The lowest-error model and all its perturbations, in one descent."""
    model = candidates(name, config.n_candidates, config.seed)[0]
    adjacency = network(name).adjacency
    rng = np.random.default_rng([config.seed, 1])
    kinds = [
        {"share": share, "densities": densities, "repeat": repeat}
        for share in config.perturbed_shares
        for densities in ("kept", "recomputed")
        for repeat in range(config.perturbation_repeats)
    ]
    perturbed = [
        model.perturb(adjacency, kind["share"], keep_density=kind["densities"] == "kept", rng=rng) for kind in kinds
    ]
    scores = solve(
        name,
        [model, *perturbed],
        profile_ratio=config.profile_ratio,
        sparsity=0.0,
        gradient=config.gradient,
        max_iter=config.max_iter,
    ).scores[:, 0]
    lengths = np.linalg.norm(scores, axis=1)
    distances = 1 - scores[1:] @ scores[0] / (lengths[1:] * lengths[0])
    return [{**kind, "distance": float(distance)} for kind, distance in zip(kinds, distances, strict=True)]


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """Box plots: share of nodes moved × densities kept or recomputed."""
    table = pd.DataFrame([row for row in rows if row["experiment"] == NAME and not row["error"]])
    figure = new_figure(3.6 * len(config.datasets), 3.4)
    for axes, dataset in zip(figure.subplots(1, len(config.datasets), squeeze=False)[0], config.datasets, strict=True):
        groups = [
            (f"{share:.0%}\n{densities}", part["distance"].to_numpy())
            for (share, densities), part in table[table["dataset"] == dataset].groupby(["share", "densities"])
        ]
        labels, values = zip(*groups, strict=True)
        boxes = axes.boxplot(values, tick_labels=labels, patch_artist=True)
        for i, box in enumerate(boxes["boxes"]):
            box.set(facecolor=COLOURS[2 if i % 2 else 1], edgecolor="black")
        for median in boxes["medians"]:
            median.set(color="black", linewidth=1.5)
        axes.set_title(TITLES.get(dataset, dataset))
        axes.set_ylabel("cosine distance of r")
        axes.set_xlabel("nodes moved, densities")
        axes.set_ylim(bottom=0)
        tidy(axes)
    return figure
