"""Every family of block models and every selector on graphs of plain shapes: a result or a clear refusal, in time.

CI takes small graphs; `make shapes` the largest that a method is meant for, up to 20,000 nodes.
"""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect.blockmodels import FAMILIES, find_block_models
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.registry import SELECTORS, make_selector
from made_graphs import binary_tree, complete, grid, one_link, pairs, path, ring, star

N_NODES = int(os.environ.get("BLOCKSELECT_SHAPE_NODES", "150"))
SECONDS = 600  # a case; far more than any takes, so that nothing can hang
SHAPES = [path, ring, binary_tree, grid, star, complete, pairs, one_link]
MOST_LINKED = 1500  # nodes of a complete graph: a million links
MOST_NODES = {"spec": 5000, "spec-published": 5000}  # they compare all pairs of nodes
COMPARE_WITH_NON_LINKS = {"mmpop", "mmpop-logistic", "partial-order", "gfs", "adapt"}
GUIDED_BY_NODES = [name for name, method in SELECTORS.items() if method.guidance in ("blocks", "network")]
every_shape = pytest.mark.parametrize("shape", SHAPES)


def made(shape):
    return shape(min(N_NODES, MOST_LINKED) if shape is complete else N_NODES)


def features_of(n_nodes):
    """A tenth of the entries, and one feature that half of the nodes have."""
    held = np.random.default_rng(0).random((n_nodes, 30)) < 0.1
    held[:, 0] |= np.arange(n_nodes) < n_nodes // 2
    return sparse.csr_array(held.astype(np.float64))


@contextmanager
def in_time():
    """A case that takes too long fails; warnings meant for users do not, those of arithmetic do."""

    def stop(number, frame):
        raise TimeoutError(f"more than {SECONDS} seconds")

    timed = hasattr(signal, "SIGALRM")  # not on Windows
    if timed:
        before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield
    finally:
        if timed:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("family", FAMILIES)
@every_shape
def test_every_family_finds_blocks(family, shape):
    adjacency = made(shape)
    features = features_of(adjacency.shape[0])
    with in_time():
        models = find_block_models(
            adjacency, 6, family=family, features=features, n_candidates=2, rng=np.random.default_rng(0)
        )
    for model in models:
        assert 1 <= model.n_blocks <= 6
        assert model.labels.shape == (adjacency.shape[0],)
        assert 0 <= model.relative_error <= 1 + 1e-12


@every_shape
def test_blocks_are_counted(shape):
    with in_time():
        assert 2 <= count_blocks(made(shape), rng=np.random.default_rng(0)).n_blocks <= 12


@pytest.mark.parametrize("shape", [path, ring])
@pytest.mark.parametrize("family", ["spectral", "adjacency"])
def test_eigenvalues_that_crowd_neither_fail_nor_hang(shape, family):
    """3,000 nodes are enough for Lanczos iterations not to settle."""
    with in_time():
        models = find_block_models(shape(3000), 6, family=family, n_candidates=1, rng=np.random.default_rng(0))
    assert models[0].n_blocks == 6


@pytest.mark.parametrize("name", GUIDED_BY_NODES)
@every_shape
def test_every_selector_that_reads_the_graph_ranks_the_features(name, shape):
    adjacency = made(shape)
    selector = make_selector(name, 5, n_blocks=6, random_state=0)
    if shape is complete and name in COMPARE_WITH_NON_LINKS:
        with pytest.raises(ValueError, match="in which some pairs have no link"):
            selector.fit(features_of(adjacency.shape[0]), adjacency=adjacency)
        return
    check_ranking(selector, adjacency.shape[0], adjacency=adjacency)


@pytest.mark.parametrize("name", [name for name in SELECTORS if name not in GUIDED_BY_NODES])
def test_every_selector_that_reads_the_features_alone_ranks_them(name):
    check_ranking(make_selector(name, 5, n_blocks=6, random_state=0), min(N_NODES, MOST_NODES.get(name, N_NODES)))


def check_ranking(selector, n_nodes, **graph):
    features = features_of(n_nodes)
    with in_time():
        selector.fit(features, **graph)
    assert not np.isnan(selector.scores_).any()
    assert sorted(selector.ranking_) == list(range(1, features.shape[1] + 1))


@pytest.mark.parametrize("name", GUIDED_BY_NODES)
def test_a_graph_without_links_is_refused(name):
    selector = make_selector(name, 5, n_blocks=6, random_state=0)
    with pytest.raises(ValueError, match="adjacency has no link"):
        selector.fit(features_of(20), adjacency=sparse.csr_array((20, 20)))
