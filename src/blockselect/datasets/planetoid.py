"""Networks as the Planetoid files hold them: most nodes in `allx`, the test nodes, shuffled, in `tx`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from blockselect.arrays import IntArray, Sparse
from blockselect.datasets.counts import NetworkCounts, check_counts
from blockselect.datasets.download import PinnedFile, Progress, Source, fetch_contents
from blockselect.datasets.planetoid_pickle import unpickle
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph

BASE_URL = "https://raw.githubusercontent.com/tkipf/gcn/39a4089fe72ad9f055ed6fdb9746abdcfebc4d81/gcn/data/"
PARTS = ("allx", "ally", "tx", "ty", "graph", "test.index")


def planetoid_source(dataset: str, name: str, files: Mapping[str, tuple[int, str]]) -> Source:
    """The files of one network, given the size and SHA-256 of each part."""
    pinned = tuple(PinnedFile(f"ind.{name}.{part}", *files[part]) for part in PARTS)
    return Source(dataset, BASE_URL, pinned)


def fetch_planetoid(source: Source, counts: NetworkCounts, progress: Progress | None) -> AttributedGraph:
    """A network from its published files, with exactly these counts."""
    return check_counts(source.dataset, read_planetoid(fetch_contents(source, progress)), counts)


def read_planetoid(contents: Mapping[str, bytes]) -> AttributedGraph:
    """The network in the six files, given by name.

    Nodes stand in Planetoid's order: those of `allx`, then the test nodes by their number. Numbers that the
    test index leaves out have no features: they are no node here, and their links are dropped. ``node_ids``
    are the numbers, and features are called ``word_0``, ``word_1``, ….
    """
    files = {part: (name, content) for part in PARTS for name, content in contents.items() if name.endswith(f".{part}")}
    first, first_classes = _matrix(*files["allx"]), _classes(*files["ally"])
    test, test_classes = _matrix(*files["tx"]), _classes(*files["ty"])
    index = _test_index(*files["test.index"], n_before=first.shape[0])
    sizes = {"allx": first.shape[0], "tx": test.shape[0], "tx columns": test.shape[1]}
    expected = {"allx": len(first_classes), "tx": len(test_classes), "tx columns": first.shape[1]}
    if sizes != expected or len(index) != test.shape[0]:
        raise ValueError(
            f"{files['allx'][0]} and its sister files do not fit together: {sizes} but {expected} expected by the "
            f"classes and columns, and {len(index)} test nodes; take all of them from one source."
        )
    order = np.argsort(index)
    numbers = np.concatenate([np.arange(first.shape[0]), index[order]])
    features = csr_array(vstack([first, test[order]]))
    return check_attributed_graph(
        features.astype(np.float64),
        _adjacency(*files["graph"], numbers),
        node_ids=numbers,
        feature_names=[f"word_{column}" for column in range(features.shape[1])],
        classes=np.concatenate([first_classes, test_classes[order]]),
    )


def _matrix(name: str, content: bytes) -> Sparse:
    matrix = unpickle(content, name)
    if not isinstance(matrix, csr_array) or matrix.dtype != np.float32:
        raise ValueError(f"{name} holds {_kind(matrix)}; expected a sparse matrix of float32.")
    return matrix


def _classes(name: str, content: bytes) -> IntArray:
    """The class of each node, from one row a node with a single 1."""
    table: NDArray[Any] = unpickle(content, name)
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        raise ValueError(f"{name} holds {_kind(table)}; expected an array with a row for each node.")
    if not (np.isin(table, (0, 1)).all() and (table.sum(axis=1) == 1).all()):
        raise ValueError(f"{name} gives some node no class, or several; expected a single 1 in each row.")
    return table.argmax(axis=1)


def _test_index(name: str, content: bytes, *, n_before: int) -> IntArray:
    """The number of each test node: they follow the nodes before them, in any order and with gaps."""
    try:
        index = np.array([int(line) for line in content.split()], dtype=np.intp)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} does not hold one number a line ({error}).") from error
    if not len(index) or index.min() < n_before or len(np.unique(index)) != len(index):
        raise ValueError(f"{name} holds no number, a number twice, or one below {n_before}, the first test node.")
    return index


def _adjacency(name: str, content: bytes, numbers: IntArray) -> Sparse:
    """Links between the nodes with these numbers; the file repeats some, which counts once."""
    links = unpickle(content, name)
    if not isinstance(links, dict) or not all(_is_list_of_numbers(near) for near in (list(links), *links.values())):
        raise ValueError(f"{name} holds {_kind(links)}; expected a dict of lists of node numbers.")
    n_numbers = int(numbers.max()) + 1
    highest = max((number for near in (links, *links.values()) for number in near), default=-1)
    if highest >= n_numbers:
        raise ValueError(f"{name} links node {highest}, but there are {n_numbers} nodes.")
    position = np.full(n_numbers, -1)
    position[numbers] = np.arange(len(numbers))
    source = position[np.repeat(np.fromiter(links, np.intp), [len(near) for near in links.values()])]
    target = position[np.fromiter((number for near in links.values() for number in near), np.intp)]
    kept = (source >= 0) & (target >= 0)
    shape = (len(numbers), len(numbers))
    adjacency = coo_array((np.ones(kept.sum()), (source[kept], target[kept])), shape=shape).tocsr()
    adjacency.data[:] = 1.0
    return adjacency


def _is_list_of_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)


def _kind(value: object) -> str:
    return f"{value.dtype} {type(value).__name__}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
