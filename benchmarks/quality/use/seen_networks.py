"""The networks that methods are given, complete or without held-out links; recent ones stay in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from benchmarks.networks import judged
from blockselect import AttributedGraph
from blockselect.evaluation import HiddenLinks, hide_links


@lru_cache(maxsize=8)
def network(name: str) -> AttributedGraph:
    graph = judged(name)
    if graph.classes is None:
        raise ValueError(f"the network {name!r} has no classes; choose another.")
    return graph


@lru_cache(maxsize=2)
def split(name: str, hidden: int) -> HiddenLinks:
    """Hold out links with this seed, as `compare --protocol links` does."""
    return hide_links(network(name).adjacency, random_state=hidden)


def seen(name: str, hidden: int | None) -> AttributedGraph:
    """The network without the links held out with this seed, or the complete network if the seed is None."""
    graph = network(name)
    return graph if hidden is None else replace(graph, adjacency=split(name, hidden).kept)


def n_classes(name: str) -> int:
    return len(np.unique(network(name).classes))
