"""Nearest neighbours depend only on the values of the features, and ties on the order of nodes."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import load_cora
from blockselect.graphs.affinity import neighbour_affinity
from blockselect.graphs.neighbours import nearest_others
from blockselect.inputs import nearest_neighbour_graph
from blockselect.rows.matrices import as_plain_csr

STORAGES = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "int": lambda X: X.astype(np.int64),
    "Fortran": np.asfortranarray,
    "CSR": sparse.csr_array,
    "CSR, float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "CSC": sparse.csc_array,
    "COO": sparse.coo_array,
}


def tied_counts(seed, n=30, m=4):
    """Small integers: most distances occur many times, and some rows are equal or empty."""
    return np.random.default_rng(seed).integers(3, size=(n, m)).astype(float)


def first_of_the_nearest(X, k):
    """In exact arithmetic, ordered by squared distance and then by index."""
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    return np.sort(np.argsort(squared, axis=1, kind="stable")[:, :k], axis=1)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 29))
def test_ties_are_broken_by_the_order_of_nodes(seed, k):
    X = tied_counts(seed)
    near = nearest_others(as_plain_csr(X), k)
    expected = first_of_the_nearest(X, k)
    assert_array_equal(near.indices.reshape(30, k), expected)
    assert_allclose(near.data.reshape(30, k) ** 2, ((X[:, None] - X[expected]) ** 2).sum(axis=2), rtol=1e-14)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("storage", STORAGES)
@given(seed=st.integers(0, 10**6))
def test_neighbours_do_not_depend_on_storage_or_type(metric, storage, seed):
    X = tied_counts(seed)
    graph = nearest_neighbour_graph(X, 4, metric=metric)
    assert (graph != nearest_neighbour_graph(STORAGES[storage](X), 4, metric=metric)).nnz == 0


@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
@given(seed=st.integers(0, 10**6))
def test_affinities_are_identical_for_all_storages(weights, seed):
    X = tied_counts(seed)
    affinity = neighbour_affinity(X, 4, weights=weights, width="mean").toarray()
    for features in (sparse.csr_array(X), X.astype(np.float32)):
        assert_array_equal(neighbour_affinity(features, 4, weights=weights, width="mean").toarray(), affinity)


@given(seed=st.integers(0, 10**6))
def test_rounding_does_not_break_ties(seed):
    X, columns = tied_counts(seed), np.random.default_rng(seed).permutation(4)
    expected = nearest_others(as_plain_csr(X), 4).indices
    for scale in (1 / 3, 1e-7, 0.7e9):
        assert_array_equal(nearest_others(as_plain_csr((scale * X)[:, columns]), 4).indices, expected)


def test_parallel_rows_have_tied_cosine_distances():
    direction = np.array([1.0, 2.0, 7.0])
    X = np.vstack([np.outer([3, 1, 10, 0.1, 7, 1 / 3], direction), [[7.0, 0.0, 1.0]]])
    graph = nearest_neighbour_graph(X, 2).toarray()
    expected = np.zeros((7, 7))
    expected[[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6], [1, 2, 0, 2, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]] = 1
    assert_array_equal(graph, np.maximum(expected, expected.T))


def test_small_distances_far_from_the_origin_are_exact():
    """Inner products would lose them: squared lengths are 1e18, squared distances 1 to 400."""
    X = 1e9 + np.array([[0.0], [1.0], [3.0], [7.0], [12.0], [20.0]]) * np.ones((1, 3))
    assert_array_equal(nearest_others(as_plain_csr(X), 1).indices, [1, 0, 1, 2, 3, 4])


def test_the_number_of_nodes_processed_together_does_not_matter():
    X = tied_counts(0, n=200)
    expected = nearest_others(as_plain_csr(X), 5)
    assert_array_equal(expected.indices.reshape(200, 5), first_of_the_nearest(X, 5))
    for pairs, memory in ((1, 1024), (500, 1024), (2**22, 1e-3)):
        with sklearn.config_context(working_memory=memory):
            found = nearest_others(as_plain_csr(X), 5, pairs_at_once=pairs)
        assert_array_equal(found.indices, expected.indices)
        assert_array_equal(found.data, expected.data)


def test_cora_gives_the_same_graph_from_both_storages():
    words = load_cora().features
    assert (nearest_neighbour_graph(words) != nearest_neighbour_graph(words.toarray())).nnz == 0
    sparse_words, dense_words = (neighbour_affinity(X, 5, width="mean") for X in (words, words.toarray()))
    assert (sparse_words != dense_words).nnz == 0
