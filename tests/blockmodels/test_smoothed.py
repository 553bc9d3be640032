"""Blocks of graph-smoothed features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import find_block_models
from blockselect.blockmodels.families import _embed, _random_walk, _weigh_by_rarity
from blockselect.datasets import make_attributed_blocks
from references import blocks
from references.problems import make_problem


def embed_smoothed(adjacency, features, n_dimensions):
    """By all features at once, where a candidate has half of them."""
    return _embed(_random_walk(adjacency), _weigh_by_rarity(features), n_dimensions)


def literal_similarity(A, X, k):
    """Cosines between nodes in the k leading directions of the smoothed features."""
    left, values, _ = np.linalg.svd(blocks.smoothed_features(A, X), full_matrices=False)
    embedding = left[:, :k] * values[:k]
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    return embedding @ embedding.T


@given(seed=st.integers(0, 1000), k=st.integers(1, 4))
def test_the_embedding_is_that_of_the_formula(seed, k):
    problem = make_problem(seed)
    embedding = embed_smoothed(sparse.csr_array(problem.A), sparse.csr_array(problem.Y), k)
    assert_allclose(embedding @ embedding.T, literal_similarity(problem.A, problem.Y, k), atol=1e-6)


def test_the_embedding_of_a_large_graph_is_that_of_the_formula():
    network = make_attributed_blocks(300, 3, random_state=0)
    embedding = embed_smoothed(network.adjacency, network.features, 3)
    literal = literal_similarity(network.adjacency.toarray(), network.features.toarray(), 3)
    assert_allclose(embedding @ embedding.T, literal, atol=1e-6)


@pytest.mark.parametrize("change", [lambda X: X.toarray(), lambda X: 1e6 * X, lambda X: X.astype(np.float32)])
def test_the_form_and_the_unit_of_features_do_not_matter(change):
    network = make_attributed_blocks(200, 3, random_state=0)
    plain, changed = (
        find_block_models(network.adjacency, 3, family="smoothed", features=features, n_candidates=3, rng=0)
        for features in (network.features, change(network.features))
    )
    for one, other in zip(plain, changed, strict=True):
        assert_array_equal(one.labels, other.labels)


def test_one_feature_gives_two_blocks_at_most():
    network = make_attributed_blocks(50, 3, random_state=0)
    one = network.features[:, [0]]
    for model in find_block_models(network.adjacency, 3, family="smoothed", features=one, n_candidates=2, rng=0):
        assert model.n_blocks <= 2
