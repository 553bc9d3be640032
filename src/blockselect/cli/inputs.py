"""The network of a run, from a data set or from files, and the record that identifies it in run.json."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import Features, ObjectArray, Sparse
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.options import UnknownNodes
from blockselect.cli.record import file_record
from blockselect.datasets.catalogue import find_dataset
from blockselect.errors import collected_warnings
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.files import read_attributed_graph, read_features
from blockselect.graphs.text_files import BadFileError, read_csv_table, reading
from blockselect.progress import Progress
from blockselect.wording import visible

NO_WEIGHT = "none"
SHOWN = 3  # examples of invalid ids in a message
LABEL_NAMES = {"class", "classes", "label", "labels", "target", "y", "cluster", "community"}
MOST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read, as the options of these names say."""

    node_ids: Path | None = None
    feature_names: Path | None = None
    transpose: bool = False
    unknown_nodes: UnknownNodes = "error"
    weight: str | None = None  # a column; "none": all links count alike
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    one_hot: bool = False

    def of_features(self) -> dict[str, Any]:
        names = ("node_ids", "feature_names", "transpose", "id_column", "drop", "one_hot")
        return {name: getattr(self, name) for name in names}

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
    warnings = (*messages, *label_like_columns(network))
    return NetworkInput(network, visible(title), record, warnings=warnings, features_file=features)


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
    warnings = tuple(label_like_columns(graph))
    return NetworkInput(graph, title, record, built_from_features=True, warnings=warnings, features_file=path)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def hash_matrix(matrix: Features) -> str:
    """SHA-256 of the shape and the non-zero entries. It is the same on every machine, for dense and sparse storage."""
    csr = sparse.csr_array(matrix)
    digest = hashlib.sha256(np.array(csr.shape, dtype="<i8").tobytes())
    for part, kind in ((csr.indptr, "<i8"), (csr.indices, "<i8"), (csr.data, "<f8")):
        digest.update(part.astype(kind).tobytes())
    return digest.hexdigest()


def with_record(network: NetworkInput, name: str, path: Path) -> NetworkInput:
    """The network with a further file in its record."""
    return replace(network, record={**network.record, name: file_record(path)})


def with_classes(network: NetworkInput, path: Path) -> NetworkInput:
    """The network with the classes of its nodes, numbered in the order of their sorted names."""
    found, classes = np.unique(labels_of(network.graph, path).astype(str), return_inverse=True)
    if len(found) < 2:
        raise Failure(f"{path}: every node is of class {found[0].item()!r}; at least two classes are needed.")
    labelled = replace(network.graph, classes=classes.astype(np.intp))
    return with_record(replace(network, graph=labelled), "classes", path)


def read_labels(path: Path) -> pd.Series[str]:
    """Labels from a CSV file with a header and two columns, the id of a node and its label; ids become the index."""
    with expecting_bad_input(), reading(path):
        table = read_csv_table(path, as_text=True)
        if table.shape[1] != 2:
            raise BadFileError(f"it has {table.shape[1]} columns; expected two, the id and the label of each node.")
        ids, labels = (table.iloc[:, column].str.strip() for column in (0, 1))
        return pd.Series(labels.to_numpy(), index=ids.to_numpy())


def labels_of(graph: AttributedGraph, path: Path) -> ObjectArray:
    """The label of each node from a CSV file: (n,). The ids of nodes without ids are 0, 1, …."""
    labels = read_labels(path)
    nodes = [str(node) for node in (range(graph.n_nodes) if graph.node_ids is None else graph.node_ids)]
    label_of = dict(zip(labels.index, labels, strict=True))
    problems = {
        "id(s) have more than one row": labels.index[labels.index.duplicated()].unique().tolist(),
        "node(s) have no label": [node for node in nodes if not label_of.get(node)],
        "id(s) are no node of the network": sorted(label_of.keys() - set(nodes)),
    }
    for problem, invalid in problems.items():
        if invalid:
            raise Failure(
                f"{path}: {len(invalid)} {problem}, for example {invalid[:SHOWN]}; "
                "give each node one row with its id and its label."
            )
    return np.array([label_of[node] for node in nodes], dtype=object)


def label_like_columns(graph: AttributedGraph) -> list[str]:
    """A warning for each feature that seems to be a class label: named like one, and with few whole numbers.

    Words can be called so too, but most nodes do not have them; so columns of which half is zero are left alone.
    """
    messages = []
    for column, name in enumerate([] if graph.feature_names is None else graph.feature_names):
        if not LABEL_NAMES & set(re.split(r"[^a-z]+", str(name).lower())):
            continue
        cells = graph.features[:, [column]]
        values = cells.toarray() if sparse.issparse(cells) else cells
        found = np.unique(values)
        numbered = found[0] >= 0 and np.array_equal(found, np.round(found)) and found[-1] <= 2 * len(found)
        if numbered and 2 <= len(found) <= MOST_CLASSES and 2 * np.count_nonzero(values) > graph.n_nodes:
            messages.append(
                f"the feature {str(name)!r} looks like a class label, which would be selected as any other feature; "
                f"if it is one, leave it out with --drop {name}."
            )
    return messages
