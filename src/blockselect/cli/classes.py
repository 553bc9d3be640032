"""Known classes of nodes, from a CSV file that names each node by its id."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from blockselect.arrays import IntArray
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.text_files import read_csv_table, reading

SHOWN = 3  # examples of offending ids


def read_classes(path: Path, graph: AttributedGraph) -> IntArray:
    """The class of each node, numbered in the order of the sorted names. (n,)

    Parameters
    ----------
    path : path
        A header, and one row a node: its id, its class. Nodes without ids are the row numbers 0, 1, ….
    graph : AttributedGraph
        The network of these nodes.
    """
    with reading(path):
        table = read_csv_table(path, as_text=True)
    if table.shape[1] != 2:
        raise ValueError(f"{path} has {table.shape[1]} columns; expected two, the id and the class of each node.")
    ids, names = (table.iloc[:, column].str.strip().tolist() for column in (0, 1))
    nodes = [str(node) for node in (range(graph.n_nodes) if graph.node_ids is None else graph.node_ids)]
    class_of = dict(zip(ids, names, strict=True))
    _refuse(path, "id(s) have more than one row", [node for node, n_rows in Counter(ids).items() if n_rows > 1])
    _refuse(path, "node(s) have no class", [node for node in nodes if not class_of.get(node)])
    _refuse(path, "id(s) are no node of the network", sorted(class_of.keys() - set(nodes)))
    found, classes = np.unique([class_of[node] for node in nodes], return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"{path}: every node is of class {found[0].item()!r}; at least two classes are needed.")
    return classes.astype(np.intp)


def _refuse(path: Path, what: str, offenders: list[str]) -> None:
    if offenders:
        raise ValueError(
            f"{path}: {len(offenders)} {what}, for example {offenders[:SHOWN]}; "
            "give each node one row: its id, its class."
        )
