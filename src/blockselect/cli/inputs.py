"""The network of a run, from a built-in data set or from files, and the record that identifies it in run.json."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from logging import INFO, Handler, getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.cli.failure import OPTION_OF, Failure, expecting_bad_input
from blockselect.cli.options import STANDARD_INPUT
from blockselect.cli.outputs import file_record
from blockselect.datasets.catalogue import find_dataset
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.inputs.files import WHOLE, read_attributed_graph, read_features, read_label_column
from blockselect.inputs.graph_files import MARKUP
from blockselect.inputs.text_files import BadFileError, format_of, read_csv_table, reading
from blockselect.rows.matrices import as_dense
from blockselect.utils.arrays import Features, ObjectArray
from blockselect.utils.errors import collected_warnings
from blockselect.utils.progress import Progress
from blockselect.utils.wording import visible

LABEL_NAMES = {"class", "classes", "label", "labels", "target", "y", "cluster", "community"}
MOST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """A network, and where it came from."""

    graph: AttributedGraph
    title: str  # of the report
    record: dict[str, Any]  # for run.json: names and hashes of the files
    built_from_features: bool = False  # nodes are linked to their nearest neighbours
    warnings: tuple[str, ...] = ()  # about the files
    notes: tuple[str, ...] = ()  # how the files were read
    labels: pd.Series[Any] | None = None  # from --label-attribute, by node id
    features_file: Path | None = None


def load_network(
    dataset: str | None,
    features: Path | None,
    graph: Path | None,
    options: Mapping[str, Any],
    *,
    n_neighbors: int | None,
    progress: Progress | None = None,
) -> NetworkInput:
    """Load the network that the options describe.

    Parameters
    ----------
    dataset, features, graph
        The values of --dataset, --features and --graph.
    options : mapping
        The given options for reading files, keyed by parameter of `read_attributed_graph`; the weight "none" gives all
        links the same weight, and `label_attribute` is the column or attribute that contains known labels.
    n_neighbors : int or None
        Number of nearest neighbours to which each node is linked if there is no graph; if None, a graph is required.
    progress : callable, optional
        Called during a download.
    """
    if ((features or graph) is None and dataset is None) or None not in (features, dataset):
        raise Failure("give either --dataset NAME or --features FILE (with --graph FILE), not both.")
    if dataset is not None:
        _refuse("--features, not with --dataset.", [*options, *(["adjacency"] if graph else [])])
        with expecting_bad_input():
            return _load_dataset(dataset, progress)
    if features is None and format_of(Path(str(graph))) not in WHOLE:
        raise Failure(
            f"--features is not given, and {graph} contains no features; name a file of features too, or one file with "
            f"both links and features ({', '.join(WHOLE)})."
        )
    if graph is None and format_of(Path(str(features))) not in MARKUP:
        _refuse("--graph, which is missing; leave out this option.", options.keys() & {"unknown_nodes", "weight"})
        if n_neighbors is None:
            raise Failure("--graph is not given; name a file of links, or link nearest neighbours with --neighbors N.")
    with expecting_bad_input(), _files(features, graph) as (source, links):
        return _load_files(source, links, options, n_neighbors)


def _refuse(company: str, parameters: Iterable[str]) -> None:
    for name in parameters:
        raise Failure(f"{OPTION_OF[name]} can only be used with {company}")


@contextmanager
def _files(features: Path | None, graph: Path | None) -> Iterator[tuple[Path, Path | None]]:
    """Yield the files of features and links, which may be the same; standard input is copied to a temporary file."""
    if features == graph == STANDARD_INPUT:
        raise Failure(
            "--features and --graph are both -, but standard input can supply only one file; name a file for the other."
        )
    with TemporaryDirectory() as folder:
        if STANDARD_INPUT in (features, graph):
            stdin = Path(folder) / "stdin.csv"
            stdin.write_bytes(sys.stdin.buffer.read())
            features, graph = (stdin if path == STANDARD_INPUT else path for path in (features, graph))
        source = features or graph
        assert source is not None
        try:
            yield source, source if graph is None and format_of(source) in MARKUP else graph
        except ValueError as error:
            if (message := str(error).replace(f"{folder}{os.sep}", "")) == str(error):
                raise
            raise ValueError(message) from error


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Collect messages about how files were read."""
    notes: list[str] = []
    log, handler = getLogger("blockselect.files"), Handler()
    handler.emit = lambda record: notes.append(record.getMessage())  # type: ignore[method-assign]
    level = log.level
    log.addHandler(handler)
    log.setLevel(INFO)
    try:
        yield notes
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def _load_dataset(name: str, progress: Progress | None) -> NetworkInput:
    """Load a built-in network; its record contains hashes of the content."""
    graph = find_dataset(name).load(progress)
    record = {
        "dataset": name,
        "features": {"sha256": hash_matrix(graph.features)},
        "graph": {"sha256": hash_matrix(graph.adjacency)},
    }
    return NetworkInput(graph, name, record)


def _load_files(source: Path, graph: Path | None, options: Mapping[str, Any], n_neighbors: int | None) -> NetworkInput:
    """Read features and links from one or two files; without a graph, link nearest neighbours."""
    settings = {**options, **({"weight": False} if options.get("weight") == "none" else {})}
    column, labels = settings.pop("label_attribute", None), None
    if column is not None:
        how = {name: settings[name] for name in ("id_column", "decimal", "header") if name in settings}
        labels = read_label_column(source, column, **how)
        settings["drop"] = [*settings.get("drop", []), column]
    with collected_warnings() as messages, collected_notes() as notes:
        if graph is None:
            network = _link_neighbours(source, settings, n_neighbors)
            links: dict[str, Any] = {"nearest_neighbours": n_neighbors}
            title = (
                f"{source.name}; no --graph: each node linked to its {n_neighbors} nearest neighbours in the features"
            )
        else:
            network = read_attributed_graph(source, graph, **settings)
            links = file_record(graph)
            title = source.name if graph == source else f"{source.name} with {graph.name}"
    given = {name: file_record(value) if isinstance(value, Path) else value for name, value in options.items()}
    return NetworkInput(
        network,
        visible(title),
        {"features": file_record(source), "graph": links, **given, **({"notes": notes} if notes else {})},
        built_from_features=graph is None,
        warnings=(*messages, *label_like_columns(network)),
        notes=tuple(notes),
        labels=labels,
        features_file=source,
    )


def _link_neighbours(path: Path, options: Mapping[str, Any], n_neighbors: int | None) -> AttributedGraph:
    """Read features, and link each node to its nearest neighbours."""
    table = read_features(path, **options)
    try:
        return check_attributed_graph(table, n_neighbors=n_neighbors)
    except (ValueError, TypeError) as error:  # TypeError: a cell that is neither a number nor text
        raise ValueError(f"{path}: {error}") from error


def hash_matrix(matrix: Features) -> str:
    """SHA-256 of the shape and the non-zero entries, the same on every machine and for dense and sparse storage."""
    csr = sparse.csr_array(matrix)
    digest = hashlib.sha256(np.array(csr.shape, dtype="<i8").tobytes())
    for part, kind in ((csr.indptr, "<i8"), (csr.indices, "<i8"), (csr.data, "<f8")):
        digest.update(part.astype(kind).tobytes())
    return digest.hexdigest()


def read_labels(path: Path) -> pd.Series[str]:
    """Read labels, by node id, from a CSV file with a header and two columns: node id and label."""
    with expecting_bad_input(), reading(path):
        table = read_csv_table(path, as_text=True)
        if table.shape[1] != 2:
            raise BadFileError(f"it has {table.shape[1]} columns; expected two: the id and the label of each node.")
        ids, labels = (table.iloc[:, column].fillna("").to_numpy(dtype=object) for column in (0, 1))
        return pd.Series(labels, index=ids)


def node_labels(network: NetworkInput, name: str, path: Path | None) -> ObjectArray:
    """The label of each node (n,), from a file, which is recorded under `name`, or from --label-attribute.

    Nodes without ids are numbered 0, 1, ….
    """
    labels, where = network.labels, "--label-attribute"
    if path is not None:
        labels, where = read_labels(path), str(path)
        network.record[name] = file_record(path)
    assert labels is not None
    ids = network.graph.node_ids
    nodes = pd.Index(range(network.graph.n_nodes) if ids is None else ids).astype(str)
    repeated = labels.index[labels.index.duplicated()].intersection(nodes)
    labels = labels[labels != ""]
    odd = {*repeated, *labels.index.symmetric_difference(nodes)}
    if odd:
        raise Failure(
            f"{where}: {len(odd)} id(s) have no label, several labels or no matching node, such as {sorted(odd)[:3]}; "
            "give exactly one row per node, with its id and its label."
        )
    return labels[nodes].to_numpy(dtype=object)


def with_classes(network: NetworkInput, path: Path | None) -> NetworkInput:
    """Add the classes of the nodes to the network, numbered in the order of their sorted names."""
    found, classes = np.unique(node_labels(network, "classes", path).astype(str), return_inverse=True)
    if len(found) < 2:
        where = path or "--label-attribute"
        raise Failure(f"{where}: all nodes belong to class {found[0].item()!r}; at least two classes are needed.")
    return replace(network, graph=replace(network.graph, classes=classes.astype(np.intp)))


def label_like_columns(graph: AttributedGraph) -> list[str]:
    """A warning for each feature that looks like a class label: it is named like one and has few distinct integers.

    Columns that are mostly zero are ignored, because "class" or "label" may also be a word that occurs in some nodes.
    """
    messages = []
    for column, name in enumerate([] if graph.feature_names is None else graph.feature_names):
        if not LABEL_NAMES & set(re.split(r"[^a-z]+", str(name).lower())):
            continue
        values = as_dense(graph.features[:, [column]])
        found = np.unique(values)
        numbered = found[0] >= 0 and np.array_equal(found, np.round(found)) and found[-1] <= 2 * len(found)
        if numbered and 2 <= len(found) <= MOST_CLASSES and 2 * np.count_nonzero(values) > graph.n_nodes:
            messages.append(
                f"the feature {str(name)!r} looks like a class label, but is treated like any other feature; "
                f"if it is one, leave it out with --drop {name}."
            )
    return messages
