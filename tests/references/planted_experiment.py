"""A small planted network with a name, and a configuration of experiments on it that takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import pytest

from blockselect import make_attributed_blocks
from blockselect.datasets.catalogue import DATASETS, Dataset, NetworkCounts
from blockselect.reproduction import networks
from blockselect.reproduction.config import ExperimentConfig, read_config


@cache
def _dataset() -> Dataset:
    graph = make_attributed_blocks(
        90, 3, n_informative=12, n_redundant=4, n_noise=24, mean_degree=12, signal=5.0, random_state=0
    ).graph
    return Dataset(
        name="planted",
        about="made",
        counts=NetworkCounts.of(graph),
        loader=lambda: graph,
        origin="made",
        source=None,
        licence="none",
        citations=(),
    )


@contextmanager
def planted_experiment() -> Iterator[ExperimentConfig]:
    """The network is called 'planted' within the block, and is removed after it for the sake of other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DATASETS, "planted", _dataset())
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
    networks.network.cache_clear()
    networks.gram.cache_clear()
