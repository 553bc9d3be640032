"""Edge tables and named matrices: how each row contributes to the adjacency matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from blockselect.inputs import as_adjacency, check_attributed_graph

N = 5
ends = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1))
weighted_edges = st.lists(st.tuples(ends, st.integers(0, 4)), min_size=1, max_size=15)


def _table(edges: list[tuple[tuple[int, int], int]]) -> pd.DataFrame:
    return pd.DataFrame([(*pair, weight) for pair, weight in edges], columns=["source", "target", "weight"])


@given(edges=weighted_edges)
def test_weights_of_the_same_edge_add_up(edges):
    expected = np.zeros((N, N))
    for (source, target), weight in edges:
        expected[source, target] += weight
    assert_array_equal(as_adjacency(_table(edges), nodes=N).toarray(), expected)


@given(edges=weighted_edges)
def test_the_same_edge_counts_once_without_weights(edges):
    expected = np.zeros((N, N))
    for (source, target), _ in edges:
        expected[source, target] = 1
    table = _table(edges)[["source", "target"]]
    assert_array_equal(as_adjacency(table, nodes=N).toarray(), expected)


@given(edges=weighted_edges, data=st.data())
def test_the_order_of_the_edges_does_not_matter(edges, data):
    shuffled = data.draw(st.permutations(edges))
    first, second = as_adjacency(_table(edges), nodes=N), as_adjacency(_table(shuffled), nodes=N)
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(first, part), getattr(second, part))


@given(edges=weighted_edges, order=st.permutations(range(N)))
def test_ids_in_any_order_lead_to_the_same_links(edges, order):
    by_row = as_adjacency(_table(edges), nodes=N).toarray()
    ids = np.array([f"n{i}" for i in range(N)], dtype=object)
    named = _table(edges).assign(source=lambda t: ids[t["source"]], target=lambda t: ids[t["target"]])
    by_id = as_adjacency(named, nodes=ids[list(order)]).toarray()
    assert_array_equal(by_id, by_row[np.ix_(order, order)])


def test_the_callers_table_is_not_changed():
    table = pd.DataFrame({"source": [0, 0], "target": [1, 1], "weight": ["2", "3"]})
    before = table.copy(deep=True)
    assert as_adjacency(table, nodes=N)[0, 1] == 5
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize("ids", [[10, 20], ["10", "20"], [("a", 1), ("a", 2)], [1.5, 2.5]])
def test_ids_may_be_numbers_text_or_tuples(ids):
    edges = pd.DataFrame({"source": [ids[0]], "target": [ids[1]]})
    graph = check_attributed_graph(np.eye(2), edges, node_ids=ids)
    assert_array_equal(graph.adjacency.toarray(), [[0, 1], [1, 0]])


def test_a_square_frame_is_aligned_by_its_names():
    features = pd.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "c"])
    weights = pd.DataFrame([[0, 5, 0], [0, 0, 0], [0, 0, 0]], index=["c", "a", "b"], columns=["a", "b", "c"])
    adjacency = check_attributed_graph(features, weights).adjacency
    assert adjacency[2, 1] == adjacency[1, 2] == 5  # the row c, the column b
    assert adjacency.nnz == 2


def test_a_square_frame_alone_keeps_the_order_of_its_rows():
    weights = pd.DataFrame([[0, 5], [0, 0]], index=["b", "a"], columns=["a", "b"])
    assert_array_equal(as_adjacency(weights).toarray(), [[5, 0], [0, 0]])


def test_float32_weights_become_float64():
    assert as_adjacency(np.ones((2, 2), dtype=np.float32)).dtype == np.float64


def test_weight_false_gives_all_links_of_a_matrix_weight_1():
    weights = np.array([[0, 2.5], [0.5, 0]])
    assert_array_equal(as_adjacency(weights, weight=False).toarray(), weights > 0)
    assert_array_equal(as_adjacency(weights).toarray(), weights)
    assert weights[0, 1] == 2.5
