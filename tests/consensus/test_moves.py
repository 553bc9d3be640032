"""Compiled moves of nodes against moves by likelihoods written out, one node and one block at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.consensus.link_likelihood import as_links, link_gain
from blockselect.consensus.moves import (
    Counts,
    _correction,
    _feature_gains,
    rates_of,
    sums_by_block,
    sweep,
    weights_by_block,
)
from references import joint as reference
from references.joint import small_network

IN_USE = np.array([True, False, True, True, False, True, True])


def counts_of(X):
    """The features as they are, with a typical value that is the mean of the non-zero ones."""
    csr = sparse.csr_array(X)
    holders = np.maximum(np.count_nonzero(X, axis=0), 1)
    typical = np.where(X.any(axis=0), X.sum(axis=0) / holders, 1.0)
    equal = bool(np.all((X == 0) | (typical == X)))
    return Counts(csr.indptr.astype(np.int64), csr.indices, csr.data, X.sum(axis=1), typical, equal)


def swept(A, X, labels, order, *, exact=False, feature_weight=1.0, in_use=IN_USE):
    """Labels after one compiled sweep, how many nodes moved, and what it left of its sums."""
    labels, k = labels.astype(np.intp), labels.max() + 1
    links, counts = as_links(sparse.csr_array(A), 1.0), counts_of(X)
    weights = weights_by_block(links, labels, k)
    rates = rates_of(counts, labels, sums_by_block(counts, labels, X.shape[1], k), in_use)
    n_moves = sweep(labels, order, links, weights, counts, rates, feature_weight, 1e-9, exact)
    return labels, n_moves, weights, rates


def log_likelihood(A, X, labels, feature_weight=1.0, in_use=IN_USE):
    totals = X.sum(axis=1)
    features = sum(reference.feature_log_likelihood(x, totals, labels) for x in X[:, in_use].T)
    return reference.link_log_likelihood(A, labels) + feature_weight * features


def slow_sweep(A, X, labels, order, **options):
    labels = labels.copy()
    for node in order:
        if (labels == labels[node]).sum() == 1:
            continue
        values = []
        for block in range(labels.max() + 1):
            tried = labels.copy()
            tried[node] = block
            values.append(log_likelihood(A, X, tried, **options))
        best = int(np.argmax(values))
        if values[best] - values[labels[node]] > 1e-9:
            labels[node] = best
    return labels


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("feature_weight", [0.0, 0.4, 1.0])
def test_binary_features_move_nodes_as_likelihoods_written_out_do(seed, feature_weight):
    A, X, labels = small_network(seed)
    X = (X > 0).astype(float)
    order = np.random.default_rng(seed).permutation(len(A))
    found, n_moves, _, _ = swept(A, X, labels, order, feature_weight=feature_weight)
    assert n_moves > 0
    assert_array_equal(found, slow_sweep(A, X, labels, order, feature_weight=feature_weight))


@pytest.mark.parametrize("seed", range(6))
def test_exact_moves_of_counts_are_those_of_likelihoods_written_out(seed):
    A, X, labels = small_network(seed)
    order = np.random.default_rng(seed).permutation(len(A))
    found, n_moves, _, _ = swept(A, X, labels, order, exact=True)
    assert n_moves > 0
    assert_array_equal(found, slow_sweep(A, X, labels, order))


@given(seed=st.integers(0, 10_000), exact=st.booleans())
def test_the_likelihood_never_falls(seed, exact):
    A, X, labels = small_network(seed, n=14)
    found, n_moves, _, _ = swept(A, X, labels, np.arange(14), exact=exact)
    gained = log_likelihood(A, X, found) - log_likelihood(A, X, labels)
    assert gained > 0 if n_moves else gained == 0


@pytest.mark.parametrize("seed", range(3))
def test_sums_after_a_sweep_are_those_of_the_new_blocks(seed):
    A, X, labels = small_network(seed)
    found, _, weights, rates = swept(A, X, labels, np.arange(len(A)))
    F = np.eye(labels.max() + 1)[found]
    assert_allclose(weights, F.T @ A @ F, atol=1e-9)
    assert_allclose(rates.sums, X[:, IN_USE].T @ F, atol=1e-9)
    assert_allclose(rates.of_block, X[:, IN_USE].sum(axis=1) @ F, atol=1e-9)
    assert_allclose(rates.totals, X.sum(axis=1) @ F, atol=1e-9)


def test_the_gain_of_links_is_the_log_likelihood_above_one_block():
    A, _, labels = small_network(2)
    weights = weights_by_block(as_links(sparse.csr_array(A), 1.0), labels.astype(np.intp), 3)
    one = reference.link_log_likelihood(A, np.zeros_like(labels))
    assert_allclose(link_gain(weights), reference.link_log_likelihood(A, labels) - one)


def test_result_follows_the_nodes_when_nodes_and_visits_are_reordered():
    A, X, labels = small_network(5, n=30)
    order, visits = (np.random.default_rng(seed).permutation(30) for seed in (1, 2))
    here, n_moves, _, _ = swept(A, X, labels, visits)
    there, _, _, _ = swept(A[np.ix_(order, order)], X[order], labels[order], np.argsort(order)[visits])
    assert n_moves > 0
    assert_array_equal(there, here[order])


def test_a_blocks_last_node_stays():
    A, X, labels = small_network(0)
    alone = np.zeros_like(labels)
    alone[0] = 1
    found, n_moves, _, _ = swept(A, X, alone, np.array([0]))
    assert_array_equal(found, alone)
    assert n_moves == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_move_that_tables_suggest_is_made_only_if_it_gains_exactly(seed):
    """Few values are much larger than the others, so that a typical value misleads."""
    A, X, labels = small_network(seed, k=2)
    X *= np.random.default_rng(seed).choice([1.0, 40.0], size=X.shape, p=[0.8, 0.2])
    before = log_likelihood(A, X, labels)
    for node in range(len(A)):
        found, n_moves, _, _ = swept(A, X, labels, np.array([node]))
        assert n_moves == 0 or log_likelihood(A, X, found) > before


def test_as_many_moves_are_counted_as_nodes_have_moved():
    A, X, labels = small_network(4)
    found, n_moves, _, _ = swept(A, X, labels, np.arange(len(A)))  # each is visited once
    assert n_moves == np.count_nonzero(found != labels) > 0


def interpreted(function):
    """A compiled function as Python: it need not compile alone."""
    return getattr(function, "py_func", function)


@pytest.mark.parametrize("seed", range(3))
def test_the_correction_of_a_move_is_what_tables_of_a_typical_value_miss(seed):
    _, X, labels = small_network(seed)
    counts, labels = counts_of(X), labels.astype(np.intp)
    rates = rates_of(counts, labels, sums_by_block(counts, labels, X.shape[1], 3), IN_USE)
    for node, old in enumerate(labels):
        exact, by_table = np.empty(3), np.empty(3)
        interpreted(_feature_gains)(exact, counts, rates, node, old, True)
        interpreted(_feature_gains)(by_table, counts, rates, node, old, False)
        for new in np.setdiff1d(np.arange(3), [old]):
            found = interpreted(_correction)(counts, rates, node, old, new)
            assert_allclose(found, exact[new] - by_table[new], atol=1e-9)
