"""The network of a run, from a data set or from files, and the record that identifies it in run.json."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, IntArray, Sparse
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.options import UnknownNodes
from blockselect.cli.record import file_record
from blockselect.datasets.catalogue import find_dataset
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.files import read_attributed_graph, read_features
from blockselect.graphs.text_files import read_csv_table, reading
from blockselect.progress import Progress
from blockselect.warned import collected_warnings
from blockselect.wording import visible

NO_WEIGHT = "none"
SHOWN = 3  # examples of invalid ids in a message


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read, as the options of these names say."""

    node_ids: Path | None = None
    feature_names: Path | None = None
    transpose: bool = False
    unknown_nodes: UnknownNodes = "error"
    weight: str | None = None  # a column; "none": all links count alike

    def of_features(self) -> dict[str, Any]:
        return {"node_ids": self.node_ids, "feature_names": self.feature_names, "transpose": self.transpose}

    def of_graph(self) -> dict[str, Any]:
        return {"unknown_nodes": self.unknown_nodes, "weight": False if self.weight == NO_WEIGHT else self.weight}

    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def record(self) -> dict[str, Any]:
        """The options that differ from their defaults, for run.json."""
        return {name: file_record(it) if isinstance(it, Path) else it for name, it in self.given().items()}


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """A network, its origin and the hashes of its origin."""

    graph: AttributedGraph
    title: str  # for people
    record: dict[str, Any]  # for run.json
    built_from_features: bool = False  # links to nearest neighbours
    warnings: tuple[str, ...] = ()  # about the files
    features_file: Path | None = None

    @property
    def adjacency(self) -> Sparse | None:
        """The adjacency to pass to `fit`; None lets the selector build the graph, and so know that it did."""
        return None if self.built_from_features else self.graph.adjacency


def load_network(
    dataset: str | None,
    features: Path | None,
    graph: Path | None,
    *,
    n_neighbors: int | None,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> NetworkInput:
    """The network that the options name.

    Parameters
    ----------
    dataset, features, graph
        The options of these names.
    n_neighbors : int or None
        Neighbours that each node is linked to if features come without a graph; None refuses that case.
    reading : Reading, optional
        How the files are read.
    progress : callable, optional
        Called during a download.
    """
    reading = reading or Reading()
    if (dataset is None) == (features is None):
        raise Failure("give either --dataset NAME or --features FILE (with --graph FILE), and not both.")
    with expecting_bad_input():
        if dataset is not None:
            if graph is not None:
                raise Failure("--graph goes with --features; a --dataset brings its own graph.")
            for name in reading.given():
                raise Failure(f"{_option(name)} goes with --features; a --dataset is not read from your files.")
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
    """Features alone, with links to nearest neighbours."""
    for name in reading.given():
        if name in ("unknown_nodes", "weight"):
            raise Failure(f"{_option(name)} goes with --graph, which is not given; leave it out.")
    table = read_features(path, **reading.of_features())
    ids, names = table.node_ids, table.feature_names
    try:
        graph = check_attributed_graph(table.matrix, None, node_ids=ids, feature_names=names, n_neighbors=n_neighbors)
    except (ValueError, TypeError) as error:  # TypeError: a cell that is neither a number nor text
        raise ValueError(f"{path}: {error}") from error
    title = f"{visible(path.name)}; no --graph: each node linked with its {n_neighbors} nearest by the features"
    record = {"features": file_record(path), "graph": {"nearest_neighbours": n_neighbors}, **reading.record()}
    return NetworkInput(graph, title, record, built_from_features=True, features_file=path)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def hash_matrix(matrix: Features) -> str:
    """SHA-256 of the shape and the non-zero entries. It is the same on every machine, for dense and sparse storage."""
    csr = sparse.csr_array(matrix)
    digest = hashlib.sha256(np.array(csr.shape, dtype="<i8").tobytes())
    for part, kind in ((csr.indptr, "<i8"), (csr.indices, "<i8"), (csr.data, "<f8")):
        digest.update(part.astype(kind).tobytes())
    return digest.hexdigest()


def with_classes(network: NetworkInput, path: Path) -> NetworkInput:
    """The network with the classes of its nodes from a CSV file."""
    with expecting_bad_input():
        labelled = replace(network.graph, classes=_read_classes(path, network.graph))
        return replace(network, graph=labelled, record={**network.record, "classes": file_record(path)})


def _read_classes(path: Path, graph: AttributedGraph) -> IntArray:
    """The class of each node, numbered in the order of the sorted class names. (n,)

    The file has a header and one row per node: its id and its class. The ids of nodes without ids are 0, 1, ….
    """
    with reading(path):
        table = read_csv_table(path, as_text=True)
    if table.shape[1] != 2:
        raise ValueError(f"{path} has {table.shape[1]} columns; expected two, the id and the class of each node.")
    ids, names = (table.iloc[:, column].str.strip().tolist() for column in (0, 1))
    nodes = [str(node) for node in (range(graph.n_nodes) if graph.node_ids is None else graph.node_ids)]
    class_of = dict(zip(ids, names, strict=True))
    problems = {
        "id(s) have more than one row": [node for node, n_rows in Counter(ids).items() if n_rows > 1],
        "node(s) have no class": [node for node in nodes if not class_of.get(node)],
        "id(s) are no node of the network": sorted(class_of.keys() - set(nodes)),
    }
    for problem, invalid in problems.items():
        if invalid:
            raise ValueError(
                f"{path}: {len(invalid)} {problem}, for example {invalid[:SHOWN]}; "
                "give each node one row with its id and its class."
            )
    found, classes = np.unique([class_of[node] for node in nodes], return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"{path}: every node is of class {found[0].item()!r}; at least two classes are needed.")
    return classes.astype(np.intp)
