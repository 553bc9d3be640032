"""Solves of the experiments: candidates of a network, and many settings of them in one batched descent."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from blockselect.arrays import IntArray
from blockselect.blockmodels.candidates import find_block_models, order_by_error
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.descent import DescentResult, descend
from blockselect.bmgufs.gram_squared import DenseGramSquared, SparseGramSquared, gram_squared
from blockselect.datasets.catalogue import find_dataset
from blockselect.graphs.attributed import AttributedGraph
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.trial import Row, Trial

PUBLISHED_VARIABLE = "BLOCKSELECT_GOLDEN"
PUBLISHED_FILES = {"blogcatalog": "blogcatalog_block_models.npz"}  # block models that came with the paper
_PER_PRODUCT = 1e-10  # seconds for one multiplication of a descent, on one core


@lru_cache(maxsize=1)
def network(name: str) -> AttributedGraph:
    """A network with known classes; the last one is kept at hand."""
    return find_dataset(name).load()


@lru_cache(maxsize=1)
def gram(name: str) -> DenseGramSquared | SparseGramSquared:
    """Shared by the descents of a trial."""
    return gram_squared(network(name).features)


def classes(name: str) -> IntArray:
    found = network(name).classes
    if found is None:
        raise ValueError(f"the network {name!r} has no classes to compare with.")
    return found


def n_classes(name: str) -> int:
    return len(np.unique(classes(name)))


def published_block_models(name: str) -> Path | None:
    """The file of the block models published with the paper, where the folder BLOCKSELECT_GOLDEN has it."""
    folder = os.environ.get(PUBLISHED_VARIABLE)
    path = Path(folder, PUBLISHED_FILES[name]) if folder and name in PUBLISHED_FILES else None
    return path if path is not None and path.is_file() else None


def candidates(name: str, n_candidates: int, seed: int, *, published: bool) -> list[BlockModel]:
    """The published block models, the first `n_candidates`, or ONMtF from random starts; lowest error first."""
    adjacency = network(name).adjacency
    if not published:
        rng = np.random.default_rng(seed)
        return find_block_models(adjacency, n_classes(name), family="onmtf", n_candidates=n_candidates, rng=rng)
    file = published_block_models(name)
    if file is None:  # a worker elsewhere: other block models in their place would pass for these
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
    told = {"dataset": name, "block_models": "published" if published else "own", **settings}
    payload = {"run": run, "name": name, "config": config, "published": published}
    cost = 1 + n_solves * config.max_iter * find_dataset(name).counts.features ** 2 * _PER_PRODUCT
    return Trial(experiment, told, with_candidates, payload, cost)


def with_candidates(run: Callable[..., list[Row]], name: str, config: ExperimentConfig, published: bool) -> list[Row]:
    models = candidates(name, config.n_candidates, config.seed, published=published)
    try:
        return run(name, models, config)
    finally:
        gram.cache_clear()  # half a gigabyte on BlogCatalog, which a worker must not hold beside its next trial


def solve(name: str, models: list[BlockModel], config: ExperimentConfig, **settings: Any) -> DescentResult:
    """One descent over the models and all settings; what is not given is of the configuration.

    The scores of empty columns are zero.
    """
    statistics = BlockStatistics.of(network(name).features, models)
    given = {"profile_ratio": config.profile_ratio, "sparsity": 0.0, "gradient": config.gradient, **settings}
    result = descend(gram(name), statistics, max_iter=config.max_iter, **given)
    result.scores[..., statistics.empty_features] = 0
    return result
