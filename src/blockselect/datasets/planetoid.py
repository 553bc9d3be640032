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
_REPLACE = "replace it by the published file."
PARTS = ("allx", "ally", "tx", "ty", "graph", "test.index")


def planetoid_source(dataset: str, name: str, files: Mapping[str, tuple[int, str]]) -> Source:
    """The files of the network that Planetoid calls `name`, given the size and SHA-256 of each part."""
    return Source(dataset, BASE_URL, tuple(PinnedFile(f"ind.{name}.{part}", *files[part]) for part in PARTS))


def fetch_planetoid(name: str, source: Source, counts: NetworkCounts, progress: Progress | None) -> AttributedGraph:
    """A network from its published files, with exactly these counts."""
    return check_counts(source.dataset, read_planetoid(name, fetch_contents(source, progress)), counts)


def read_planetoid(name: str, contents: Mapping[str, bytes]) -> AttributedGraph:
    """The network in the files ``ind.<name>.<part>``.

    Nodes stand in Planetoid's order: those of `allx`, then the test nodes by their number. Numbers that the
    test index leaves out have no features: they are no node here, and their links are dropped. ``node_ids``
    are the numbers, and features are called ``word_0``, ``word_1``, ….
    """
    files = {part: (f"ind.{name}.{part}", contents[f"ind.{name}.{part}"]) for part in PARTS}
    first, first_classes = _matrix(*files["allx"]), _classes(*files["ally"])
    test, test_classes = _matrix(*files["tx"]), _classes(*files["ty"])
    index = _test_index(*files["test.index"], n_before=first.shape[0])
    rows = (first.shape[0], test.shape[0], test.shape[0], test.shape[1])
    expected = (len(first_classes), len(test_classes), len(index), first.shape[1])
    if rows != expected:
        raise ValueError(
            f"the files of {name} do not fit together: allx has {rows[0]} rows for the {expected[0]} of ally, tx has "
            f"{rows[1]} for the {expected[1]} of ty and the {expected[2]} of test.index, and {rows[3]} columns for "
            f"the {expected[3]} of allx; take all files from one source."
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
        raise ValueError(f"{name} holds {_kind(matrix)}; expected a sparse matrix of float32: {_REPLACE}")
    return matrix


def _classes(name: str, content: bytes) -> IntArray:
    """The class of each node, from one row a node with a single 1."""
    table: NDArray[Any] = unpickle(content, name)
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        raise ValueError(f"{name} holds {_kind(table)}; expected an array with a row for each node: {_REPLACE}")
    if not (np.isin(table, (0, 1)).all() and (table.sum(axis=1) == 1).all()):
        wrong = int(np.argmax(~np.isin(table, (0, 1)).all(axis=1) | (table.sum(axis=1) != 1)))
        raise ValueError(
            f"{name} gives some node no class, or several, first in row {wrong}; expected a single 1 in each row: "
            f"{_REPLACE}"
        )
    classes: IntArray = table.argmax(axis=1)
    return classes


def _test_index(name: str, content: bytes, *, n_before: int) -> IntArray:
    """The number of each test node: they follow the nodes before them, in any order and with gaps."""
    try:
        index = np.array([int(line) for line in content.split()], dtype=np.intp)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} does not hold one number a line ({error}): {_REPLACE}") from error
    if not len(index) or index.min() < n_before or len(np.unique(index)) != len(index):
        raise ValueError(
            f"{name} holds no number, a number twice, or one below {n_before}, the first test node: {_REPLACE}"
        )
    return index


def _adjacency(name: str, content: bytes, numbers: IntArray) -> Sparse:
    """Links between the nodes with these numbers, which rise; the file repeats some, which counts once."""
    links = unpickle(content, name)
    if not isinstance(links, dict) or not all(_is_list_of_numbers(near) for near in (list(links), *links.values())):
        raise ValueError(f"{name} holds {_kind(links)}; expected a dict of lists of node numbers: {_REPLACE}")
    highest = max((number for near in (links, *links.values()) for number in near), default=-1)
    if highest > numbers[-1]:
        raise ValueError(f"{name} links node {highest}, but the last node has the number {numbers[-1]}: {_REPLACE}")
    source = np.repeat(np.fromiter(links, np.intp), [len(near) for near in links.values()])
    target = np.fromiter((number for near in links.values() for number in near), np.intp)
    ends = np.stack([source, target])
    rows = np.searchsorted(numbers, ends)
    kept = rows[:, (numbers[rows] == ends).all(axis=0)]
    adjacency = coo_array((np.ones(kept.shape[1]), tuple(kept)), shape=(len(numbers), len(numbers))).tocsr()
    adjacency.data[:] = 1.0
    return adjacency


def _is_list_of_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)


def _kind(value: object) -> str:
    return f"{value.dtype} {type(value).__name__}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
