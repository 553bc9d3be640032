"""A small planted network under a name, and all experiments run on it once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from blockselect import make_attributed_blocks
from blockselect.datasets.catalogue import DATASETS, Dataset
from blockselect.datasets.counts import NetworkCounts
from blockselect.reproduction import network_data
from blockselect.reproduction.agenda import collect
from blockselect.reproduction.experiment_config import ExperimentConfig, read_config
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.runner import run_experiments
from blockselect.reproduction.store import Store
from blockselect.reproduction.trial import Row


@dataclass(frozen=True)
class Run:
    config: ExperimentConfig
    rows: dict[str, list[Row]]


@pytest.fixture(scope="session")
def planted() -> Iterator[ExperimentConfig]:
    """The network 'planted', and a configuration of a second on it."""
    graph = make_attributed_blocks(
        90, 3, n_informative=12, n_redundant=4, n_noise=24, mean_degree=12, signal=5.0, random_state=0
    ).graph
    dataset = Dataset(
        name="planted",
        about="made",
        counts=NetworkCounts.of(graph),
        loader=lambda: graph,
        origin="made",
        source=None,
        licence="none",
        citations=(),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DATASETS, "planted", dataset)
        yield replace(
            read_config("quick"),
            datasets=("planted",),
            surface_datasets=("planted",),
            methods=("variance", "laplacian-score"),
            tops=(4, 8),
            surface_top=4,
            kmeans_runs=2,
            kmeans_init=1,
            n_candidates=5,
            perturbation_repeats=3,
        )
    network_data.network.cache_clear()
    network_data.gram.cache_clear()


@pytest.fixture(scope="session")
def run(planted, tmp_path_factory) -> Run:
    """All experiments on it."""
    with Store(tmp_path_factory.mktemp("run") / "trials.sqlite", planted.marks) as store:
        run_experiments(list(EXPERIMENTS.values()), planted, store)
        rows = {name: collect(experiment, planted, store) for name, experiment in EXPERIMENTS.items()}
    return Run(planted, rows)
