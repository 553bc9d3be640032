"""Solves of the experiments: candidates of a network, and many settings of them in one batched descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blockselect.blockmodels.candidates import find_block_models, order_by_error
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import Descent, Solution
from blockselect.bmgufs.losses import Gradient
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.datasets.catalogue import find_dataset
from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.network_data import (
    PUBLISHED_FILES,
    PUBLISHED_VARIABLE,
    gram,
    n_classes,
    network,
    published_block_models,
)
from blockselect.reproduction.trial import Row, Trial

_PER_PRODUCT = 1e-10  # seconds for one multiplication of a descent, on one core


def candidates(name: str, n_candidates: int, seed: int, *, published: bool) -> list[BlockModel]:
    """The published block models, the first `n_candidates`, or ONMtF from random starts; lowest error first."""
    adjacency = network(name).adjacency
    if not published:
        rng = np.random.default_rng(seed)
        return find_block_models(adjacency, n_classes(name), family="onmtf", n_candidates=n_candidates, rng=rng)
    file = published_block_models(name)
    if file is None:  # a worker on another machine: it must not use other block models in their place
        raise ValueError(
            f"the published block models of {name} are not here; set {PUBLISHED_VARIABLE} to the folder that holds "
            f"{PUBLISHED_FILES[name]} on every machine that works."
        )
    labels = np.load(file, allow_pickle=False)["labels"][:n_candidates]
    return order_by_error([BlockModel.from_labels(adjacency, row) for row in labels])


def network_trial(
    experiment: str,
    name: str,
    run: Callable[..., list[Row]],
    config: ExperimentConfig,
    *,
    n_solves: int,
    **settings: Any,
) -> Trial:
    """A trial on the candidates of one network, which `run` gets besides the network's name and the configuration."""
    published = published_block_models(name) is not None
    identity = {"dataset": name, "block_models": "published" if published else "own", **settings}
    payload = {"run": run, "name": name, "config": config, "published": published}
    cost = 1 + n_solves * config.max_iter * find_dataset(name).counts.features ** 2 * _PER_PRODUCT
    return Trial(experiment, identity, with_candidates, payload, cost)


def with_candidates(run: Callable[..., list[Row]], name: str, config: ExperimentConfig, published: bool) -> list[Row]:
    models = candidates(name, config.n_candidates, config.seed, published=published)
    try:
        return run(name, models, config)
    finally:
        gram.cache_clear()  # half a gigabyte on BlogCatalog, which a worker must not hold beside its next trial


def solve(
    name: str,
    models: list[BlockModel],
    config: ExperimentConfig,
    *,
    profile_ratio: float | list[float] | None = None,
    sparsity: float | list[float] = 0.0,
    gradient: Gradient | None = None,
) -> Solution:
    """One descent over the models and all settings; ratio and gradient are the configuration's where not given.

    It never stops early, so that curves of the losses have the same length.
    """
    solver = Descent(gradient=gradient or config.gradient, max_iter=config.max_iter, tol=0.0)
    return solver.solve(
        gram(name),
        BlockStatistics.of(network(name).features, models),
        profile_ratio=config.profile_ratio if profile_ratio is None else profile_ratio,
        sparsity=sparsity,
    )
