"""Spectral blocks: the embedding they are clusters of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from blockselect.blockmodels import find_block_models
from blockselect.blockmodels.candidates import find_candidates
from blockselect.blockmodels.families import spectral_embedding
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.datasets import make_attributed_blocks
from references import blocks


def planted():
    return make_attributed_blocks(400, 3, mean_degree=30, random_state=0).adjacency


def test_the_embedding_is_that_of_the_eigenvectors_of_the_dense_matrix():
    adjacency = planted()
    values, vectors = np.linalg.eigh(blocks.normalized_graph(adjacency.toarray()))
    dense = vectors[:, np.argsort(-np.abs(values))[:3]]
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    embedding = spectral_embedding(adjacency, 3)
    assert_allclose(embedding @ embedding.T, dense @ dense.T, atol=1e-6)


def test_a_graph_of_low_rank_gives_the_same_blocks_every_time():
    cliques = sparse.csr_array(np.kron(np.eye(3), np.ones((100, 100))))  # rank 3, and eight vectors are asked for
    embeddings = [spectral_embedding(cliques, 8) for _ in range(3)]
    for again in embeddings[1:]:
        assert_array_equal(again, embeddings[0])
    assert np.count_nonzero(embeddings[0].any(axis=0)) == 3


def test_two_copies_of_a_graph_are_told_apart():
    half = planted()
    copies = sparse.csr_array(sparse.block_diag([half, half]))
    best = find_block_models(copies, 2, rng=np.random.default_rng(0))[0]
    assert_array_equal(best.block_sizes, [400, 400])


@pytest.mark.parametrize("n_known", [4, 2])
def test_known_eigenvectors_are_used_if_there_are_as_many_as_blocks(n_known):
    made = make_attributed_blocks(400, 4, mean_degree=20, random_state=0)
    other = np.random.default_rng(0).permutation(made.blocks)  # vectors of these blocks are not those of the graph
    model = find_candidates(
        made.adjacency,
        None,
        {4: 1},
        family="spectral",
        rng=np.random.default_rng(0),
        eigenvectors=np.eye(4)[other][:, :n_known],
    )[0]
    assert adjusted_rand_score(other if n_known == 4 else made.blocks, model.labels) > 0.95


def test_eigenvectors_that_were_counted_give_the_blocks_of_new_ones():
    A = make_attributed_blocks(400, 4, mean_degree=20, random_state=0).adjacency
    vectors = count_blocks(A, rng=np.random.default_rng(0)).vectors
    known = find_candidates(A, None, {4: 2}, family="spectral", rng=np.random.default_rng(0), eigenvectors=vectors)
    new = find_block_models(A, 4, rng=np.random.default_rng(0), n_candidates=2)
    for one, other in zip(known, new, strict=True):
        assert adjusted_rand_score(one.labels, other.labels) > 0.95
