"""Errors of check_attributed_graph: each states the problem, its position and a remedy."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from blockselect.inputs import check_attributed_graph

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
NAN, INF = np.nan, np.inf
BROKEN = sparse.csr_array((np.ones(1), np.array([0]), np.array([0, 1, 1, 1])), shape=(3, 3))
BROKEN.indices[0] = 10**6
FRAME = pd.DataFrame(X, index=["a", "b", "c"], columns=["x", "y"])


def _edges(*rows: tuple, weighted: bool = False) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["source", "target", "weight"][: 3 if weighted else 2])


def _with(matrix: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    changed = matrix.copy()
    changed[row, column] = value
    return changed


def _decreasing() -> sparse.csr_array:
    """A matrix without entries, in which SciPy's own check does not look at the index pointers."""
    matrix = sparse.csr_array((3, 2))
    matrix.indptr[1] = 5
    return matrix


ERRORS = {
    "adjacency not square": (X, A[:2], {}, r"shape \(2, 3\)", r"expected a square matrix"),
    "adjacency sliced by rows": (X[:2], A[:2], {}, r"shape \(2, 3\)", r"GridSearchCV.*NodeGraph\(graph\)"),
    "square frame sliced by rows": (X[:2], pd.DataFrame(A).iloc[:2], {}, r"shape \(2, 3\)", r"NodeGraph\(graph\)"),
    "graph of networkx sliced by rows": (X[:2], [nx.path_graph(3)[0], nx.path_graph(3)[1]], {},
        r"list of networkx adjacency views", r"NodeGraph\(graph\)"),
    "node count": (X, np.ones((4, 4)), {}, r"4 nodes but features has 3", r"pass a graph with one node per row"),
    "adjacency missing": (X, None, {}, r"adjacency is missing", r"nearest_neighbour_graph"),
    "adjacency one-dimensional": (X, A[0], {}, r"adjacency has 1 dimension", r"expected a matrix"),
    "adjacency a name": (X, "graph", {}, r"type str", r"read_graph"),
    "sparse one-dimensional": (sparse.coo_array(np.ones(3)), A, {},
        r"features has 1 dim", r"expected a matrix"),
    "features three-dimensional": (X[None], A, {}, r"features.*3 dimension", r"expected a matrix"),
    "features ragged": ([[1, 2], [3], [4, 5]], A, {}, r"features is not a matrix", r"every row the same number"),
    "features NaN": (_with(X, 1, 0, NAN), A, {},
        r"NaN or infinity, first at row 1, column 0", r"impute or drop"),
    "features infinite by name": (_with(X, 2, 1, INF), A, {"node_ids": "abc", "feature_names": "xy"},
        r"node 'c', feature 'y'", r"impute or drop"),
    "sparse features infinite": (sparse.csr_array(_with(X, 1, 1, INF)), A, {}, r"row 1, column 1", r"impute"),
    "weight NaN": (X, _with(A, 2, 0, NAN), {}, r"adjacency.*NaN.*from node 2 to node 0", r"fill in or drop"),
    "features negative": (_with(X, 0, 1, -1), A, {}, r"^Negative values in data.*row 0, column 1",
        r"shift them.*or wrap the selector.*SignedSelector"),
    "sparse features negative": (sparse.coo_matrix(_with(X, 0, 1, -1)), A, {"feature_names": "xy"},
        r"^Negative values in data.*row 0, feature 'y'", r"shift.*or wrap"),
    "weight negative": (FRAME, _with(A, 0, 2, -1), {},
        r"negative weight.*'a' to node 'c'", r"drop.*or take abs"),
    "no link": (X, 0 * A, {}, r"adjacency has no link", r"check how it was loaded, or build"),
    "stored zeros only": (X, sparse.csr_array(([0.0], ([0], [1])), shape=(3, 3)), {},
        r"no link", r"check how"),
    "empty edge table": (X, _edges(), {}, r"no link", r"check how"),
    "one node": (X[:1], A[:1, :1], {}, r"1 sample", r"a minimum of 2 is required"),
    "no column": (X[:, :0], A, {}, r"shape=\(3, 0\)", r"a minimum of 1 is required"),
    "all-empty features": (0 * X, A, {}, r"features has no non-zero entry", r"check how it was loaded"),
    "all-empty sparse features": (sparse.csr_array((3, 2)), A, {}, r"no non-zero entry", r"check how"),
    "features overflow": (X * 1e80, A, {}, r"3e\+80, at row 2, column 0.*overflows float64", r"divide"),
    "features underflow": (X * 1e-80, A, {}, r"underflows float64", r"divide the features by their largest"),
    "features overflow float32": (X * 1e12, A, {"dtype": np.float32},
        r"overflows float32", r"or compute in float64"),
    "integer beyond float64": ([[10**400, 1], [1, 1], [1, 1]], A, {},
        r"row 0, column 0.*float64", r"encode it"),
    "weights overflow": (X, A * 1e200, {}, r"1e\+200, at the link.*range of float64", r"divide the weights"),
    "weights underflow": (X, A * 1e-200, {}, r"1e-200.*range of float64", r"divide the weights"),
    "indices out of range": (BROKEN, A, {},
        r"features is not a valid sparse matrix \(.*< 3", r"rebuild it"),
    "index pointers that decrease": (_decreasing(), A, {},
        r"features is not a valid sparse matrix \(its index pointers decrease", r"rebuild it"),
    "adjacency indices out of range": (X, BROKEN.T, {},
        r"adjacency is not a valid sparse matrix", r"rebuild it"),
    "duplicate node ids": (X, A, {"node_ids": ["a", "b", "a"]},
        r"1 duplicate node id.*'a'", r"make each.*unique"),
    "duplicate index": (FRAME.set_axis(["a", "a", "a"]), A, {},
        r"duplicate node id.*'a'", r"make each.*unique"),
    "duplicate feature names": (X, A, {"feature_names": ["f", "f"]},
        r"duplicate feature name.*'f'", r"unique"),
    "too few ids": (X, A, {"node_ids": ["a"]}, r"1 node ids but features has 3 rows", r"one for each row"),
    "missing id": (X, A, {"node_ids": ["a", None, "c"]}, r"row 1 has no node id", r"give each row"),
    "classes too short": (X, A, {"classes": [1]}, r"classes has shape \(1,\)", r"one class per node"),
    "classes of text": (X, A, {"classes": list("abc")}, r"such as 'a'; expected integers", r"np\.unique"),
    "complex features": (X + 0j, A, {}, r"Complex data not supported: features", r"pass real numbers"),
    "features of text": (X.astype(str), A, {}, r"features is of type <U", r"encode it as numbers"),
    "features of dates": (X.astype("M8[s]"), A, {}, r"features is of type datetime", r"encode it as numbers"),
    "a word among features": (FRAME.assign(z=["1", "2", "red"]), A, {},
        r"'red' at row 'c', column 'z'", r"encode it"),
    "unknown node": (X, _edges((0, 7), (1, 9)), {}, r"2 node\(s\).*no row in features.*\[7, 9\]",
        r"row numbers 0 to 2.*Add their rows, drop these edges"),
    "unknown node by id": (FRAME, _edges(("a", "z")), {},
        r"\['z'\]", r"ids such as \['a', 'b', 'c'\].*same ids"),
    "number for text": (FRAME.set_axis(["1", "2", "3"]), _edges((1, 2)), {},
        r"example \[1, 2\]", r"1 and '1' differ"),
    "edge without end": (FRAME, _edges(("a", "b"), ("c", None)), {},
        r"edge 1, .* no target", r"drop the edge"),
    "edge weight of text": (X, _edges((0, 1, "much"), weighted=True), {},
        r"from 0 to 1.*'much'", r"correct these"),
    "edge weight missing": (X, _edges((0, 1, None), weighted=True), {}, r"from 0 to 1", r"drop these edges"),
    "edge weight infinite": (X, _edges((0, 1, INF), weighted=True), {},
        r"not a finite number.*inf", r"correct these"),
    "negative edge hidden in a sum": (X, _edges((0, 1, 3), (0, 1, -1), weighted=True), {},
        r"≥ 0.*-1", r"drop these"),
    "edge weight a date": (X, _edges((0, 1, pd.Timestamp(0)), weighted=True), {},
        r"'weight' is of type", r"encode"),
    "edge columns": (X, pd.DataFrame([[0, 1, 2, 3]]), {},
        r"needs the columns source, target", r"Rename them"),
    "square frame of other nodes": (FRAME, pd.DataFrame(A, list("abz"), list("abz")), {},
        r"2 node\(s\) are in only one.*\['c', 'z'\]", r"use the same ids in both"),
    "square frame of more nodes": (FRAME, pd.DataFrame(1, list("abcd"), list("abcd")), {},
        r"\['d'\]", r"same ids"),
    "square frame with duplicates": (FRAME, pd.DataFrame(A, list("aab"), list("aab")), {},
        r"duplicate node id.*'a'", r"make each.*unique"),
}  # fmt: skip


@pytest.mark.parametrize(("features", "adjacency", "names", "problem", "fix"), ERRORS.values(), ids=ERRORS.keys())
def test_each_error_names_the_problem_and_the_fix(features, adjacency, names, problem, fix):
    with pytest.raises(ValueError, match=rf"(?s){problem}.*{fix}"):
        check_attributed_graph(features, adjacency, **names)
