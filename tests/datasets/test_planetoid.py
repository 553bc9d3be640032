"""The six files of a network become one graph in Planetoid's order, or are refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.datasets.planetoid import read_planetoid
from references import python2_pickles as py2

# Nodes 0 to 2, then the test nodes 6, 3 and 5 in this order; the number 4 is left out.
FIRST = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]])
TEST = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1]])
LINKS = {0: [1, 1, 3], 1: [0, 2], 2: [1, 2], 3: [0, 4], 4: [3, 6], 5: [6], 6: [5, 4]}


def one_hot(*classes):
    return py2.pickled(py2.array(np.eye(3, dtype="i4")[list(classes)]))


def matrix(values):
    return py2.pickled(py2.csr(sparse.csr_array(values)))


def files(**changed):
    contents = {
        "allx": matrix(FIRST),
        "ally": one_hot(0, 1, 1),
        "tx": matrix(TEST),
        "ty": one_hot(2, 0, 1),
        "graph": py2.pickled(py2.lists(LINKS)),
        "test_index": b"6\n3\n5\n",
        **changed,
    }
    return {f"ind.toy.{part.replace('_', '.')}": content for part, content in contents.items()}


def test_test_nodes_follow_in_the_order_of_their_numbers():
    graph = read_planetoid("toy", files())
    assert graph.node_ids.tolist() == [0, 1, 2, 3, 5, 6]
    assert_array_equal(graph.features.toarray(), np.vstack([FIRST, TEST[[1, 2, 0]]]))
    assert graph.classes.tolist() == [0, 1, 1, 0, 1, 2]
    assert graph.feature_names.tolist() == ["word_0", "word_1", "word_2", "word_3"]


def test_links_count_once_and_those_of_numbers_left_out_are_dropped():
    graph = read_planetoid("toy", files())
    ends = sparse.triu(graph.adjacency).tocoo()
    assert set(zip(ends.row.tolist(), ends.col.tolist(), strict=True)) == {(0, 1), (0, 3), (1, 2), (2, 2), (4, 5)}
    assert set(graph.adjacency.data) == {1.0}
    assert (graph.n_links, graph.n_self_loops) == (5, 1)


def test_values_are_float64_as_in_other_networks():
    graph = read_planetoid("toy", files())
    assert graph.features.dtype == graph.adjacency.dtype == np.float64


ARRAY = py2.pickled(py2.array(np.zeros(3, "i4")))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"allx": ARRAY}, r"ind\.toy\.allx holds int32 ndarray; expected a sparse matrix of float32"),
        ({"tx": py2.pickled(py2.lists({}))}, r"ind\.toy\.tx holds a PickledLists; expected a sparse matrix"),
        ({"allx": matrix(-FIRST)}, "features are negative"),
        ({"ally": ARRAY}, r"ind\.toy\.ally holds int32 ndarray; expected an array with a row for each node"),
        ({"ally": matrix(FIRST)}, r"ind\.toy\.ally holds a csr_array; expected an array"),
        ({"ty": py2.pickled(py2.array(np.ones((3, 3), "i4")))}, r"ind\.toy\.ty gives some node no class, or several"),
        ({"ty": py2.pickled(py2.array(np.diag([1, 1, 2]).astype("i4")))}, "no class, or several"),
        ({"ally": one_hot(0, 1)}, "allx has 3 rows for the 2 of ally"),
        ({"tx": matrix(TEST[:2])}, "tx has 2 for the 3 of ty"),
        ({"tx": matrix(TEST[:, :3])}, "3 columns for the 4 of allx"),
        ({"test_index": b"6\n3\n"}, "tx has 3 for the 3 of ty and the 2 of test.index"),
        ({"test_index": b"6\n3\nx"}, r"ind\.toy\.test\.index does not hold one number a line"),
        ({"test_index": b"6 3 " + b"9" * 30}, r"ind\.toy\.test\.index does not hold one number a line"),
        ({"test_index": b""}, r"ind\.toy\.test\.index holds no number"),
        ({"test_index": b"6\n3\n3"}, "a number twice"),
        ({"test_index": b"6\n3\n2"}, "one below 3, the first test node"),
        ({"graph": ARRAY}, r"ind\.toy\.graph holds int32 ndarray; expected a dict of lists of node numbers"),
        ({"graph": py2.pickled(py2.lists({**LINKS, 6: [7]}))}, "links node 7, but the last node has the number 6"),
        ({"graph": py2.pickled(py2.lists({**LINKS, 6: [-1]}))}, "expected a dict of lists of node numbers"),
        ({"graph": py2.pickled(py2.dict_of({"0": py2.list_of(py2.number(1))}))}, "expected a dict of lists"),
        ({"graph": py2.pickled(py2.call(py2.name("os", "system"), py2.text("true")))}, "it names 'os.system'"),
    ],
)
def test_files_that_are_no_network_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        read_planetoid("toy", files(**changed))
