"""Do small changes of the blocks change the scores? Cosine distance of r after random re-allocation of nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blockselect.arrays import FloatArray
from blockselect.blockmodels.model import BlockModel
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.figures import COLOURS, new_figure, say_empty, tidy, title_of
from blockselect.reproduction.networks import network, network_trial, solve
from blockselect.reproduction.selections import good_rows, rows_with
from blockselect.reproduction.store import Row

NAME = "perturbation"
TITLE = "Change of the scores when nodes are re-allocated at random"
TINY = 1e-9  # smaller distances are drawn here, because a log scale has no zero
KEPT, RECOMPUTED, OTHER = "kept", "recomputed", "other candidate"
SHORT = {KEPT: "M kept", RECOMPUTED: "M anew"}


def trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    n_solves = 2 * len(config.perturbed_shares) * config.perturbation_repeats + config.n_candidates
    return [network_trial(NAME, name, measure, config, n_solves=n_solves) for name in config.datasets]


def measure(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Compare the lowest-error model with its perturbations and with the other candidates, in one descent."""
    adjacency = network(name).adjacency
    rng = np.random.default_rng([config.seed, 1])
    guide, others = models[0], models[1:]
    kinds: list[Row] = [
        {"share": share, "densities": densities, "repeat": repeat}
        for share in config.perturbed_shares
        for densities in (KEPT, RECOMPUTED)
        for repeat in range(config.perturbation_repeats)
    ]
    perturbed = [
        guide.perturb(adjacency, kind["share"], keep_density=kind["densities"] == KEPT, rng=rng) for kind in kinds
    ]
    kinds += [{"share": None, "densities": OTHER, "repeat": candidate} for candidate in range(len(others))]
    scores = solve(name, [guide, *perturbed, *others], config).scores[:, 0]
    distances = cosine_distances(scores[0], scores[1:])
    return [{**kind, "distance": float(distance)} for kind, distance in zip(kinds, distances, strict=True)]


def cosine_distances(one: FloatArray, others: FloatArray) -> FloatArray:
    """1 − cosine of the angle between one vector (m,) and each of the others (b, m).

    It is computed as half the squared distance of unit vectors, which is accurate for small angles.
    """
    units = others / np.linalg.norm(others, axis=1, keepdims=True)
    return np.asarray(np.sum((units - one / np.linalg.norm(one)) ** 2, axis=1) / 2)


def results(rows: list[Row]) -> pd.DataFrame:
    return good_rows(rows, NAME)


def plot(rows: list[Row], config: ExperimentConfig) -> Figure:
    """Draw box plots by share of moved nodes and kind of densities, beside those of the other candidates.

    The scale is logarithmic, because the two kinds of distances differ by orders of magnitude.
    """
    table = results(rows)
    figure = new_figure(1.0 + 3.8 * len(config.datasets), 3.4)
    panels = figure.subplots(1, len(config.datasets), squeeze=False, sharey=True)[0]
    for axes, dataset in zip(panels, config.datasets, strict=True):
        axes.set_title(title_of(dataset))
        part = rows_with(table, dataset=dataset)
        if part.empty:
            say_empty(axes)
            continue
        _draw_boxes(axes, part)
        axes.set_xlabel("nodes moved; densities M kept or recomputed")
        tidy(axes)
    panels[0].set_ylabel("cosine distance of r")
    return figure


def _draw_boxes(axes: Axes, table: pd.DataFrame) -> None:
    colours: dict[object, str] = {KEPT: COLOURS[2], RECOMPUTED: COLOURS[1], OTHER: "#eeeeee"}
    groups = [
        (
            densities,
            f"{share:.0%}\n{SHORT[str(densities)]}" if densities != OTHER else "other\ncandidates",
            np.maximum(part["distance"], TINY),
        )
        for (share, densities), part in table.groupby(["share", "densities"], dropna=False)
    ]
    kinds, labels, values = zip(*groups, strict=True)
    boxes = axes.boxplot(values, patch_artist=True, widths=0.6)
    axes.set_xticks(range(1, len(labels) + 1), labels)
    for kind, box in zip(kinds, boxes["boxes"], strict=True):
        box.set(facecolor=colours[kind], edgecolor="black", hatch="//" if kind == RECOMPUTED else "")
    for median in boxes["medians"]:
        median.set(color="black", linewidth=2)
    axes.set_yscale("log")
    axes.tick_params(axis="x", labelsize=8)
