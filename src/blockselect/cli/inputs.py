"""The network of a run: a data set by its name, or files; and what of it is written down to find it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Features
from blockselect.cli.failure import expecting_bad_input
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


def load_dataset(name: str, progress: Progress | None) -> NetworkInput:
    """A data set by its name, hashed by its content."""
    with expecting_bad_input():
        graph = find_dataset(name).load(progress)
    record = {
        "dataset": name,
        "features": {"sha256": hash_matrix(graph.features)},
        "graph": {"sha256": hash_matrix(graph.adjacency)},
    }
    return NetworkInput(graph, name, record)


def load_files(features: Path, graph: Path | None, *, n_neighbors: int) -> NetworkInput:
    """A network from files, hashed as they are; without a file of links its nearest-neighbour graph."""
    if graph is None:
        network = _with_neighbours(features, n_neighbors)
        title = f"{features.name}; no --graph: each node linked with its {n_neighbors} nearest by the features"
        origin: dict[str, Any] = {"nearest_neighbours": n_neighbors}
    else:
        network = read_attributed_graph(features, graph)
        title, origin = f"{features.name} with {graph.name}", file_record(graph)
    return NetworkInput(network, title, {"features": file_record(features), "graph": origin})


def _with_neighbours(features: Path, n_neighbors: int) -> AttributedGraph:
    table = read_features(features)
    ids, names = table.node_ids, table.feature_names
    try:
        return check_attributed_graph(table.matrix, None, node_ids=ids, feature_names=names, n_neighbors=n_neighbors)
    except ValueError as error:
        raise ValueError(f"{features}: {error}") from error


def hash_matrix(matrix: Features) -> str:
    """SHA-256 of the shape and the non-zero entries, the same on every machine and for dense and sparse."""
    csr = sparse.csr_array(matrix)
    digest = hashlib.sha256(np.array(csr.shape, dtype="<i8").tobytes())
    for part, kind in ((csr.indptr, "<i8"), (csr.indices, "<i8"), (csr.data, "<f8")):
        digest.update(part.astype(kind).tobytes())
    return digest.hexdigest()


def file_record(path: Path) -> dict[str, str]:
    """The name without its folder: the hash says which file it was, and folders are private."""
    with path.open("rb") as stream:
        return {"file": path.name, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
