"""Effort: candidates, rounds and resampled graphs within a budget of work."""

from dataclasses import replace

import pytest
from scipy import sparse

from blockselect import BlockModelSelector, make_attributed_blocks, selection_stability
from blockselect.consensus import search
from blockselect.consensus.search import CHEAP, Effort, plan_effort

NETWORK = make_attributed_blocks(200, 3, mean_degree=2, random_state=0)


def fit(**settings):
    selector = BlockModelSelector(10, n_blocks=3, random_state=0, **settings)
    return selector.fit(NETWORK.features, adjacency=NETWORK.adjacency)


def test_work_grows_with_links_values_blocks_and_candidates():
    graph = NETWORK.graph
    fewer = (
        replace(graph, features=graph.features[:, :10]),
        replace(graph, adjacency=sparse.tril(graph.adjacency, format="csr")),
    )
    effort = plan_effort(graph, 3, n_candidates=12)
    assert all(plan_effort(less, 3, n_candidates=12).work < effort.work for less in fewer)
    assert plan_effort(graph, 6, n_candidates=12).work == 2 * effort.work
    assert plan_effort(graph, 3, n_candidates=24).work == 2 * effort.work


def test_more_candidates_are_found_where_they_are_cheap():
    graph = NETWORK.graph
    assert plan_effort(graph, 3, n_candidates="auto").asked_candidates == 48
    nine = plan_effort(graph, 3, n_candidates=9).work
    for times, expected in ((1, 9), (1.9, 15), (2, 18), (0.01, 9)):
        n_blocks = 3 * CHEAP / nine / times
        assert plan_effort(graph, n_blocks, n_candidates="auto").asked_candidates == expected


@pytest.mark.parametrize(
    ("work", "made"),
    [(0.01, (12, 50, 8)), (1.0, (12, 50, 8)), (1.6, (7, 31, 5)), (1e7, (3, 5, 5))],
)
def test_all_shrink_in_proportion_down_to_the_least(work, made):
    effort = Effort(work * search.BUDGET, 12)
    assert (effort.n_candidates, effort.max_rounds, effort.n_resamples(8)) == made
    assert effort.was_cut == (work > 1)


def test_no_more_is_made_than_was_asked_for():
    effort = Effort(1e20, 2)
    assert effort.was_cut
    assert effort.n_candidates == 2
    assert effort.n_resamples(3) == 3


def test_a_fit_keeps_to_the_budget_and_says_what_it_cut(monkeypatch):
    whole = fit(n_candidates=12)
    assert not whole.effort_.was_cut
    assert len(whole.candidates_) == 12
    monkeypatch.setattr(search, "BUDGET", whole.effort_.work / 1.6)
    cut = fit(n_candidates=12)
    assert cut.effort_.was_cut
    assert len(cut.candidates_) == cut.effort_.n_candidates == 7
    monkeypatch.setattr(search, "BUDGET", 1.0)
    assert len(fit().candidates_) == 3


def test_rounds_of_refinement_follow_the_budget(monkeypatch):
    """With few links, refinement continues after five rounds."""
    network = make_attributed_blocks(400, 5, mean_degree=2, random_state=0)
    selector = BlockModelSelector(10, n_blocks=5, n_candidates=3, refine=True, random_state=0)
    gains = []
    for budget in (search.BUDGET, 1.0):
        monkeypatch.setattr(search, "BUDGET", budget)
        selector.fit(network.features, adjacency=network.adjacency)
        gains.append(selector.candidates_table_["gain"].max())
    assert selector.effort_.max_rounds == 5
    assert gains[1] < gains[0]


def test_resamples_of_stability_follow_the_budget(monkeypatch):
    monkeypatch.setattr(search, "BUDGET", 1.0)
    selector = fit()
    for asked, made in ((8, 5), (4, 4)):
        seen = []
        selection_stability(
            selector,
            NETWORK.features,
            adjacency=NETWORK.adjacency,
            n_resamples=asked,
            progress=lambda *news, seen=seen: seen.append(news),
        )
        assert seen[-1] == ("resampling", made, made)


def test_dense_features_take_work_for_all_their_values():
    graph = replace(NETWORK.graph, features=NETWORK.features.toarray())
    links, values = graph.adjacency.nnz, graph.n_nodes * graph.n_features
    assert plan_effort(graph, 2, n_candidates=4).work == 2 * (8 + 50) * (links + values)


def test_blocks_that_are_given_are_one_candidate():
    selector = BlockModelSelector(10, block_model=NETWORK.blocks, random_state=0)
    effort = selector.fit(NETWORK.features, adjacency=NETWORK.adjacency).effort_
    assert (effort.asked_candidates, effort.n_candidates, effort.max_rounds, effort.was_cut) == (1, 1, 50, False)
    assert effort.work == 0
