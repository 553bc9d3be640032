"""Densities reflected into what a similarity can repeat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel
from blockselect.blockmodels.model import check_block_model
from blockselect.bmgufs.descent import Descent
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.datasets import make_attributed_blocks
from blockselect.rows.matrices import membership_matrix

sizes_of_blocks = st.lists(st.integers(1, 6), min_size=1, max_size=5)
seeds = st.integers(0, 10_000)


def model_of(sizes, density):
    return BlockModel(np.repeat(np.arange(len(sizes)), sizes), np.asarray(density), 0.5, "spectral")


def random_model(sizes, seed):
    upper = np.random.default_rng(seed).random((len(sizes), len(sizes)))
    return model_of(sizes, (upper + upper.T) / 2)


def block_graph(model):
    F = membership_matrix(model.labels).toarray()
    return F @ model.density @ F.T


def precision(network, model):
    """Share of informative features among as many first ones as there are informative."""
    statistics = BlockStatistics.of(network.features, [model])
    solution = Descent(tol=0).solve(gram_squared(network.features), statistics, profile_ratio=0.6, sparsity=0.0)
    first = np.argsort(-solution.scores[0, 0], kind="stable")[: network.is_informative.sum()]
    return network.is_informative[first].mean()


def precisions(structure):
    """Means over networks, with the density as it is and reflected."""
    found = []
    for seed in range(5):
        network = make_attributed_blocks(structure=structure, n_decoys=30, random_state=seed)
        model = BlockModel.from_labels(network.adjacency, network.blocks)
        found.append((precision(network, model), precision(network, model.reflected())))
    return np.mean(found, axis=0)


@given(sizes=sizes_of_blocks, seed=seeds)
def test_a_positive_semi_definite_density_stays_what_it_is(sizes, seed):
    means = np.random.default_rng(seed).random((len(sizes), 3))
    model = model_of(sizes, means @ means.T)
    assert_allclose(model.reflected().density, model.density, atol=1e-12)


@given(size=st.integers(1, 9), k=st.integers(2, 6), p=st.floats(0.01, 1), share=st.floats(0, 1))
def test_equal_blocks_that_link_to_others_become_blocks_that_link_within(size, k, p, share):
    q = share * p  # within; the eigenvalues are q + (k − 1) p and, k − 1 times, q − p
    model = model_of([size] * k, np.where(np.eye(k, dtype=bool), q, p))
    between = (2 * q + (k - 2) * p) / k
    assert_allclose(model.reflected().density, between + (p - q) * np.eye(k), atol=1e-12)


@given(sizes=sizes_of_blocks, seed=seeds)
def test_the_new_density_is_that_of_the_absolute_value_of_the_block_graph(sizes, seed):
    model = random_model(sizes, seed)
    values, vectors = np.linalg.eigh(block_graph(model))
    absolute = (vectors * np.abs(values)) @ vectors.T
    assert_allclose(block_graph(model.reflected()), np.maximum(absolute, 0), atol=1e-12)


@given(sizes=sizes_of_blocks, seed=seeds)
def test_the_order_of_the_blocks_does_not_matter(sizes, seed):
    model = random_model(sizes, seed)
    order = np.random.default_rng(seed).permutation(len(sizes))
    reordered = BlockModel(np.argsort(order)[model.labels], model.density[np.ix_(order, order)], 0.5)
    assert_allclose(reordered.reflected().density, model.reflected().density[np.ix_(order, order)], atol=1e-12)


@given(sizes=sizes_of_blocks, seed=seeds)
def test_the_result_is_a_block_model_of_the_same_blocks(sizes, seed):
    model = random_model(sizes, seed)
    result = model.reflected()
    check_block_model(result, sum(sizes))
    assert_array_equal(result.density, result.density.T)
    assert_array_equal(result.labels, model.labels)
    assert (result.relative_error, result.family) == (model.relative_error, model.family)


def test_entries_below_zero_become_zero():
    chain = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 1]])  # its absolute value is negative between the first two
    values, vectors = np.linalg.eigh(chain)
    absolute = (vectors * np.abs(values)) @ vectors.T
    assert absolute.min() < -0.01
    assert_allclose(model_of([2, 2, 2], chain).reflected().density, np.maximum(absolute, 0), atol=1e-12)


def test_features_of_blocks_that_link_to_others_are_found_instead_of_avoided():
    before, after = precisions("disassortative")
    assert before < 0.1
    assert after > 0.5  # by chance: 30 of 130


def test_features_of_blocks_that_link_within_are_found_as_before():
    before, after = precisions("assortative")
    assert before > 0.5
    assert after == pytest.approx(before, abs=0.05)
