"""A real cluster of two worker processes: the same scores as here, a killed worker included."""

import os

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModelSelector, Descent, RowChunks, make_attributed_blocks, selection_stability
from local_clusters import assert_what_workers_hold_does_not_grow, die_once, distributed, start_cluster

dask = pytest.importorskip("dask")

NETWORK = make_attributed_blocks(300, 3, random_state=0)
WEIGHTS = sparse.diags_array(np.random.default_rng(0).random(300))
FEATURES = sparse.csr_array(WEIGHTS @ sparse.csr_array(NETWORK.features))  # sums of these do round
STARTS = range(0, 300, 40)


@pytest.fixture(scope="module")
def client():
    with start_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


def delayed_chunks():
    return RowChunks.from_delayed([dask.delayed(FEATURES[s : s + 40]) for s in STARTS], FEATURES.shape[1])


def fit(X, **settings):
    selector = BMGUFS(10, n_blocks=3, n_candidates=4, random_state=0, **settings)
    return selector.fit(X, adjacency=NETWORK.adjacency)


def test_a_fit_on_a_cluster_is_a_fit_here(client):
    here, there = fit(FEATURES), fit(delayed_chunks())
    assert there.gram_form_ == "dense"
    assert_allclose(there.scores_, here.scores_, atol=1e-8)
    assert_array_equal(there.support_, here.support_)


def test_a_low_rank_fit_on_a_cluster_is_one_here(client):
    wide = make_attributed_blocks(300, 3, n_noise=700, random_state=0).features
    chunks = RowChunks.from_delayed([dask.delayed(wide[s : s + 40]) for s in STARTS], wide.shape[1])
    solver = Descent(gradient="paper", tol=0.0, memory_limit=4e6)
    here, there = fit(wide, solver=solver), fit(chunks, solver=solver)
    assert here.gram_form_ == there.gram_form_ == "low rank"
    assert_allclose(there.scores_, here.scores_, atol=1e-8)


def test_few_features_that_meet_are_summed_sparse(client):
    words = sparse.csr_array(sparse.kron(np.ones((3, 1)), sparse.eye_array(100)))
    chunks = RowChunks.from_delayed([dask.delayed(words[s : s + 40]) for s in STARTS], 100)
    here, there = fit(words), fit(chunks)
    assert there.gram_form_ == "sparse"
    assert_allclose(there.scores_, here.scores_, atol=1e-8)


def test_a_worker_killed_in_the_middle_of_a_sum_changes_nothing(tmp_path):
    killed, reads = str(tmp_path / "killed"), str(tmp_path / "reads")

    def load(start):
        if start == 160:
            with open(reads, "a") as file:
                file.write("x")
            if os.path.getsize(reads) == 3:
                die_once(killed)
        return FEATURES[start : start + 40]

    here = fit(FEATURES)
    with start_cluster() as cluster, distributed.Client(cluster) as client:
        before = set(client.run(os.getpid).values())
        there = fit(RowChunks.from_delayed([dask.delayed(load)(s) for s in STARTS], FEATURES.shape[1]))
        with open(killed) as file:
            assert int(file.read()) in before
    assert there.gram_form_ == "dense"
    assert_allclose(there.scores_, here.scores_, atol=1e-8)


def test_what_a_worker_holds_does_not_grow_with_the_number_of_chunks(client):
    rows, m = 1000, 500

    def load(number):
        return np.random.default_rng(number).random((rows, m))

    def fit(chunks):
        n = chunks.shape[0]
        ring = sparse.csr_array(sparse.diags_array(np.ones(n - 1), offsets=1))
        return BMGUFS(10, block_model=np.arange(n) % 4, sparsity=0.0).fit(chunks, adjacency=ring)

    assert_what_workers_hold_does_not_grow(client, fit, load, m, n_chunks=30, chunk_bytes=8 * rows * m)


def test_candidates_and_resamples_go_through_joblib(client):
    X, A = NETWORK.features, NETWORK.adjacency
    for selector in (
        BMGUFS(10, n_blocks=3, n_candidates=4, random_state=0),
        BlockModelSelector(10, n_candidates=6, random_state=0),
    ):
        here = selector.fit(X, adjacency=A).scores_
        stable = selection_stability(selector, X, adjacency=A, n_resamples=3)
        with joblib.parallel_config(backend="dask"), distributed.get_task_stream(client) as tasks:
            assert_allclose(selector.fit(X, adjacency=A).scores_, here, atol=1e-8)
            again = selection_stability(selector, X, adjacency=A, n_resamples=3)
        assert_allclose(again, stable, atol=1e-8)
        assert len({task["worker"] for task in tasks.data}) == 2
