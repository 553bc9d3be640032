"""The network of a run: a data set by its name, or files; and what of it is written down to find it again."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from blockselect.arrays import Sparse
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.record import file_record, hash_matrix
from blockselect.datasets.catalogue import find_dataset
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.files import UnknownNodes, read_attributed_graph, read_features
from blockselect.progress import Progress
from blockselect.warned import collected_warnings
from blockselect.wording import visible

NO_WEIGHT = "none"


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read, as the options of these names say."""

    node_ids: Path | None = None
    feature_names: Path | None = None
    transpose: bool = False
    unknown_nodes: UnknownNodes = "error"
    weight: str | None = None  # a column; "none": links count alike

    def of_features(self) -> dict[str, Any]:
        return {"node_ids": self.node_ids, "feature_names": self.feature_names, "transpose": self.transpose}

    def of_graph(self) -> dict[str, Any]:
        return {"unknown_nodes": self.unknown_nodes, "weight": False if self.weight == NO_WEIGHT else self.weight}

    def record(self) -> dict[str, Any]:
        """What differs from the usual way, for run.json."""
        named = {name: file_record(path) for name in ("node_ids", "feature_names") if (path := getattr(self, name))}
        usual = Reading()
        rest = ("transpose", "unknown_nodes", "weight")
        return named | {name: getattr(self, name) for name in rest if getattr(self, name) != getattr(usual, name)}


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """A network, where it came from, and the hashes of that."""

    graph: AttributedGraph
    title: str  # for people
    record: dict[str, Any]  # for run.json
    built_from_features: bool = False  # links of nearest neighbours
    warnings: tuple[str, ...] = ()  # of the files
    features_file: Path | None = None

    @property
    def adjacency(self) -> Sparse | None:
        """For `fit`: None where a selector is to build the graph from the features, and to know that it did."""
        return None if self.built_from_features else self.graph.adjacency


AS_USUAL = Reading()


def load_network(
    dataset: str | None,
    features: Path | None,
    graph: Path | None,
    *,
    n_neighbors: int | None,
    reading: Reading = AS_USUAL,
    progress: Progress | None = None,
) -> NetworkInput:
    """The network that the options name, in one of the two ways.

    Parameters
    ----------
    dataset, features, graph
        The options of these names.
    n_neighbors : int or None
        Of each node, where features come without a graph; None: that is refused.
    reading : Reading
        How the files are read.
    progress : callable, optional
        Called during a download.
    """
    if (dataset is None) == (features is None):
        raise Failure("give either --dataset NAME or --features FILE (with --graph FILE), and not both.")
    with expecting_bad_input():
        if dataset is not None:
            if graph is not None:
                raise Failure("--graph goes with --features; a --dataset brings its own graph.")
            if reading != AS_USUAL:
                raise Failure(f"{_first_given(reading)} goes with --features; a --dataset needs no reading.")
            return _load_dataset(dataset, progress)
        assert features is not None
        if graph is not None:
            return _load_files(features, graph, reading)
        if n_neighbors is None:
            raise Failure("--graph is not given; name a file of links, or link nearest neighbours by --neighbors N.")
        return _load_features(features, n_neighbors, reading)


def _load_dataset(name: str, progress: Progress | None) -> NetworkInput:
    """A data set by its name, hashed by its content."""
    graph = find_dataset(name).load(progress)
    record = {
        "dataset": name,
        "features": {"sha256": hash_matrix(graph.features)},
        "graph": {"sha256": hash_matrix(graph.adjacency)},
    }
    return NetworkInput(graph, name, record)


def _load_files(features: Path, graph: Path, reading: Reading) -> NetworkInput:
    with collected_warnings() as messages:
        network = read_attributed_graph(features, graph, **reading.of_features(), **reading.of_graph())
    record = {"features": file_record(features), "graph": file_record(graph), **reading.record()}
    title = features.name if graph == features else f"{features.name} with {graph.name}"
    return NetworkInput(network, visible(title), record, warnings=tuple(messages), features_file=features)


def _load_features(path: Path, n_neighbors: int, reading: Reading) -> NetworkInput:
    """Features alone, with links of nearest neighbours."""
    for name in ("unknown_nodes", "weight"):
        if getattr(reading, name) != getattr(AS_USUAL, name):
            raise Failure(f"--{name.replace('_', '-')} goes with --graph, which is not given; leave it out.")
    table = read_features(path, **reading.of_features())
    ids, names = table.node_ids, table.feature_names
    try:
        graph = check_attributed_graph(table.matrix, None, node_ids=ids, feature_names=names, n_neighbors=n_neighbors)
    except (ValueError, TypeError) as error:  # the latter: a cell that is neither a number nor text
        raise ValueError(f"{path}: {error}") from error
    title = f"{visible(path.name)}; no --graph: each node linked with its {n_neighbors} nearest by the features"
    record = {"features": file_record(path), "graph": {"nearest_neighbours": n_neighbors}, **reading.record()}
    return NetworkInput(graph, title, record, built_from_features=True, features_file=path)


def _first_given(reading: Reading) -> str:
    given = next(
        field.name for field in fields(Reading) if getattr(reading, field.name) != getattr(AS_USUAL, field.name)
    )
    return f"--{given.replace('_', '-')}"
