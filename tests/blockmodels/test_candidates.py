"""What every family of block models must hold, and the candidates made of them."""

from functools import partial
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from blockselect.blockmodels.candidates import FAMILIES, find_block_models
from blockselect.blockmodels.model import BlockModel
from blockselect.datasets.planted import make_attributed_blocks
from blockselect.evaluation.metrics import clustering_accuracy
from blockselect.utils import threads

families = pytest.mark.parametrize("family", sorted(FAMILIES))
SCALE_FREE = sorted(set(FAMILIES) - {"onmtf", "mixed"})


def planted(structure, n_blocks=3, seed=0, n_nodes=400):
    return make_attributed_blocks(n_nodes, n_blocks, structure=structure, mean_degree=30, random_state=seed)


def find(network, k, family, *, n_candidates=8, seed=0, **settings):
    return find_block_models(
        network.adjacency,
        k,
        family=family,
        features=network.features,
        n_candidates=n_candidates,
        rng=np.random.default_rng(seed),
        **settings,
    )


def labels_of(models):
    return {tuple(model.labels) for model in models}


@families
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_blocks_that_link_within_are_found(family, seed):
    network = planted("assortative", seed=seed)
    assert clustering_accuracy(network.blocks, find(network, 3, family)[0].labels) > 0.95


@families
def test_planted_blocks_that_link_to_others_are_found(family):
    network = planted("disassortative")
    margin = 0.85 if family == "onmtf" else 0.95
    assert clustering_accuracy(network.blocks, find(network, 3, family)[0].labels) > margin


@pytest.mark.parametrize("family", ["smoothed", "mixed"])  # the rest see links alone, too few of them here
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_core_and_periphery_are_found_with_the_help_of_features(family, seed):
    network = planted("core-periphery", n_blocks=2, seed=seed)
    assert clustering_accuracy(network.blocks, find(network, 2, family)[0].labels) > 0.75


@pytest.mark.parametrize("family", ["normalized", "two_hop"])
def test_slow_starts_are_given_the_iterations_they_need(family):
    network = planted("disassortative", seed=1)
    accuracies = [clustering_accuracy(network.blocks, model.labels) for model in find(network, 3, family)]
    assert max(accuracies) > 0.95
    assert np.median(accuracies) > {"normalized": 0.55, "two_hop": 0.95}[family]  # chance is a third


@families
def test_candidates_come_in_the_order_of_their_error_and_know_their_family(family):
    models = find(planted("assortative"), 5, family, n_candidates=6)
    errors = [round(model.relative_error, 12) for model in models]  # equal ones are not told apart by rounding
    assert len(models) == 6
    assert errors == sorted(errors)
    if family != "mixed":
        assert {model.family for model in models} == {family}


@families
def test_the_same_seed_gives_the_same_candidates_and_more_of_them_include_fewer(family):
    network = planted("assortative", seed=2)
    seven, again, three = (find(network, 4, family, n_candidates=n, seed=3) for n in (7, 7, 3))
    for first, second in zip(seven, again, strict=True):
        assert_array_equal(first.labels, second.labels)
    assert labels_of(three) <= labels_of(seven)


@pytest.mark.parametrize("family", ["spectral", "smoothed", "adjacency", "two_hop"])  # processes, and threads
def test_parallel_candidates_are_the_same(family):
    network = planted("assortative", n_nodes=150)
    one, two = (find(network, 4, family, n_candidates=4, n_jobs=jobs) for jobs in (1, 2))
    for first, second in zip(one, two, strict=True):
        assert_array_equal(first.labels, second.labels)


@families
def test_candidates_of_a_graph_without_clear_blocks_differ(family):
    network = make_attributed_blocks(200, 4, mean_degree=6, mixing=0.9, random_state=0)
    assert len(labels_of(find(network, 4, family, n_candidates=10, seed=3))) >= 8


@families
def test_blocks_do_not_change_with_the_scale_of_the_weights(family):
    network = planted("assortative")
    plain, scaled = (
        find_block_models(
            adjacency, 3, family=family, features=network.features, n_candidates=6, rng=np.random.default_rng(0)
        )
        for adjacency in (network.adjacency, 16.0 * network.adjacency)
    )
    for first, second in zip(plain, scaled, strict=True):
        assert_array_equal(first.labels, second.labels)
        assert_allclose(16.0 * first.density, second.density, rtol=1e-12)


@pytest.mark.parametrize("family", SCALE_FREE)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-6, 0.3, 1e6]))
def test_weights_in_any_unit_give_the_same_blocks(family, seed, scale):
    network = make_attributed_blocks(60, 3, mean_degree=12, random_state=seed)
    rng = np.random.default_rng(seed)
    weights = sparse.triu(network.adjacency, 1)
    weights.data = rng.integers(1, 9, size=weights.nnz).astype(float)
    adjacency = sparse.csr_array(weights + weights.T)
    plain, scaled = (
        find_block_models(graph, 3, family=family, features=network.features, n_candidates=2, rng=seed)
        for graph in (adjacency, scale * adjacency)
    )
    assert labels_of(plain) == labels_of(scaled)


@families
@given(seed=st.integers(0, 1000), n_isolated=st.integers(1, 20), k=st.integers(1, 8))
def test_nodes_without_links_or_features_are_put_somewhere(family, seed, n_isolated, k):
    network = make_attributed_blocks(30, 3, mean_degree=4, random_state=seed)
    n = 30 + n_isolated
    adjacency = sparse.csr_array(sparse.block_diag([network.adjacency, sparse.csr_array((n_isolated, n_isolated))]))
    no_features = sparse.csr_array((n_isolated, network.graph.n_features))
    features = sparse.csr_array(sparse.vstack([network.features, no_features]))
    for model in find_block_models(
        adjacency, k, family=family, features=features, n_candidates=6, rng=np.random.default_rng(seed)
    ):
        assert model.labels.shape == (n,)
        assert 1 <= model.n_blocks <= k
        assert np.isfinite(model.relative_error)


@families
def test_graphs_at_the_edge_of_what_is_allowed_give_blocks_without_empty_ones(family):
    two_cliques = np.kron(np.eye(2), np.ones((3, 3)))
    with_isolated = np.zeros((9, 9))
    with_isolated[:6, :6] = two_cliques
    one_link = np.zeros((4, 4))
    one_link[0, 1] = one_link[1, 0] = 1
    for A in (two_cliques, with_isolated, one_link, np.eye(3)):
        for k in range(1, len(A) + 1):
            for model in find_block_models(
                sparse.csr_array(A),
                k,
                family=family,
                features=np.eye(len(A)),
                n_candidates=6,
                rng=np.random.default_rng(0),
            ):
                assert (model.block_sizes > 0).all()
                assert model.n_blocks <= k
                assert np.isfinite(model.density).all()


def test_blocks_of_the_users_own_are_known_as_given():
    network = planted("assortative")
    assert BlockModel.from_labels(network.adjacency, network.blocks).family == "given"


def test_bad_input_is_named():
    adjacency = planted("assortative").adjacency
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="n_blocks is 401 but the graph has 400 nodes; choose 1 to 400"):
        find_block_models(adjacency, 401, rng=rng)
    with pytest.raises(ValueError, match=r"'spectrum'.*'spectral'.*'onmtf'.*'mixed'"):
        find_block_models(adjacency, 3, family="spectrum", rng=rng)
    with pytest.raises(ValueError, match=r"'smoothed'.*features.*pass features"):
        find_block_models(adjacency, 3, family="smoothed", rng=rng)
    with pytest.raises(ValueError, match="features has 3 rows but the graph has 400 nodes; pass one row per node"):
        find_block_models(adjacency, 3, family="mixed", features=np.eye(3), rng=rng)


def test_a_table_of_edges_is_not_taken_for_a_matrix():
    """Its rows are edges, not nodes, and nodes without links are not in it."""
    table = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"table of 3 edges, which need not name every node; list the nodes"):
        find_block_models(table, 2, rng=np.random.default_rng(0))


def test_an_older_random_state_seeds_candidates_too():
    adjacency = make_attributed_blocks(60, 3, random_state=0).adjacency
    first, second = (find_block_models(adjacency, 3, n_candidates=2, rng=np.random.RandomState(5))[0] for _ in range(2))
    assert_array_equal(first.labels, second.labels)


def test_features_in_the_order_of_a_named_graph_are_taken():
    made = make_attributed_blocks(60, 3, random_state=0)
    ids = [f"n{node}" for node in range(60)]
    graph = pd.DataFrame(made.adjacency.toarray(), index=ids, columns=ids)
    table = pd.DataFrame(made.features.toarray(), index=ids)
    named = find_block_models(graph, 3, family="smoothed", features=table, n_candidates=1, rng=0)[0]
    plain = find_block_models(made.adjacency, 3, family="smoothed", features=made.features, n_candidates=1, rng=0)[0]
    assert_array_equal(named.labels, plain.labels)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_one_thread_finds_blocks_whatever_the_number_of_cores(family, n_jobs, monkeypatch):
    planted = make_attributed_blocks(250, 3, random_state=0)
    seen = []

    def at_work(start):
        pools = (pool for pool in threadpool_info() if pool["user_api"] in ("blas", "openmp"))  # not readers of files
        seen.extend(pool["num_threads"] for pool in pools)
        return start()

    starts = FAMILIES[family]
    monkeypatch.setitem(FAMILIES, family, lambda search: [partial(at_work, start) for start in starts(search)])
    settings = {"family": family, "features": planted.features, "n_candidates": 2, "rng": 0}
    threads._thread_pools.cache_clear()  # other tests may have loaded further libraries
    with threadpool_limits(2):
        find_block_models(planted.adjacency, 3, **settings, n_jobs=n_jobs)
    assert set(seen) == {1}


@families
def test_processes_of_another_backend_find_the_same_whatever_progress_holds(family):
    """A progress callback may hold a lock, which no process can send to another."""
    made, lock = make_attributed_blocks(60, 3, random_state=0), Lock()

    def progress(done, total):
        with lock:
            pass

    settings = {"family": family, "features": made.features, "n_candidates": 2, "rng": 0}
    here = find_block_models(made.adjacency, 3, **settings)
    with parallel_config("loky", n_jobs=2):
        there = find_block_models(made.adjacency, 3, **settings, progress=progress)
    assert_array_equal([model.labels for model in there], [model.labels for model in here])
