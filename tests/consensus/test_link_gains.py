"""Gains from the links among nodes with a feature, compared with sums over pairs, and on planted networks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.consensus.likelihood import link_unit
from blockselect.consensus.link_gains import gains_by_links
from blockselect.rows.statistics import in_units
from references import joint as reference
from references.joint import small_network


def gains_of_links(features, adjacency, unit=None):
    links = sparse.csr_array(adjacency)
    apart = sparse.csr_array(links - sparse.diags_array(links.diagonal()))
    return gains_by_links(in_units(features), links, link_unit(apart) if unit is None else unit)


@pytest.mark.parametrize("seed", range(6))
def test_gains_are_those_of_the_pairs_of_nodes_that_have_the_feature(seed):
    A, X, _ = small_network(seed)
    slow = [reference.link_gain(x, A) for x in X.T]
    assert max(slow) > 0
    assert_allclose(gains_of_links(X, A), slow, atol=1e-10)
    assert_allclose(gains_of_links(sparse.csr_array(X), sparse.csr_array(A)), slow, atol=1e-10)


def test_many_dense_features_have_the_gains_of_sparse_ones():
    """There are so many that products are computed for several slices of the nodes."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((2200, 2000), density=0.02, rng=rng, format="csr")
    links = sparse.random_array((2200, 2200), density=0.002, rng=rng, format="csr")
    assert_allclose(gains_of_links(X.toarray(), links + links.T), gains_of_links(X, links + links.T), atol=1e-9)


def test_units_of_features_and_of_links_self_loops_and_precision_do_not_matter():
    A, X, _ = small_network(1)
    units = np.random.default_rng(0).uniform(1e-3, 1e3, size=X.shape[1])
    gains = gains_of_links(X, A)
    assert_allclose(gains_of_links(X * units, 40 * A), gains, atol=1e-9)
    assert_allclose(gains_of_links(X, A + np.diag(np.arange(len(A)))), gains, atol=1e-9)
    assert_allclose(gains_of_links(X.astype("f4"), A), gains, atol=1e-5)


def planted(seed, *, inside, outside, n=400, n_features=60, n_blocks=4):
    """Features of a third of the nodes of one block, as many features of random nodes, and unequal degrees."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(n_blocks, size=n)
    hub = rng.lognormal(0, 0.5, size=n)
    chance = np.where(blocks[:, None] == blocks, inside, outside) * np.outer(hub, hub) / n
    links = np.triu(rng.random((n, n)) < chance, 1)
    of_block = (blocks[:, None] == rng.integers(n_blocks, size=n_features)) & (rng.random((n, n_features)) < 0.33)
    noise = rng.random((n, n_features)) < 0.33 / n_blocks
    return np.hstack([of_block, noise]).astype(float), (links | links.T).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_features_of_nodes_that_seek_each_other_gain_more_than_noise(seed):
    X, A = planted(seed, inside=30, outside=3)
    gains = gains_of_links(X, A)
    assert gains[:60].min() > 2
    assert np.median(gains[:60]) > 10 * np.quantile(gains[60:], 0.95)
    assert (gains[60:] > 1).mean() < 0.2


@pytest.mark.parametrize("seed", range(3))
def test_features_of_nodes_that_avoid_each_other_gain_nothing(seed):
    X, A = planted(seed, inside=1, outside=15)
    assert (gains_of_links(X, A)[:60] == 0).mean() > 0.95


def test_features_of_nobody_of_one_node_and_of_all_alike_gain_nothing():
    A, X, _ = small_network(2)
    X[:, 0], X[:, 1], X[:, 2] = 0.0, np.eye(len(A))[0], 3.0
    assert_array_equal(gains_of_links(X, A)[:3], 0)


def test_in_a_network_of_self_loops_alone_nothing_is_gained():
    assert_array_equal(gains_of_links(np.eye(3), np.diag([1.0, 2, 0]), unit=1.0), 0)


def test_what_was_given_is_left_alone():
    A, X, _ = small_network(0)
    before = A.copy(), X.copy()
    features, adjacency = sparse.csr_array(X), sparse.csr_array(A)
    gains_of_links(features, adjacency)
    gains_of_links(X, A)
    assert_array_equal(A, before[0])
    assert_array_equal(X, before[1])
    assert_array_equal(features.toarray(), X)
    assert_array_equal(adjacency.toarray(), A)


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.0])
def test_noise_of_unequal_values_or_on_unequal_links_gains_no_more_than_a_free_rate_does(spread):
    rng = np.random.default_rng(0)
    _, A = planted(0, inside=30, outside=3)
    X = rng.lognormal(0, spread, size=(len(A), 300)) * (rng.random((len(A), 300)) < 0.2)
    weights = np.triu(rng.lognormal(0, 1, size=A.shape), 1)
    for links in (A, A * (weights + weights.T)):
        gains = gains_of_links(X, links)
        assert gains.mean() < 0.5  # ¼ in theory: half of the excesses are positive, with half a nat each
        assert (gains > 2.7).mean() < 0.04  # one in a hundred in theory


def test_the_unit_of_a_graph_can_be_given_to_one_drawn_from_it():
    A, X, _ = small_network(2)
    binary = (X > 0).astype(float)
    assert_allclose(gains_of_links(binary, 3 * A, unit=3.0), gains_of_links(binary, A, unit=1.0))
