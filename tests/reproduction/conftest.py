"""A small planted network under a name, and all experiments run on it once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from blockselect.reproduction.agenda import collect
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.runner import run_experiments
from blockselect.reproduction.store import Store
from blockselect.reproduction.trial import Row
from references.planted_experiment import planted_experiment


@dataclass(frozen=True)
class Run:
    config: ExperimentConfig
    rows: dict[str, list[Row]]


@pytest.fixture(scope="session")
def planted() -> Iterator[ExperimentConfig]:
    with planted_experiment() as config:
        yield config


@pytest.fixture(scope="session")
def run(planted, tmp_path_factory) -> Run:
    """All experiments on it."""
    with Store(tmp_path_factory.mktemp("run") / "trials.sqlite", planted.marks) as store:
        run_experiments(list(EXPERIMENTS.values()), planted, store)
        rows = {name: collect(experiment, planted, store) for name, experiment in EXPERIMENTS.items()}
    return Run(planted, rows)
