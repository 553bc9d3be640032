"""Resampled graphs: the links of a graph, each as often as a Poisson count says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.graphs.links import resample_links


def _graph(seed: int = 0, n_nodes: int = 12, dtype: type = np.float64) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) * (rng.random((n_nodes, n_nodes)) < 0.5), k=1)
    return sparse.csr_array((upper + upper.T).astype(dtype))


@given(seed=st.integers(0, 10**6))
def test_every_weight_is_a_whole_multiple_of_its_link_both_ways_and_nothing_else_is_linked(seed):
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


def test_counts_of_links_are_poisson_of_mean_one():
    graph = _graph()
    links = graph.toarray() > 0
    rng = np.random.default_rng(1)
    draws = np.array([resample_links(graph, rng).toarray()[links] / graph.toarray()[links] for _ in range(2000)])
    assert_allclose(draws.mean(axis=0), 1, atol=0.12)  # five standard errors
    assert_allclose(draws.var(axis=0), 1, atol=0.25)
    assert_allclose((draws == 0).mean(), np.exp(-1), atol=0.01)


def test_links_of_reordered_nodes_are_resampled_alike_on_average():
    graph, order = _graph(3), np.random.default_rng(0).permutation(12)
    one, other = np.random.default_rng(1), np.random.default_rng(2)
    mean = sum(resample_links(graph, one).toarray() for _ in range(1000)) / 1000
    reordered = sum(resample_links(graph[order][:, order], other).toarray() for _ in range(1000)) / 1000
    assert_allclose(reordered, mean[np.ix_(order, order)], atol=0.25)


def test_the_same_seed_gives_the_same_graph_and_another_another():
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


def test_a_graph_without_links_is_refused():
    with pytest.raises(ValueError, match="no link between two different nodes"):
        resample_links(sparse.csr_array(np.eye(3)), np.random.default_rng(0))
