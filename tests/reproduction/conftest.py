"""A small planted network in the catalogue, and the rows of all experiments on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import complete_rows, run_experiments
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.store import Row, Store
from references.planted_experiment import planted_experiment


@dataclass(frozen=True)
class Run:
    config: ExperimentConfig
    rows: dict[str, list[Row]]


@pytest.fixture
def planted() -> Iterator[ExperimentConfig]:
    with planted_experiment() as config:
        yield config


@pytest.fixture(scope="session")
def rows(tmp_path_factory) -> dict[str, list[Row]]:
    """The rows of all experiments on the planted network."""
    with planted_experiment() as config:
        store = Store(tmp_path_factory.mktemp("run"), config.marks)
        plans = {name: experiment.trials for name, experiment in EXPERIMENTS.items()}
        run_experiments(plans, config, store)
        return complete_rows(plans, config, store)


@pytest.fixture
def run(planted, rows) -> Run:
    return Run(planted, rows)
