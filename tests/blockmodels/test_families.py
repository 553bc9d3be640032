"""Families of block models, and the candidates made of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from blockselect.blockmodels import FAMILIES, find_block_models
from blockselect.blockmodels.onmtf import onmtf_labels
from blockselect.blockmodels.spectral import spectral_embedding
from blockselect.datasets import make_attributed_blocks
from references import bmgufs
from references.problems import make_problem

families = pytest.mark.parametrize("family", sorted(FAMILIES))


def planted(structure, seed=0):
    return make_attributed_blocks(400, 3, structure=structure, mean_degree=30, random_state=seed)


@families
@pytest.mark.parametrize("structure", ["assortative", "disassortative"])
def test_planted_blocks_are_found(family, structure):
    network = planted(structure)
    best = find_block_models(network.adjacency, 3, family=family, rng=np.random.default_rng(0))[0]
    assert adjusted_rand_score(network.blocks, best.labels) > 0.8


@families
def test_candidates_come_in_the_order_of_their_error(family):
    models = find_block_models(
        planted("assortative").adjacency, 5, family=family, n_candidates=6, rng=np.random.default_rng(1)
    )
    errors = [model.relative_error for model in models]
    assert len(models) == 6
    assert errors == sorted(errors)


@families
def test_the_same_seed_gives_the_same_candidates_and_more_of_them_include_fewer(family):
    adjacency = planted("assortative").adjacency
    ten, again, four = (
        find_block_models(adjacency, 4, family=family, n_candidates=n, rng=np.random.default_rng(3))
        for n in (10, 10, 4)
    )
    for first, second in zip(ten, again, strict=True):
        assert_array_equal(first.labels, second.labels)
    errors = [model.relative_error for model in ten]
    assert all(any(np.isclose(model.relative_error, errors)) for model in four)


def test_parallel_candidates_are_the_same():
    adjacency = planted("assortative").adjacency
    one, two = (
        find_block_models(adjacency, 4, n_candidates=4, rng=np.random.default_rng(3), n_jobs=jobs) for jobs in (1, 2)
    )
    for first, second in zip(one, two, strict=True):
        assert_array_equal(first.labels, second.labels)


@given(seed=st.integers(0, 1000))
def test_onmtf_updates_are_those_of_the_paper(seed):
    problem = make_problem(seed, n=18)
    A = problem.A + 0.01  # no zero rows, where the printed updates divide by zero
    rng = np.random.default_rng(seed)
    F, half = rng.random((18, 3)), rng.random((3, 3))
    slow, _ = bmgufs.onmtf(A, F, (half + half.T) / 2, n_iter=20)
    fast = onmtf_labels(sparse.csr_array(A), 3, [np.random.default_rng(seed)], n_iter=20)[0]
    assert_array_equal(fast, slow.argmax(axis=1))


@families
def test_blocks_do_not_change_with_the_scale_of_the_weights(family):
    adjacency = planted("assortative").adjacency
    plain, scaled = (
        find_block_models(a, 3, family=family, n_candidates=3, rng=np.random.default_rng(0))
        for a in (adjacency, 16.0 * adjacency)
    )
    for first, second in zip(plain, scaled, strict=True):
        assert_array_equal(first.labels, second.labels)
        assert_allclose(16.0 * first.density, second.density, rtol=1e-12)


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
                sparse.csr_array(A), k, family=family, n_candidates=2, rng=np.random.default_rng(0)
            ):
                assert (model.block_sizes > 0).all()
                assert model.n_blocks <= k
                assert np.isfinite(model.density).all()


def test_the_sparse_eigenvectors_span_what_the_dense_ones_do(monkeypatch):
    adjacency = planted("assortative").adjacency
    dense_limit = 10_000
    sparse_embedding = spectral_embedding(adjacency, 3)
    monkeypatch.setattr("blockselect.blockmodels.spectral._SMALL", dense_limit)
    dense_embedding = spectral_embedding(adjacency, 3)
    assert_allclose(sparse_embedding @ sparse_embedding.T, dense_embedding @ dense_embedding.T, atol=1e-6)


def test_a_graph_of_low_rank_gives_the_same_blocks_every_time():
    cliques = sparse.csr_array(np.kron(np.eye(3), np.ones((100, 100))))  # rank 3, and eight vectors are asked for
    embeddings = [spectral_embedding(cliques, 8) for _ in range(3)]
    for again in embeddings[1:]:
        assert_array_equal(again, embeddings[0])
    assert np.count_nonzero(embeddings[0].any(axis=0)) == 3


def test_two_copies_of_a_graph_are_told_apart():
    half = planted("assortative").adjacency
    copies = sparse.csr_array(sparse.block_diag([half, half]))
    best = find_block_models(copies, 2, rng=np.random.default_rng(0))[0]
    assert_array_equal(best.block_sizes, [400, 400])


def test_bad_input_is_named():
    adjacency = planted("assortative").adjacency
    with pytest.raises(ValueError, match="n_blocks is 401 but the graph has 400 nodes; choose 1 to 400"):
        find_block_models(adjacency, 401, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"'leidn'.*'spectral', 'onmtf'"):
        find_block_models(adjacency, 3, family="leidn", rng=np.random.default_rng(0))
