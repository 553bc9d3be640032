"""Poisson resampling of links, and caps on weights with heavy tails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.graphs.links import cap_weights, resample_links


def _graph(seed: int = 0, n_nodes: int = 12, dtype: type = np.float64) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) * (rng.random((n_nodes, n_nodes)) < 0.5), k=1)
    return sparse.csr_array((upper + upper.T).astype(dtype))


@given(seed=st.integers(0, 10**6))
def test_resampled_weights_are_symmetric_integer_multiples_of_the_links(seed):
    graph = _graph(seed)
    before = graph.toarray()
    resampled = resample_links(graph, np.random.default_rng(seed))
    assert resampled.format == "csr"
    assert resampled.shape == graph.shape
    assert resampled.data.all()
    dense = resampled.toarray()
    assert_array_equal(dense, dense.T)
    assert not dense[before == 0].any()
    counts = dense[before > 0] / before[before > 0]
    assert_allclose(counts, np.round(counts), atol=1e-9)
    assert_array_equal(graph.toarray(), before)


def test_counts_of_links_have_a_poisson_distribution_of_mean_one():
    graph = _graph()
    links = graph.toarray() > 0
    rng = np.random.default_rng(1)
    draws = np.array([resample_links(graph, rng).toarray()[links] / graph.toarray()[links] for _ in range(2000)])
    assert_allclose(draws.mean(axis=0), 1, atol=0.12)  # five standard errors
    assert_allclose(draws.var(axis=0), 1, atol=0.25)
    assert_allclose((draws == 0).mean(), np.exp(-1), atol=0.01)


def test_resampling_does_not_depend_on_the_order_of_nodes_on_average():
    graph, order = _graph(3), np.random.default_rng(0).permutation(12)
    one, other = np.random.default_rng(1), np.random.default_rng(2)
    mean = sum(resample_links(graph, one).toarray() for _ in range(1000)) / 1000
    reordered = sum(resample_links(graph[order][:, order], other).toarray() for _ in range(1000)) / 1000
    assert_allclose(reordered, mean[np.ix_(order, order)], atol=0.25)


def test_the_seed_determines_the_graph():
    first, again, other = (resample_links(_graph(), np.random.default_rng(seed)).toarray() for seed in (4, 4, 5))
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_kept(dtype):
    assert resample_links(_graph(dtype=dtype), np.random.default_rng(0)).dtype == dtype


@pytest.mark.parametrize("seed", range(20))
def test_a_single_link_is_never_lost(seed):
    graph = sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    assert resample_links(graph, np.random.default_rng(seed)).nnz == 2


def test_self_loops_are_left_out():
    graph = sparse.csr_array(_graph() + sparse.eye_array(12))
    assert not resample_links(graph, np.random.default_rng(0)).diagonal().any()


def test_a_graph_without_links_cannot_be_resampled():
    with pytest.raises(ValueError, match="no link between two different nodes"):
        resample_links(sparse.csr_array(np.eye(3)), np.random.default_rng(0))


def graph_with(weights):
    """A path with these link weights."""
    path = sparse.diags_array(np.asarray(weights, dtype=float), offsets=1, shape=(len(weights) + 1,) * 2)
    return sparse.csr_array(path + path.T)


def links_that_count(adjacency):
    return adjacency.data.sum() ** 2 / (adjacency.data**2).sum()


@pytest.mark.parametrize("weights", [np.ones(50), np.arange(1, 51), np.random.default_rng(0).exponential(size=50) + 1])
def test_weights_without_a_heavy_tail_are_not_changed(weights):
    adjacency = graph_with(weights)
    assert cap_weights(adjacency) is adjacency


def test_a_heavy_tail_gets_the_largest_sufficient_cap():
    adjacency = graph_with(np.random.default_rng(0).pareto(0.8, size=300) + 1)
    before = adjacency.copy()
    capped = cap_weights(adjacency)
    assert_array_equal(adjacency.toarray(), before.toarray())
    assert links_that_count(adjacency) < 0.1 * 600
    assert links_that_count(capped) >= 0.5 * 600
    higher = np.minimum(adjacency.data, np.sort(adjacency.data[adjacency.data > capped.data.max()])[0])
    assert higher.sum() ** 2 / (higher**2).sum() < 0.5 * 600
    assert_array_equal(capped.data, np.minimum(adjacency.data, capped.data.max()))


def test_a_complete_graph_needs_only_a_few_effective_links_per_node():
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


def test_a_graph_without_links_needs_no_cap():
    empty = sparse.csr_array((3, 3))
    assert cap_weights(empty) is empty


def test_weights_whose_squares_underflow_can_be_capped():
    weights = np.full(30, 1e-200)
    weights[::10] = 1.0
    assert cap_weights(graph_with(weights)).max() < 1e-140
