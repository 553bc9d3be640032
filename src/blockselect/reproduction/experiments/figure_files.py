"""Figures as files: the same rows give the same bytes, with no date and no version in them."""

from __future__ import annotations

import io
from typing import Any

from matplotlib import style

from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments.experiment import Experiment
from blockselect.reproduction.experiments.figure_style import STYLE
from blockselect.reproduction.trial import Row

METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats, and what matplotlib would write into them that is not of the figure."""


def render(experiment: Experiment, rows: list[Row], config: ExperimentConfig) -> dict[str, bytes]:
    """The figure of an experiment in every format, by the format's name."""
    files = {}
    with style.context(STYLE):
        figure = experiment.plot(rows, config)
        for kind, metadata in METADATA.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            files[kind] = buffer.getvalue()
    return files
