"""The blocks of a few nodes are told, and their features say those of the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import normalize

from blockselect import make_attributed_blocks
from blockselect.consensus.block_recall import draw_told, recalled


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(300, 3, n_informative=30, n_redundant=0, n_noise=60, random_state=0)


def rows_of(network, n_columns):
    return sparse.csr_array(normalize(network.features[:, :n_columns]))


def test_twenty_nodes_of_each_block_are_told_at_most_half_of_it():
    labels = np.repeat([0, 1, 2, 3], [100, 30, 5, 1])
    told = draw_told(labels, np.random.default_rng(0))
    assert_array_equal(np.bincount(labels[told]), [20, 15, 2, 1])
    assert len(np.unique(told)) == len(told)
    assert not np.array_equal(told, draw_told(labels, np.random.default_rng(1)))


@pytest.mark.parametrize("n_columns", [8, 90], ids=["fewer columns than told nodes", "more"])
def test_blocks_are_found_as_a_ridge_classifier_finds_them(network, n_columns):
    rows, told = rows_of(network, n_columns), draw_told(network.blocks, np.random.default_rng(0))
    peer = RidgeClassifier(alpha=1.0).fit(rows[told].toarray(), network.blocks[told])
    others = np.setdiff1d(np.arange(300), told)
    expected = np.mean(peer.predict(rows[others].toarray()) == network.blocks[others])
    assert_allclose(recalled(rows, network.blocks, [told]), [expected])


def test_informative_features_tell_more_blocks_than_noise(network):
    told = [draw_told(network.blocks, np.random.default_rng(seed)) for seed in range(4)]
    informative, noise = (
        recalled(sparse.csr_array(normalize(network.features[:, chosen])), network.blocks, told).mean()
        for chosen in (network.is_informative, ~network.is_informative)
    )
    assert informative > noise + 0.2


def test_where_every_node_is_told_none_is_left_to_find():
    assert_array_equal(recalled(sparse.csr_array(np.eye(2)), np.array([0, 1]), [np.array([0, 1])]), [0])
