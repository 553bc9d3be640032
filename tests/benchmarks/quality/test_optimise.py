"""Searches for a better selection keep what they promise on a planted network."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from benchmarks.quality import optimise
from blockselect import AttributedGraph, make_attributed_blocks


@pytest.fixture(scope="module")
def graph():
    planted = make_attributed_blocks(200, 3, n_informative=12, n_redundant=0, n_noise=40, random_state=0)
    return AttributedGraph(planted.adjacency, planted.features, classes=planted.blocks)


@pytest.fixture(scope="module")
def split(graph):
    return optimise.Split.of(graph, 0)


def test_no_link_is_both_searched_by_and_hidden(graph, split):
    n_searched, n_hidden = (judge.ends.shape[1] for judge in (split.searched, split.hidden))
    assert n_searched + n_hidden == graph.n_links
    assert n_hidden == pytest.approx(0.2 * graph.n_links, rel=0.3)
    assert split.found.graph.n_links == n_searched


@pytest.mark.parametrize("kind", optimise.SEARCHES)
def test_a_search_only_ever_finds_what_explains_more(split, kind):
    steps = list(optimise.search(split, kind, 8, 10, seed=0))
    assert [n_tried for n_tried, _ in steps] == [0, 1, 3, 10]
    explained = [optimise.explained(split.searched, selected) for _, selected in steps]
    assert (np.diff(explained) >= 0).all()
    for _, selected in steps:
        assert len(np.unique(selected)) == 8


def test_an_exchange_starts_from_the_best_so_far(split):
    proposals = optimise.exchanges(split, 8, np.random.default_rng(0))
    first = next(proposals)
    assert len(np.setdiff1d(proposals.send(first), first)) == 1


def test_the_command_writes_a_row_for_each_search_and_number_of_tries(graph, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(optimise, "judged", lambda name: graph)
    table = tmp_path / "optimise.csv"
    optimise.main(["--networks", "planted", "--features", "8", "--tries", "3", "--seeds", "1", "--csv", str(table)])
    assert "exchanges" in capsys.readouterr().out
    rows = np.genfromtxt(table, delimiter=",", names=True, dtype=None, encoding=None)
    assert_array_equal(rows["tries"], [0, 1, 3, 0, 1, 3])
    assert_array_equal(rows["searched"][[0, 3]], 1)
