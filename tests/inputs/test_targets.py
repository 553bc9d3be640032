"""A graph passed by position becomes y, which is ignored: values that look like a graph are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from blockselect import BlockModelSelector, make_selector

N = 6
X = np.arange(2.0 * N).reshape(N, 2)
A = np.ones((N, N), dtype=int) - np.eye(N, dtype=int)
PAIRS = np.argwhere(np.triu(A))


class LooksLikeGraph:
    """With an attribute of graphs of networkx, igraph or PyTorch Geometric."""

    def __init__(self, attribute):
        setattr(self, attribute, ())


GRAPHS = {
    "sparse": sparse.csr_array(A),
    "dense": A,
    "square list": A.tolist(),
    "square frame": pd.DataFrame(A),
    "edge table": pd.DataFrame(PAIRS, columns=["from", "to"]),
    "list of pairs": PAIRS.tolist(),
    "array (2, E)": PAIRS.T,
    "dict of neighbours": {0: [1], 1: [0]},
    "networkx": LooksLikeGraph("edges"),
    "igraph": LooksLikeGraph("es"),
    "PyTorch Geometric": LooksLikeGraph("edge_index"),
    "AnnData": LooksLikeGraph("obsp"),
}
TARGETS = {
    "numbers": np.arange(N),
    "list": [0, 1] * (N // 2),
    "names": list("ababab"),
    "column": np.arange(N)[:, None],
    "two targets": np.zeros((N, 2)),
    "three targets": np.arange(3 * N).reshape(N, 3),
    "two classes": np.array([[0, 1]] * N),
    "series": pd.Series(range(N)),
    "frame": pd.DataFrame({"a": range(N)}),
}


@pytest.mark.parametrize("y", GRAPHS.values(), ids=GRAPHS.keys())
def test_graphs_are_refused_with_the_way_to_pass_them(y):
    for selector in (BlockModelSelector(1), make_selector("bmgufs", 1, n_blocks=2), make_selector("morans-i", 1)):
        with pytest.raises(ValueError, match=r"^y is .*pass it by name: fit\(X, adjacency=graph\)"):
            selector.fit(np.eye(N), y)
    with pytest.raises(ValueError, match=r"fit\(X, affinity=graph\)"):
        make_selector("laplacian-score", 1).fit(np.eye(N), y)


@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS.keys())
def test_targets_are_ignored(y):
    make_selector("variance", 1).fit(X, y)


class ArrayLike:
    """Has no length, like arrays of some libraries before they are computed."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_objects_that_become_arrays_are_checked_as_arrays():
    make_selector("variance", 1).fit(X, ArrayLike(np.arange(N)))
    with pytest.raises(ValueError, match="If it is a graph, pass it by name"):
        make_selector("variance", 1).fit(X, ArrayLike(np.eye(N)))
