"""What the paper's method selects on real networks is what version 0.1 selected.

`data/scores_0.1.npz` has the scores of version 0.1 with 64 features to select and seed 0. They are compared to 1e-10 of
the largest rather than bit by bit: builds of BLAS add up in different orders.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blockselect import BMGUFS, fetch_blogcatalog, load_cora

STORED = Path(__file__).parent / "data" / "scores_0.1.npz"


@pytest.fixture(scope="module")
def cora():
    return load_cora()


@pytest.fixture(scope="module")
def blogcatalog(data_path):
    return fetch_blogcatalog()


def assert_same_scores(selector, graph, name):
    scores, before = selector.fit(graph.features, adjacency=graph.adjacency).scores_, np.load(STORED)[name]
    assert_allclose(scores, before, rtol=0, atol=1e-10 * before.max())
    for n in (64, 200):
        assert set(best(scores, n)) == set(best(before, n))
    assert set(np.flatnonzero(selector.support_)) == set(best(before, 64))


def best(scores, n):
    return np.argsort(-scores, kind="stable")[:n]


def test_the_papers_scores_of_cora_are_those_of_version_0_1(cora):
    assert_same_scores(BMGUFS(64, n_blocks=7, random_state=0), cora, "cora_paper")


def test_the_papers_scores_of_blogcatalog_are_those_of_version_0_1(blogcatalog):
    assert_same_scores(BMGUFS(64, n_blocks=6, random_state=0), blogcatalog, "blogcatalog_paper")
