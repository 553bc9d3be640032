"""Blocks of the graph as it is, degrees left in."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import find_block_models
from blockselect.blockmodels.families import adjacency_embedding
from blockselect.datasets import make_attributed_blocks
from blockselect.evaluation.metrics import clustering_accuracy

seeds = pytest.mark.parametrize("seed", range(3))


def accuracy(network, family):
    models = find_block_models(
        network.adjacency, network.n_blocks, family=family, n_candidates=8, rng=np.random.default_rng(0)
    )
    return clustering_accuracy(network.blocks, models[0].labels)


@seeds
def test_core_and_periphery_are_found_where_links_are_many(seed):
    network = make_attributed_blocks(400, 2, structure="core-periphery", mean_degree=100, random_state=seed)
    assert accuracy(network, "adjacency") > 0.95


@seeds
def test_blocks_that_differ_by_degree_alone_are_told_apart_which_normalising_degrees_prevents(seed):
    activity = [0.7, 0.2]
    network = make_attributed_blocks(400, 2, density=np.outer(activity, activity), random_state=seed)
    assert accuracy(network, "adjacency") > 0.95
    assert accuracy(network, "spectral") < 0.75


def test_the_embedding_repeats_the_graph_that_its_eigenvectors_explain():
    adjacency = make_attributed_blocks(300, 4, random_state=0).adjacency
    A = adjacency.toarray()
    values, vectors = np.linalg.eigh(A)
    leading = np.argsort(-np.abs(values))[:5]
    absolute = (vectors[:, leading] * np.abs(values[leading])) @ vectors[:, leading].T
    embedding = adjacency_embedding(adjacency, 5)
    assert_allclose(embedding @ embedding.T, absolute, atol=1e-8)


def test_the_embedding_does_not_change_with_the_unit_of_the_weights():
    adjacency = make_attributed_blocks(300, 4, random_state=0).adjacency
    assert_allclose(adjacency_embedding(1e-9 * adjacency, 4), adjacency_embedding(adjacency, 4), atol=1e-10)


def test_a_graph_of_low_rank_gives_the_same_embedding_every_time():
    cliques = sparse.csr_array(np.kron(np.eye(3), np.ones((100, 100))))  # rank 3, and eight vectors are asked for
    embeddings = [adjacency_embedding(cliques, 8) for _ in range(3)]
    for again in embeddings[1:]:
        assert_array_equal(again, embeddings[0])
    assert np.count_nonzero(embeddings[0].any(axis=0)) == 3
