"""The nearest-neighbour graph of the features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.inputs import nearest_neighbour_graph


def _features(seed: int, n_nodes: int = 15, n_features: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).random((n_nodes, n_features))


@given(seed=st.integers(0, 10**6), n_neighbors=st.integers(1, 14))
def test_nodes_are_linked_if_either_is_a_nearest_neighbour_of_the_other(seed, n_neighbors):
    features = _features(seed)
    rows = features / np.linalg.norm(features, axis=1, keepdims=True)
    cosine = rows @ rows.T
    np.fill_diagonal(cosine, -1)
    nearest = np.argsort(-cosine, axis=1)[:, :n_neighbors]
    expected = np.zeros((15, 15))
    np.put_along_axis(expected, nearest, 1, axis=1)
    assert_array_equal(nearest_neighbour_graph(features, n_neighbors).toarray(), np.maximum(expected, expected.T))


@given(seed=st.integers(0, 10**6))
def test_reordering_the_nodes_reorders_the_graph(seed):
    features, order = _features(seed), np.random.default_rng(seed).permutation(15)
    graph, reordered = nearest_neighbour_graph(features, 4), nearest_neighbour_graph(features[order], 4)
    assert_array_equal(reordered.toarray(), graph.toarray()[np.ix_(order, order)])


def test_sparse_features_give_the_same_graph_and_stay_as_they_are():
    features = _features(0) * (_features(1) < 0.5)
    csr = sparse.csr_array(features)
    before = csr.copy()
    assert_array_equal(nearest_neighbour_graph(csr, 3).toarray(), nearest_neighbour_graph(features, 3).toarray())
    assert_array_equal(csr.toarray(), before.toarray())


def test_more_neighbours_than_nodes_link_all_nodes():
    assert_array_equal(nearest_neighbour_graph(_features(0, 4), 10).toarray(), 1 - np.eye(4))


def test_nodes_that_share_no_feature_are_not_linked():
    features = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    expected = np.zeros((4, 4))
    expected[[0, 1], [1, 0]] = 1
    assert_array_equal(nearest_neighbour_graph(features, 2).toarray(), expected)


def test_equal_rows_are_neighbours_with_another_metric():
    features = np.array([[0.0, 5.0], [0.0, 5.0], [90.0, 0.0]])
    graph = nearest_neighbour_graph(features, 1, metric="euclidean")
    assert graph[0, 1] == 1
    assert graph.toarray()[2].sum() == 1


@pytest.mark.parametrize(
    ("features", "n_neighbors", "message"),
    [
        (np.ones((1, 2)), 3, r"1 row\(s\).*pass one row per node"),
        (np.ones((3, 2)), 0, r"n_neighbors is 0; expected a whole number, at least 1"),
        (np.eye(3), 2, r"no two nodes share a feature.*pass an adjacency"),
    ],
)
def test_errors_name_the_problem_and_the_fix(features, n_neighbors, message):
    with pytest.raises(ValueError, match=message):
        nearest_neighbour_graph(features, n_neighbors)
