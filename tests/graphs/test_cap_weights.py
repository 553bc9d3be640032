"""Weights are capped only where a few links would outweigh all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.graphs.links import cap_weights


def graph_with(weights):
    """A path whose links have these weights."""
    path = sparse.diags_array(np.asarray(weights, dtype=float), offsets=1, shape=(len(weights) + 1,) * 2)
    return sparse.csr_array(path + path.T)


def links_that_count(adjacency):
    return adjacency.data.sum() ** 2 / (adjacency.data**2).sum()


@pytest.mark.parametrize("weights", [np.ones(50), np.arange(1, 51), np.random.default_rng(0).exponential(size=50) + 1])
def test_weights_without_a_heavy_tail_stay_as_they_are(weights):
    adjacency = graph_with(weights)
    assert cap_weights(adjacency) is adjacency


def test_a_heavy_tail_is_cut_as_high_as_may_be():
    adjacency = graph_with(np.random.default_rng(0).pareto(0.8, size=300) + 1)
    before = adjacency.copy()
    capped = cap_weights(adjacency)
    assert_array_equal(adjacency.toarray(), before.toarray())
    assert links_that_count(adjacency) < 0.1 * 600
    assert links_that_count(capped) >= 0.5 * 600
    higher = np.minimum(adjacency.data, np.sort(adjacency.data[adjacency.data > capped.data.max()])[0])
    assert higher.sum() ** 2 / (higher**2).sum() < 0.5 * 600
    assert_array_equal(capped.data, np.minimum(adjacency.data, capped.data.max()))


def test_a_full_graph_needs_no_more_than_a_few_links_a_node():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(200, 2))
    distances = ((places[:, None] - places) ** 2).sum(axis=2)
    weights = np.exp(-distances / 0.02)
    np.fill_diagonal(weights, 0)
    adjacency = sparse.csr_array(weights)
    capped = cap_weights(adjacency)
    assert links_that_count(capped) <= max(2 * 4 * 200 * 1.05, links_that_count(adjacency))


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=30), st.sampled_from([1e-12, 1e-3, 1e6]))
def test_the_scale_of_the_weights_does_not_matter(weights, factor):
    adjacency = graph_with(weights)
    assert_allclose(cap_weights(adjacency * factor).toarray(), cap_weights(adjacency).toarray() * factor, rtol=1e-9)


def test_a_graph_without_links_stays():
    empty = sparse.csr_array((3, 3))
    assert cap_weights(empty) is empty


def test_weights_whose_squares_vanish_are_no_reason_to_fail():
    weights = np.full(30, 1e-200)
    weights[::10] = 1.0
    assert cap_weights(graph_with(weights)).max() < 1e-140
