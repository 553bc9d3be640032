"""The network of a run: a data set by its name, or files; and what of it is written down to find it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blockselect.arrays import Sparse
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.record import file_record, hash_matrix
from blockselect.datasets.catalogue import find_dataset
from blockselect.datasets.download import Progress
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.io.read import read_attributed_graph, read_features


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """A network, where it came from, and the hashes of that."""

    graph: AttributedGraph
    title: str  # for people
    record: dict[str, Any]  # for run.json
    built_from_features: bool = False  # links of nearest neighbours

    @property
    def adjacency(self) -> Sparse | None:
        """For `fit`: None where a selector is to build the graph from the features, and to know that it did."""
        return None if self.built_from_features else self.graph.adjacency


def load_network(
    dataset: str | None,
    features: Path | None,
    graph: Path | None,
    *,
    n_neighbors: int | None,
    progress: Progress | None = None,
) -> NetworkInput:
    """The network that the options name, in one of the two ways.

    Parameters
    ----------
    dataset, features, graph
        The options of these names.
    n_neighbors : int or None
        Of each node, where features come without a graph; None: that is refused.
    progress : callable, optional
        Called during a download.
    """
    if (dataset is None) == (features is None):
        raise Failure("give either --dataset NAME or --features FILE (with --graph FILE), and not both.")
    with expecting_bad_input():
        if dataset is not None:
            if graph is not None:
                raise Failure("--graph goes with --features; a --dataset brings its own graph.")
            return _load_dataset(dataset, progress)
        assert features is not None
        if graph is not None:
            return _load_files(features, graph)
        if n_neighbors is None:
            raise Failure("--graph is not given; name a file of links, or link nearest neighbours by --neighbors N.")
        return _load_features(features, n_neighbors)


def _load_dataset(name: str, progress: Progress | None) -> NetworkInput:
    """A data set by its name, hashed by its content."""
    graph = find_dataset(name).load(progress)
    record = {
        "dataset": name,
        "features": {"sha256": hash_matrix(graph.features)},
        "graph": {"sha256": hash_matrix(graph.adjacency)},
    }
    return NetworkInput(graph, name, record)


def _load_files(features: Path, graph: Path) -> NetworkInput:
    network = read_attributed_graph(features, graph)
    record = {"features": file_record(features), "graph": file_record(graph)}
    return NetworkInput(network, f"{features.name} with {graph.name}", record)


def _load_features(path: Path, n_neighbors: int) -> NetworkInput:
    """Features alone, with links of nearest neighbours."""
    table = read_features(path)
    ids, names = table.node_ids, table.feature_names
    try:
        graph = check_attributed_graph(table.matrix, None, node_ids=ids, feature_names=names, n_neighbors=n_neighbors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    title = f"{path.name}; no --graph: each node linked with its {n_neighbors} nearest by the features"
    record = {"features": file_record(path), "graph": {"nearest_neighbours": n_neighbors}}
    return NetworkInput(graph, title, record, built_from_features=True)
