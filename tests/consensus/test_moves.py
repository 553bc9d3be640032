"""Compiled node moves, compared with moves by the plain likelihood, one node and one block at a time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BlockModel, check_attributed_graph
from blockselect.consensus.likelihood import Counts, JointLikelihood
from blockselect.consensus.moves import NATS_BY_OTHERS, Rows, sweep
from blockselect.consensus.refine import refine_blocks
from blockselect.datasets import make_attributed_blocks
from references import joint as reference
from references.joint import small_network

compiled_only = pytest.mark.skipif(not hasattr(sweep, "signatures"), reason="NUMBA_DISABLE_JIT is set")
IN_USE = np.array([True, False, True, True, False, True, True])


def likelihood_of(A, X):
    """With links and features in their own units; the typical value of a feature is the mean of its non-zero values."""
    holders = np.maximum(np.count_nonzero(X, axis=0), 1)
    typical = np.where(X.any(axis=0), X.sum(axis=0) / holders, 1.0)
    equal = bool(np.all((X == 0) | (typical == X)))
    counts = Counts(sparse.csr_array(X), X.sum(axis=1), typical, equal)
    return JointLikelihood(check_attributed_graph(X, A), unit=1.0, counts=counts)


def swept(A, X, labels, order, *, slack=None, in_use=IN_USE):
    """Labels after one compiled sweep, the number of moves, and the updated tables and slack."""
    labels = labels.astype(np.int64)
    likelihood = likelihood_of(A, X)
    links, features = likelihood.links, likelihood.counts
    (tables,) = likelihood.tables([labels])
    slack = np.zeros(len(A)) if slack is None else slack
    csr = features.matrix
    rows = Rows(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data, first=0)
    n_moves = sweep(labels, order, slack, links, features._replace(matrix=rows), tables, in_use, 1e-9)
    return labels, n_moves, tables, slack


def log_likelihood(A, X, labels, in_use=IN_USE):
    totals = X.sum(axis=1)
    features = sum(reference.feature_log_likelihood(x, totals, labels) for x in X[:, in_use].T)
    return reference.link_log_likelihood(A, labels) + features


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
@pytest.mark.parametrize("in_use", [IN_USE, np.zeros_like(IN_USE)], ids=["some features", "no features"])
def test_binary_features_move_nodes_as_likelihoods_written_out_do(seed, in_use):
    A, X, labels = small_network(seed)
    X = (X > 0).astype(float)
    order = np.random.default_rng(seed).permutation(len(A))
    found, n_moves, _, _ = swept(A, X, labels, order, in_use=in_use)
    assert n_moves > 0
    assert_array_equal(found, slow_sweep(A, X, labels, order, in_use=in_use))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [{}, {"n": 10, "k": 4}], ids=["some nodes per block", "two or three"])
def test_counts_move_nodes_as_likelihoods_written_out_do(seed, size):
    A, X, labels = small_network(seed, **size)
    order = np.random.default_rng(seed).permutation(len(A))
    found, n_moves, _, _ = swept(A, X, labels, order)
    assert n_moves > 0
    assert_array_equal(found, slow_sweep(A, X, labels, order))


@given(seed=st.integers(0, 10_000), k=st.sampled_from([3, 8]), binary=st.booleans())
def test_the_likelihood_never_falls(seed, k, binary):
    A, X, labels = small_network(seed, n=16, k=k)
    X = (X > 0).astype(float) if binary else X
    found, n_moves, _, _ = swept(A, X, labels, np.arange(16))
    gained = log_likelihood(A, X, found) - log_likelihood(A, X, labels)
    assert gained > 0 if n_moves else gained == 0
    assert len(np.unique(found)) == k


def test_of_many_blocks_tables_find_one_about_as_good_as_the_best():
    """A tenth of the nodes start in a wrong block; nearly all return to their own, as with exact gains."""
    planted = make_attributed_blocks(600, 12, mean_degree=15, random_state=0)
    A, X = planted.adjacency.toarray(), np.asarray(planted.graph.features.todense())
    rng = np.random.default_rng(0)
    wrong = rng.choice(600, 60, replace=False)
    labels = planted.blocks.copy()
    labels[wrong] = rng.integers(12, size=60)
    found, _, _, _ = swept(A, X, labels, rng.permutation(600), in_use=np.ones(X.shape[1], dtype=bool))
    assert np.mean(found[wrong] == planted.blocks[wrong]) > 0.95


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("binary", [False, True])
def test_tables_after_a_sweep_are_those_of_the_new_blocks(seed, binary):
    A, X, labels = small_network(seed)
    X = (X > 0).astype(float) if binary else X
    found, n_moves, tables, _ = swept(A, X, labels, np.arange(len(A)))
    assert n_moves > 0
    F = np.eye(labels.max() + 1)[found]
    assert_allclose(tables.weights, F.T @ A @ F, atol=1e-9)
    assert_allclose(tables.sums, X.T @ F, atol=1e-9)
    assert_allclose(tables.totals, X.sum(axis=1) @ F, atol=1e-9)
    (anew,) = likelihood_of(A, X).tables([found])
    for name in ("s_log_s", "join", "leave"):
        assert_allclose(getattr(tables, name), getattr(anew, name), atol=1e-9)


def test_nodes_whose_best_other_block_is_far_worse_are_not_visited_until_neighbours_move():
    A, X, labels = small_network(1)
    order = np.arange(len(A))
    due = np.arange(len(A)) % 2 == 0
    found, n_moves, _, slack = swept(A, X, labels, order, slack=np.where(due, 0.0, 1e6))
    assert n_moves > 0
    assert_array_equal(found[~due], labels[~due])
    moved = found != labels
    assert_array_equal(slack[~due] < 1e6, (A[moved] > 0).any(axis=0)[~due])


def test_slack_is_what_the_best_other_block_is_worse_by():
    A, X, labels = small_network(1)
    for node in range(len(A)):
        values = []
        for block in np.setdiff1d(np.arange(3), labels[node]):
            tried = labels.copy()
            tried[node] = block
            values.append(log_likelihood(A, X, tried) - log_likelihood(A, X, labels))
        _, n_moves, _, slack = swept(A, X, labels, np.array([node]))
        if not n_moves:
            assert slack[node] == pytest.approx(-max(values) - NATS_BY_OTHERS)


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
    """A few values are much larger than the others, so the typical value misleads."""
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


@compiled_only
@pytest.mark.parametrize("stored", [False, True])
def test_compilation_is_announced_where_none_is_stored(stored, tmp_path):
    """In a separate process, because this one has already compiled the moves."""
    code = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "from blockselect.consensus.moves import announce_compilation; announce_compilation()"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    if stored:
        where = "from blockselect.consensus.moves import sweep; print(sweep.stats.cache_path)"
        found = subprocess.run(
            [sys.executable, "-c", where], env=environment, capture_output=True, text=True, check=True
        )
        folder = Path(found.stdout.strip())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "moves.sweep-1.py3.nbi").touch()
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ("INFO:blockselect:compiling node moves" in said.stderr) is not stored


@compiled_only
def test_one_signature_is_compiled_for_features_and_graphs_of_any_kind():
    for kind in ("i4", "f4", "f8"):
        A, X, labels = small_network(0)
        graph = check_attributed_graph(X.astype(kind), sparse.csr_array(A.astype(kind)))
        model = BlockModel.from_labels(graph.adjacency, labels)
        next(refine_blocks(JointLikelihood(graph), [model], rngs=[np.random.default_rng(0)]))
    assert len(sweep.signatures) == 1
