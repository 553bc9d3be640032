"""The experiments of the paper, one per file. Each has `trials(config, rows)` and `plot(rows, config)`."""

from __future__ import annotations

import io
from typing import Any, Protocol

from matplotlib import style
from matplotlib.figure import Figure

from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Work
from blockselect.reproduction.experiments import (
    block_models,
    convergence,
    datasets,
    effectiveness,
    parameters,
    perturbation,
)
from blockselect.reproduction.figures import STYLE
from blockselect.reproduction.store import Row


class Experiment(Work[ExperimentConfig], Protocol):
    """The interface of every module in this folder."""

    TITLE: str

    def plot(self, rows: list[Row], config: ExperimentConfig) -> Figure:
        """Draw the figure from all rows of the experiment and its clusterings."""
        ...


EXPERIMENTS: dict[str, Experiment] = {
    module.NAME: module for module in (datasets, effectiveness, perturbation, block_models, parameters, convergence)
}
"""Every experiment by its name, in the order of the paper."""

FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats of the figures, with the metadata that is omitted so that the same rows give the same bytes."""


def render(experiment: Experiment, rows: list[Row], config: ExperimentConfig) -> dict[str, bytes]:
    """The figure of an experiment as a file in every format, by the name of the format."""
    files = {}
    with style.context(STYLE):
        figure = experiment.plot(rows, config)
        for kind, metadata in FORMATS.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            files[kind] = buffer.getvalue()
    return files
