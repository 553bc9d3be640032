"""A small planted network, a selector fitted to it, how stable its selection is, and the summary."""

from __future__ import annotations

from typing import Any

import pytest

from blockselect import (
    AttributedGraph,
    BlockModelSelector,
    make_attributed_blocks,
    selection_stability,
)
from blockselect.report import summarize
from blockselect.utils.arrays import FloatArray


@pytest.fixture(scope="session")
def graph() -> AttributedGraph:
    return make_attributed_blocks(
        80, 3, n_informative=8, n_redundant=4, n_noise=18, mean_degree=8, random_state=1
    ).graph


@pytest.fixture(scope="session")
def selector(graph: AttributedGraph) -> BlockModelSelector:
    selector = BlockModelSelector(7, n_blocks=3, n_candidates=6, random_state=0)
    return selector.fit(graph.features, adjacency=graph.adjacency)


@pytest.fixture(scope="session")
def stability(selector: BlockModelSelector, graph: AttributedGraph) -> FloatArray:
    return selection_stability(selector, graph.features, adjacency=graph.adjacency, n_resamples=3)


@pytest.fixture(scope="session")
def summary(selector: BlockModelSelector, graph: AttributedGraph, stability: FloatArray) -> dict[str, Any]:
    return summarize(selector, stability=stability)
