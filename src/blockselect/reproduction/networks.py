"""The networks of the experiments, their candidate block models, and descents over many settings at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from blockselect.blockmodels.candidates import find_block_models, order_by_error
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import Descent, Solution
from blockselect.bmgufs.gram import GramSquared, gram_squared
from blockselect.bmgufs.losses import Gradient
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.datasets.catalogue import find_dataset
from blockselect.datasets.download import DATA_VARIABLE, NOT_FETCHED, place_of
from blockselect.inputs.attributed import AttributedGraph
from blockselect.reproduction.config import ExperimentConfig, published_block_models
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import IntArray


@lru_cache(maxsize=1)
def network(name: str) -> AttributedGraph:
    """A network with known classes. The most recent one stays in memory."""
    return find_dataset(name).load()


@lru_cache(maxsize=1)
def gram(name: str) -> GramSquared:
    """The squared Gram matrix of the features, shared by the descents of a trial."""
    return gram_squared(network(name).features)


def classes(name: str) -> IntArray:
    found = network(name).classes
    assert found is not None  # every data set in the catalogue has classes
    return found


def n_classes(name: str) -> int:
    return len(np.unique(classes(name)))


def check_networks(names: Iterable[str]) -> None:
    """Raise an error if a network has not been downloaded yet."""
    for name in names:
        source = find_dataset(name).source
        if source is not None and place_of(source) == NOT_FETCHED:
            raise ValueError(
                f"the network {name} is not on this machine; run 'blockselect datasets fetch {name}', or set "
                f"{DATA_VARIABLE} to a folder that contains {source.file_name}."
            )


def candidates(name: str, n_candidates: int, seed: int) -> list[BlockModel]:
    """The published block models, or block models found by ONMtF from random starts, by increasing error."""
    adjacency, published = network(name).adjacency, published_block_models(name)
    if published is None:
        rng = np.random.default_rng(seed)
        return find_block_models(adjacency, n_classes(name), family="onmtf", n_candidates=n_candidates, rng=rng)
    labels = np.load(published, allow_pickle=False)["labels"][:n_candidates]
    return order_by_error([BlockModel.from_labels(adjacency, row) for row in labels])


def network_trial(
    experiment: str, name: str, run: Callable[..., list[Row]], config: ExperimentConfig, **settings: Any
) -> Trial:
    """A trial that calls ``run(name, candidates, config)`` for one network."""
    source = "own" if published_block_models(name) is None else "published"
    identity = {"dataset": name, "block_models": source, **settings}
    return Trial(experiment, identity, partial(_with_candidates, run, name, config))


def _with_candidates(run: Callable[..., list[Row]], name: str, config: ExperimentConfig) -> list[Row]:
    try:
        return run(name, candidates(name, config.n_candidates, config.seed), config)
    finally:
        gram.cache_clear()  # half a gigabyte for BlogCatalog; it must be free before the next trial


def solve(
    name: str,
    models: list[BlockModel],
    config: ExperimentConfig,
    *,
    profile_ratio: float | list[float] | None = None,
    sparsity: float | list[float] = 0.0,
    gradient: Gradient | None = None,
) -> Solution:
    """Run one descent over all models and settings. By default, ratio and gradient come from the configuration.

    The descent never stops early, so all loss curves have the same length.
    """
    solver = Descent(gradient=gradient or config.gradient, max_iter=config.max_iter, tol=0.0)
    return solver.solve(
        gram(name),
        BlockStatistics.of(network(name).features, models),
        profile_ratio=config.profile_ratio if profile_ratio is None else profile_ratio,
        sparsity=sparsity,
    )
