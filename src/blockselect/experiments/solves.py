"""Solves of the experiments: candidates of a network, and many settings of them in one batched descent."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from blockselect.blockmodels.candidates import find_block_models, order_by_error
from blockselect.blockmodels.model import BlockModel
from blockselect.datasets.registry import DATASETS
from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.trial import Row, Trial
from blockselect.graphs.attributed import AttributedGraph
from blockselect.scoring.descent import DescentResult, descend
from blockselect.scoring.gram import DenseGramSquared, SparseGramSquared, gram_squared
from blockselect.scoring.statistics import BlockStatistics

_PUBLISHED = {"blogcatalog": "blogcatalog_block_models.npz"}  # block models that came with the paper


@lru_cache(maxsize=1)
def network(name: str) -> AttributedGraph:
    """A network with known classes; the last one is kept at hand."""
    graph = DATASETS[name].load()
    if graph.classes is None:
        raise ValueError(f"the network {name!r} has no classes to compare with.")
    return graph


@lru_cache(maxsize=1)
def gram(name: str) -> DenseGramSquared | SparseGramSquared:
    return gram_squared(network(name).features)


def n_classes(name: str) -> int:
    classes = network(name).classes
    assert classes is not None
    return len(np.unique(classes))


def published_block_models(name: str) -> Path | None:
    """The file of the block models published with the paper, where the folder BLOCKSELECT_GOLDEN has it."""
    folder = os.environ.get("BLOCKSELECT_GOLDEN")
    path = Path(folder, _PUBLISHED[name]) if folder and name in _PUBLISHED else None
    return path if path is not None and path.is_file() else None


def candidates(name: str, n_candidates: int, seed: int) -> list[BlockModel]:
    """The published block models, the first `n_candidates`, or ONMtF from random starts; lowest error first."""
    adjacency = network(name).adjacency
    published = published_block_models(name)
    if published is None:
        rng = np.random.default_rng(seed)
        return find_block_models(adjacency, n_classes(name), family="onmtf", n_candidates=n_candidates, rng=rng)
    labels = np.load(published, allow_pickle=False)["labels"][:n_candidates]
    return order_by_error([BlockModel.from_labels(adjacency, row) for row in labels])


def network_trial(
    experiment: str, name: str, run: Callable[..., list[Row]], config: ExperimentConfig, **settings: Any
) -> Trial:
    """A trial on the candidates of one network; published block models make another trial than our own."""
    told = {"dataset": name, "published": published_block_models(name) is not None, **settings}
    return Trial(experiment, told, run, {"name": name, "config": config})


def solve(name: str, models: list[BlockModel], **settings: Any) -> DescentResult:
    """One descent over the models and all settings. The scores of empty columns are zero."""
    features = network(name).features
    statistics = BlockStatistics.of(features, models)
    result = descend(gram(name), statistics, **settings)
    result.scores[..., ~statistics.block_means.any(axis=(0, 1))] = 0
    return result
