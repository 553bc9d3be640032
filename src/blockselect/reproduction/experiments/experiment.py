"""Experiment: what every module of this folder offers."""

from __future__ import annotations

from typing import Protocol

from matplotlib.figure import Figure

from blockselect.reproduction.agenda import Work
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.trial import Row


class Experiment(Work[ExperimentConfig], Protocol):
    """Trials and the figure of their rows."""

    TITLE: str

    def plot(self, rows: list[Row], config: ExperimentConfig) -> Figure:
        """The figure of all rows of the experiment and their clusterings."""
        ...
