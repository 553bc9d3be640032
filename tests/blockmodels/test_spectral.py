"""Spectral blocks: the embedding they are clusters of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from blockselect import BlockModelSelector
from blockselect.blockmodels import families, find_block_models
from blockselect.blockmodels.candidates import find_candidates
from blockselect.blockmodels.families import spectral_embedding
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.datasets import make_attributed_blocks


def planted():
    return make_attributed_blocks(400, 3, mean_degree=30, random_state=0).adjacency


def test_the_sparse_eigenvectors_span_what_the_dense_ones_do(monkeypatch):
    adjacency = planted()
    sparse_embedding = spectral_embedding(adjacency, 3)
    monkeypatch.setattr("blockselect.blockmodels.embedding._SMALL", 10_000)
    dense_embedding = spectral_embedding(adjacency, 3)
    assert_allclose(sparse_embedding @ sparse_embedding.T, dense_embedding @ dense_embedding.T, atol=1e-6)


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


def test_known_eigenvectors_are_not_computed_again(monkeypatch):
    A = make_attributed_blocks(400, 4, mean_degree=20, random_state=0).adjacency
    count = count_blocks(A, rng=np.random.default_rng(0))
    new = find_block_models(A, 4, rng=np.random.default_rng(0), n_candidates=2)
    monkeypatch.setattr(families, "leading_eigenvectors", None)
    options = {"family": "spectral"}
    known = find_candidates(A, None, {4: 2}, rng=np.random.default_rng(0), eigenvectors=count.vectors, **options)
    for one, other in zip(known, new, strict=True):
        assert adjusted_rand_score(one.labels, other.labels) > 0.95
    fitted = BlockModelSelector(5, block_model="spectral", max_blocks=4, random_state=0)
    fitted.fit(np.eye(400), adjacency=A)  # the fit counts blocks, and finds them in the same eigenvectors
    with pytest.raises(TypeError):
        find_candidates(A, None, {4: 2}, rng=np.random.default_rng(0), eigenvectors=count.vectors[:, :2], **options)
