"""Affinities between nodes, from nearest neighbours or all pairs, and affinities given by the user."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import golden_arrays
from blockselect.graphs.affinity import BLOCK_SIZE, neighbour_affinity, radial_affinity
from blockselect.inputs.adjacency import check_affinity
from references import laplacian as reference
from references import spec as spec_reference


def draw(seed, n=20, m=6):
    return np.random.default_rng(seed).random((n, m))


@pytest.mark.filterwarnings(r"ignore:\d+ of \d+ nodes have next to no heat affinity:UserWarning")
@given(seed=st.integers(0, 10**6), n_neighbors=st.integers(1, 19), width=st.floats(0.1, 10))
def test_heat_weights_equal_the_reference_in_either_direction(seed, n_neighbors, width):
    X = draw(seed)
    expected = reference.neighbour_affinity(X, n_neighbors, reference.heat(width))
    assert_allclose(neighbour_affinity(X, n_neighbors, width=width).toarray(), expected, rtol=1e-9, atol=1e-300)


@given(seed=st.integers(0, 10**6), n_neighbors=st.integers(1, 19))
def test_binary_weights_are_one(seed, n_neighbors):
    X = draw(seed)
    expected = reference.neighbour_affinity(X, n_neighbors, lambda distance: 1)
    assert_array_equal(neighbour_affinity(X, n_neighbors, weights="binary").toarray(), expected)


@given(seed=st.integers(0, 10**6))
def test_cosine_weights_are_the_positive_cosines_of_the_rows(seed):
    X = draw(seed) - 0.5
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = np.maximum(unit @ unit.T, 0)
    assert_allclose(neighbour_affinity(X, 19, weights="cosine").toarray(), expected, atol=1e-12)
    few = neighbour_affinity(X, 4, weights="cosine").toarray()
    chosen = reference.neighbour_affinity(unit, 4, lambda distance: 1) > 0
    assert_allclose(few, np.where(chosen, expected, 0), atol=1e-12)


def test_a_row_of_zeros_has_no_cosine_with_any_other():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [2.0, 1.0]])
    expected = np.eye(4)
    expected[2, 3] = expected[3, 2] = 0.8
    assert_allclose(neighbour_affinity(X, 3, weights="cosine").toarray(), expected, atol=1e-12)


@pytest.mark.filterwarnings(r"ignore:\d+ of \d+ nodes have next to no heat affinity:UserWarning")
@pytest.mark.parametrize(("network", "heat"), [("cora", True), ("cora", False), ("citeseer", True)])
def test_published_affinities_are_reproduced_except_ties_at_the_fifth_neighbour(network, heat):
    X = golden_arrays.network(network).features
    published = golden_arrays.affinity(network, binary=not heat).toarray()
    ours = neighbour_affinity(X, 5, weights="heat" if heat else "binary", width=1.0).toarray()
    sizes = X.sum(axis=1)
    squared = sizes[:, None] + sizes - 2 * (X @ X.T).toarray()  # exact, because the features are 0 and 1
    np.fill_diagonal(squared, np.inf)
    fifth = np.partition(squared, 4, axis=1)[:, 4]
    weight = np.exp(-squared / 2) if heat else np.ones_like(squared)
    sure = (squared < fifth[:, None]) | (squared < fifth)
    tied = ~sure & ((squared == fifth[:, None]) | (squared == fifth))
    np.fill_diagonal(sure, True)
    np.fill_diagonal(weight, 1)
    for affinity in (published, ours):
        assert_allclose(affinity[sure], weight[sure], rtol=1e-12)
        assert not affinity[~sure & ~tied].any()
        at_tie = affinity[tied]
        assert_allclose(at_tie[at_tie > 0], weight[tied][at_tie > 0], rtol=1e-12)


def test_mean_width_is_the_mean_distance_to_the_neighbours():
    X = draw(3)
    d = reference.distances(X) + np.diag(np.full(20, np.inf))
    mean = np.sort(d, axis=1)[:, :4].mean()
    expected = reference.neighbour_affinity(X, 4, reference.heat(mean))
    assert_allclose(neighbour_affinity(X, 4, width="mean").toarray(), expected, rtol=1e-9)


def test_more_neighbours_than_nodes_means_all_nodes():
    assert_array_equal(neighbour_affinity(draw(0, 4), 10, weights="binary").toarray(), np.ones((4, 4)))


def test_identical_rows_have_affinity_one_and_are_not_their_own_neighbours():
    X = np.repeat([[0.0, 1.0], [50.0, 1.0]], 4, axis=0)
    for width in (1.0, "mean"):
        assert_array_equal(neighbour_affinity(X, 3, width=width).toarray(), np.kron(np.eye(2), np.ones((4, 4))))


def test_sparse_features_give_the_same_affinity_and_are_not_changed():
    X = draw(0) * (draw(1) < 0.5)
    csr = sparse.csr_array(X)
    for weights in ("heat", "binary", "cosine"):
        dense = neighbour_affinity(X, 3, weights=weights).toarray()
        assert_allclose(neighbour_affinity(csr, 3, weights=weights).toarray(), dense, atol=1e-12)
    radial_affinity(csr, 1.0).degrees_and_roughness()
    assert_array_equal(csr.toarray(), X)


def test_a_warning_is_raised_if_all_weights_vanish():
    with pytest.warns(UserWarning, match=r"20 of 20 nodes have next to no heat affinity.*raise width \(it is 0\.001\)"):
        neighbour_affinity(draw(0), 3, width=0.001)
    with pytest.warns(UserWarning, match="3 of 3 nodes have next to no cosine affinity"):
        neighbour_affinity(np.eye(3), 2, weights="cosine")
    with pytest.warns(UserWarning, match='20 of 20 nodes have next to no heat affinity.*set it to "mean"'):
        radial_affinity(draw(0), 0.001).degrees_and_roughness()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        neighbour_affinity(draw(0) * 1000, 3, width="mean")


@pytest.mark.parametrize("n_apart", [10, 11])
def test_a_warning_is_raised_if_most_nodes_are_isolated(n_apart):
    X = np.array([10.0 * max(node - 19 + n_apart, 0) for node in range(20)])[:, None]  # all others are equal
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        neighbour_affinity(X, 3)
        radial_affinity(X, 1.0).degrees_and_roughness()
    said = [str(warning.message) for warning in caught]
    assert len(said) == (2 if n_apart == 11 else 0)
    assert all(message.startswith("11 of 20 nodes have next to no heat affinity") for message in said)


def test_a_labelled_affinity_is_reordered_to_match_the_nodes():
    weights = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]])
    frame = pd.DataFrame(weights, index=list("abc"), columns=list("abc"))
    ids = np.array(list("cab"), dtype=object)
    assert_array_equal(check_affinity(frame, 3, ids).toarray(), weights[[2, 0, 1]][:, [2, 0, 1]])


# Sparse, dense, and dense with so few entries that it is converted to sparse; the last of several blocks is smaller.
N_RADIAL = BLOCK_SIZE + 40
FORMS = {
    "sparse": lambda: sparse.csr_array(draw(0, N_RADIAL) * (draw(1, N_RADIAL) < 0.3)),
    "dense": lambda: draw(0, N_RADIAL) + 5,
    "few": lambda: draw(0, N_RADIAL) * (draw(1, N_RADIAL) < 0.03),
    "float32": lambda: draw(0, N_RADIAL).astype(np.float32),
}


@pytest.mark.parametrize("form", FORMS)
def test_radial_blocks_contain_each_pair_once(form):
    X = FORMS[form]()
    affinity = radial_affinity(X, 0.8)
    upper = np.zeros((N_RADIAL, N_RADIAL))
    for nodes, weights in affinity.blocks():
        upper[nodes, nodes.start :] += weights.T
    dense = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
    assert_allclose(upper, np.triu(spec_reference.radial_affinity(dense, 0.8), 1), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_one_pass_gives_degrees_and_roughness(form):
    X = FORMS[form]()
    dense = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
    W = spec_reference.radial_affinity(dense, 0.8)
    degrees, roughness = radial_affinity(X, 0.8).degrees_and_roughness()
    assert_allclose(degrees, W.sum(axis=1), rtol=1e-10)
    assert_allclose(roughness, [reference.roughness(f, W) for f in dense.T], rtol=1e-10)


def test_products_are_the_same_with_stored_and_recomputed_blocks():
    X, vectors = FORMS["dense"](), draw(5, N_RADIAL, 3)
    affinity = radial_affinity(X, 0.8)
    expected = spec_reference.radial_affinity(X, 0.8) @ vectors
    assert_allclose(affinity.times(vectors), expected, rtol=1e-10)
    assert_allclose(affinity.times(vectors, list(affinity.blocks())), expected, rtol=1e-10)
    assert_allclose(affinity.times(vectors[:, 0]), expected[:, 0], rtol=1e-10)


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_mean_width_of_all_pairs_is_their_root_mean_square_distance(form):
    X = FORMS[form]()
    d = reference.distances(np.asarray(X.todense() if sparse.issparse(X) else X))
    expected = np.sqrt((d**2).sum() / (N_RADIAL * (N_RADIAL - 1)))
    assert_allclose(radial_affinity(X, "mean").width, expected, rtol=1e-12)


def test_a_given_affinity_keeps_the_larger_of_both_directions():
    given_one = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    expected = [[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]]
    for kind in (np.asarray, sparse.csr_matrix, sparse.coo_array):
        assert_array_equal(check_affinity(kind(given_one), 3).toarray(), expected)
    assert given_one[1, 0] == 1


@pytest.mark.parametrize(
    ("affinity", "message"),
    [
        (np.ones((3, 2)), r"affinity has shape \(3, 2\); expected a square matrix"),
        (np.ones((4, 4)), "affinity has 4 nodes but features has 3 rows"),
        (-np.ones((3, 3)), "affinity has a negative weight"),
        (np.full((3, 3), np.nan), "affinity contains NaN"),
        (np.zeros((3, 3)), "affinity has no link"),
        (np.eye(3), "affinity is zero off its diagonal"),
    ],
)
def test_errors_name_the_affinity_and_what_to_do(affinity, message):
    with pytest.raises(ValueError, match=message):
        check_affinity(affinity, 3)


def test_large_values_in_single_precision_keep_their_neighbours():
    features = np.random.default_rng(0).random((20, 4))
    large = (features * 2.0**100).astype(np.float32)
    expected = neighbour_affinity(features.astype(np.float32), 3, weights="binary")
    assert_array_equal(neighbour_affinity(large, 3, weights="binary").toarray(), expected.toarray())
