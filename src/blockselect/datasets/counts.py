"""How large a network is: what the literature counts, and a check that a loaded one agrees."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from blockselect.graphs.attributed import AttributedGraph


@dataclass(frozen=True, slots=True)
class NetworkCounts:
    """The counts that tables of data sets give."""

    nodes: int
    links: int  # without direction; a self-loop counts once
    features: int
    classes: int

    @classmethod
    def of(cls, graph: AttributedGraph) -> NetworkCounts:
        n_classes = 0 if graph.classes is None else len(np.unique(graph.classes))
        return cls(graph.n_nodes, graph.n_links, graph.n_features, n_classes)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in asdict(self).items())


def check_counts(name: str, graph: AttributedGraph, expected: NetworkCounts) -> AttributedGraph:
    """The graph, if it has the counts of the literature; an error else."""
    found = NetworkCounts.of(graph)
    if found != expected:
        raise ValueError(
            f"{name} has {found}; expected {expected}: its files are not those of the paper; fetch them again."
        )
    return graph
