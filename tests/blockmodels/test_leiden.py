"""Leiden communities merged to a number of blocks."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.blockmodels import find_block_models
from blockselect.blockmodels.families.leiden import leiden_labels, merge_communities
from blockselect.datasets import make_attributed_blocks
from references import blocks


@given(seed=st.integers(0, 1000), n_communities=st.integers(1, 9), k=st.integers(1, 5))
def test_merging_loses_as_little_modularity_as_trying_every_pair(seed, n_communities, k):
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((24, 24)) * (rng.random((24, 24)) < 0.3))  # self-loops too; no two gains alike
    A = half + half.T
    labels = np.concatenate([np.arange(n_communities), rng.integers(n_communities, size=24 - n_communities)])
    merged = merge_communities(sparse.csr_array(A), labels, k)
    literal = blocks.merge_to(A, labels, k)
    assert_array_equal(np.equal.outer(merged, merged), np.equal.outer(literal, literal))


def test_fewer_communities_than_blocks_come_back_as_they_are():
    pytest.importorskip("leidenalg")
    cliques = sparse.csr_array(np.kron(np.eye(3), np.ones((5, 5))))
    for labels in leiden_labels(cliques, 7, np.random.default_rng(0).spawn(3)):
        assert_array_equal(np.equal.outer(labels, labels), np.kron(np.eye(3), np.ones((5, 5))))


def test_nodes_without_links_stand_together():
    pytest.importorskip("leidenalg")
    A = np.zeros((25, 25))
    A[:15, :15] = np.kron(np.eye(3), np.ones((5, 5)))
    for labels in leiden_labels(sparse.csr_array(A), 6, np.random.default_rng(0).spawn(3)):
        assert len(np.unique(labels)) == 4
        assert len(np.unique(labels[15:])) == 1


@pytest.mark.parametrize("package", ["leidenalg", "igraph"])
def test_a_missing_package_is_named_before_any_work(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    adjacency = make_attributed_blocks(50, 3, random_state=0).adjacency
    with pytest.raises(ImportError, match=r"leidenalg and igraph.*pip install 'blockselect\[leiden\]'"):
        find_block_models(adjacency, 3, family="leiden", rng=np.random.default_rng(0))
