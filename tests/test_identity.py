"""What is selected on real networks is what version 0.1 selected.

`data/scores_0.1.npz` has the scores of version 0.1 with 64 features to select and seed 0. The paper's are compared to
1e-10 of the largest rather than bit by bit: builds of BLAS add up in different orders. The default has become faster by
other starts and larger steps since, so that most of its features, not all, are the same; two seeds of version 0.1 had
95 % of the first 64 in common.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blockselect import BMGUFS, BlockModelSelector, fetch_blogcatalog, load_cora

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


def assert_much_in_common(selector, graph, name):
    scores, before = selector.fit(graph.features, adjacency=graph.adjacency).scores_, np.load(STORED)[name]
    for n in (64, 200):
        assert len(set(best(scores, n)) & set(best(before, n))) >= 0.85 * n


def best(scores, n):
    return np.argsort(-scores, kind="stable")[:n]


def test_the_papers_scores_of_cora_are_those_of_version_0_1(cora):
    assert_same_scores(BMGUFS(64, n_blocks=7, random_state=0), cora, "cora_paper")


def test_most_of_the_defaults_features_of_cora_are_those_of_version_0_1(cora):
    assert_much_in_common(BlockModelSelector(64, random_state=0), cora, "cora_default")


def test_the_papers_scores_of_blogcatalog_are_those_of_version_0_1(blogcatalog):
    assert_same_scores(BMGUFS(64, n_blocks=6, random_state=0), blogcatalog, "blogcatalog_paper")


@pytest.mark.slow
def test_most_of_the_defaults_features_of_blogcatalog_are_those_of_version_0_1(blogcatalog):
    assert_much_in_common(BlockModelSelector(64, random_state=0), blogcatalog, "blogcatalog_default")
