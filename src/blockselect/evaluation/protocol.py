"""SelectionProtocol: one way to judge selected features on a network; each protocol is a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Protocol

from blockselect.arrays import FloatArray, IntArray
from blockselect.graphs.attributed import AttributedGraph


class Scores(Protocol):
    """What a protocol finds of some features."""

    @property
    def n_features(self) -> int:
        """How many features were judged."""

    @property
    def n_zero_rows(self) -> int:
        """Nodes that have none of them."""

    @property
    def measures(self) -> Mapping[str, FloatArray]:
        """Each measure, run by run: (n_runs,)."""


class SelectionProtocol(ABC):
    """A protocol on one network, whose runs have the seeds 0, 1, …: the same for all methods."""

    titles: ClassVar[Mapping[str, str]]
    """Measures in the order of tables, with what tables for people call them. Larger is better."""
    needs_classes: ClassVar[bool]
    seen: AttributedGraph
    """What methods select by: the network, less what they are judged by."""

    @abstractmethod
    def evaluate(self, columns: IntArray) -> Scores:
        """Judge these features."""

    @abstractmethod
    def describe(self) -> str:
        """How features are judged, in full sentences."""


def known_classes(graph: AttributedGraph) -> IntArray:
    """The classes of the nodes, which some protocols compare with: (n,)."""
    if graph.classes is None:
        raise ValueError("the network has no classes to compare with; pass them to check_attributed_graph.")
    return graph.classes
