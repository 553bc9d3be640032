"""Sparse and dense features give the same selection, even with many ties among distances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect import BlockModelSelector, load_cora
from blockselect.baselines.by_features.mcfs import MCFS
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.baselines.by_features.udfs import UDFS

ignore_few_iterations = pytest.mark.filterwarnings("ignore:the objective did not converge")


@ignore_few_iterations
@pytest.mark.parametrize(
    "selector",
    [
        MCFS(64, n_blocks=7),
        NDFS(64, n_blocks=7, max_iter=20, random_state=0),
        NDFS(64, n_blocks=7, orthogonality=10, max_iter=20, random_state=0),
        UDFS(64, n_blocks=7, max_iter=3),
    ],
    ids=["MCFS", "NDFS", "NDFS, by the graph", "UDFS"],
)
def test_cora_gives_the_same_selection_from_both_storages(selector):
    words = load_cora().features[:900]
    supports = [selector.fit(kind).get_support() for kind in (words, words.toarray())]
    assert_array_equal(*supports)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_graph_of_neighbours_with_many_ties_is_the_same_from_every_storage(seed):
    rng = np.random.default_rng(seed)
    marked = np.arange(300)[:, None] % 3 == np.arange(60) % 5
    X = (rng.random((300, 60)) < np.where(marked, 0.3, 0.1)).astype(float)
    supports = [
        BlockModelSelector(15, n_neighbors=10, n_candidates=6, random_state=0).fit(kind(X)).get_support()
        for kind in (np.asarray, sparse.csr_array, sparse.csc_array, lambda X: X.astype(np.int64))
    ]
    for support in supports[1:]:
        assert_array_equal(support, supports[0])
