"""The default on a cluster of two worker processes gives the result of the same chunks in this process."""

import os
import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BlockModelSelector, RowChunks, make_attributed_blocks, selection_stability
from blockselect.consensus import refine
from blockselect.rows import dask_chunks
from local_clusters import (
    assert_what_workers_hold_does_not_grow,
    die_once,
    distributed,
    separate_cluster,
    start_cluster,
)

dask = pytest.importorskip("dask")

NETWORK = make_attributed_blocks(300, 3, mean_degree=6, random_state=0)
WEIGHTS = sparse.diags_array(np.random.default_rng(0).random(300))
FEATURES = sparse.csr_array(WEIGHTS @ sparse.csr_array(NETWORK.features))  # sums of these do round
BLOCKS = [FEATURES[start : start + 80] for start in range(0, 300, 80)]


@pytest.fixture(scope="module")
def client():
    with start_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


def delayed_chunks(load=lambda block, number: block):
    return RowChunks.from_delayed(
        [dask.delayed(load)(block, number) for number, block in enumerate(BLOCKS)], FEATURES.shape[1]
    )


def fit(X, n_candidates=4):
    return BlockModelSelector(10, n_candidates=n_candidates, random_state=0).fit(X, adjacency=NETWORK.adjacency)


def assert_same(there, here):
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(there.ranking_, here.ranking_)
    assert_allclose(there.scores_, here.scores_, rtol=1e-8)
    assert_allclose(there.candidates_table_["gain"], here.candidates_table_["gain"], rtol=1e-8)


@pytest.fixture(scope="module")
def here():
    return fit(RowChunks.from_blocks(BLOCKS))


@pytest.mark.parametrize("where", ["loaded for each sum", "held by the cluster"])
def test_a_fit_on_a_cluster_is_a_fit_here(client, here, where):
    chunks = delayed_chunks()
    if where == "held by the cluster":
        chunks = RowChunks.from_delayed(client.persist([dask.delayed(block) for block in BLOCKS]), FEATURES.shape[1])
    with distributed.get_task_stream(client) as tasks:
        there = fit(chunks)
    assert_same(there, here)
    assert len({task["worker"] for task in tasks.data}) == 2


def test_a_fit_without_a_cluster_is_the_same(here, monkeypatch):
    monkeypatch.setattr("distributed.client._global_clients", {})
    assert_same(fit(delayed_chunks()), here)


def test_stability_on_a_cluster_is_that_here(client, here):
    stable = [
        selection_stability(here, X, adjacency=NETWORK.adjacency, n_resamples=4)
        for X in (RowChunks.from_blocks(BLOCKS), delayed_chunks())
    ]
    assert stable[0][here.support_].mean() > 0.5
    assert_allclose(stable[1], stable[0], atol=1e-8)


def test_a_worker_killed_while_nodes_move_changes_nothing(monkeypatch, tmp_path):
    mark, visit = str(tmp_path / "killed"), refine._visit

    def visit_of_a_mortal(block, rows, now, *shared):
        if rows.start == 160:
            die_once(mark)
        return visit(block, rows, now, *shared)

    here = fit(RowChunks.from_blocks(BLOCKS), n_candidates=1)
    with start_cluster() as cluster, distributed.Client(cluster) as client:
        before = set(client.run(os.getpid).values())
        monkeypatch.setattr(refine, "_visit", visit_of_a_mortal)
        there = fit(delayed_chunks(), n_candidates=1)
        with open(mark) as file:
            assert int(file.read()) in before
    assert_same(there, here)


def test_a_chunk_that_cannot_be_loaded_is_named(client):
    def load(block, number):
        return np.load("no such file.npy") if number == 2 else block

    with pytest.raises(ValueError, match=r"chunk 2 of features could not be read \(FileNotFoundError"):
        fit(delayed_chunks(load))


def test_what_a_worker_holds_does_not_grow_with_the_number_of_chunks(client):
    rows, m = 1000, 500

    def load(number):
        columns, starts = np.tile(np.arange(m, dtype=np.int32), rows), np.arange(0, rows * m + 1, m)
        return sparse.csr_array((np.random.default_rng(number).random(rows * m), columns, starts), shape=(rows, m))

    def fit(chunks):
        chunks.held_bytes = 2**22  # one chunk at a time beside another
        n = chunks.shape[0]
        ring = sparse.csr_array(sparse.diags_array(np.ones(n - 1), offsets=1))
        return BlockModelSelector(10, block_model=np.arange(n) // (n // 4)).fit(chunks, adjacency=ring)

    assert_what_workers_hold_does_not_grow(client, fit, load, m, n_chunks=16, chunk_bytes=12 * rows * m)


@pytest.mark.parametrize("lost", ["scheduler", "every worker that tries"])
def test_a_cluster_that_dies_is_an_error_that_says_so(lost, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_chunks, "_PATIENCE", 2.0)
    with separate_cluster(tmp_path) as (_, scheduler, _):
        doomed = scheduler.pid

        def load(block, number):
            if number == 2:
                os.kill(doomed if lost == "scheduler" else os.getpid(), signal.SIGKILL)
                time.sleep(60)
            return block

        with pytest.raises(RuntimeError, match=r"the Dask cluster was lost during the fit.*no partial result"):
            fit(delayed_chunks(load))
