"""The explained curve equals the R² of a plain regression, and agrees with the attributes of the selector."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModelSelector, check_attributed_graph
from blockselect.consensus.explained_curve import fewest_for_nearly_all, sizes_to_try
from made_fits import easy_network, fit
from references import explained as reference

LABELS = np.repeat([0, 1, 2], 20)
PERFECT = (LABELS[:, None] == np.arange(3)).astype(float)


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(0)
    chance = np.where(LABELS[:, None] == LABELS, 0.5, 0.05)
    upper = np.triu(rng.random((60, 60)) < chance, 1)
    noise = (rng.random((60, 7)) < 0.3).astype(float)
    return check_attributed_graph(np.column_stack([PERFECT, noise]), (upper | upper.T).astype(float))


@pytest.fixture(scope="module")
def graph():
    return easy_network().graph


@pytest.fixture(scope="module")
def selector(graph):
    return fit(graph, 7)


def by_blocks(network, kind=BlockModelSelector, n=3, **options):
    return kind(n, block_model=LABELS, random_state=0, **options).fit(network.features, adjacency=network.adjacency)


def slow_share(features, adjacency, labels, columns):
    """Three blocks have one level, so their tree does not matter."""
    U, T = reference.design(features), reference.target(adjacency, [labels], [np.array([[0, 1, 1, 2], [2, 3, 2, 3]])])
    return reference.share(U, T, columns, reference.ridge(U))


@pytest.mark.parametrize("kind", [BlockModelSelector, BMGUFS])
def test_every_point_is_the_share_of_the_regression_written_out(network, kind):
    selector = by_blocks(network, kind)
    found = selector._fit_result.explained
    order, features, A = np.argsort(selector.ranking_), network.features, network.adjacency.toarray()
    assert [point["n_features"] for point in found["curve"]][:3] == [1, 2, 3]
    for point in found["curve"]:
        slow = slow_share(features, A, LABELS, order[: point["n_features"]])
        assert point["share"] == pytest.approx(slow, rel=1e-9)
    assert found["share"] == found["curve"][2]["share"]
    assert found["all"] == pytest.approx(slow_share(features, A, LABELS, np.arange(10)), rel=1e-9)


def test_the_curve_of_the_default_is_its_own_and_above_that_of_random_features(graph, selector):
    found = selector._fit_result.explained
    ours = {point["n_features"]: point["share"] for point in found["curve"]}
    assert_allclose([ours[size] for size in (1, 2, 4, 7)], selector.explained_[[0, 1, 3, 6]], rtol=1e-9)
    by_rank = np.argsort(selector.ranking_)[:7]
    assert_allclose(np.cumsum(selector.explained_more_[by_rank]), selector.explained_, rtol=1e-9)
    assert found["share"] == pytest.approx(selector.explained_[-1], rel=1e-9)
    assert all(point["share"] > point["random"] for point in found["curve"])
    assert found["share"] < found["all"] < 1


@pytest.mark.parametrize("n", [20, "auto"])
def test_features_that_may_follow_by_chance_and_discoveries_add_what_they_do_together(graph, n):
    selector = BlockModelSelector(n, n_blocks=3, n_candidates=2, random_state=0)
    selector.fit(graph.features, adjacency=graph.adjacency)
    found = selector._fit_result.explained
    at_cut = next(point for point in found["curve"] if point["n_features"] == selector.n_features_)
    assert at_cut["share"] == pytest.approx(selector.explained_[-1], rel=1e-9)
    assert selector.explained_[-1] <= found["all"] * (1 + 1e-4)


def test_random_features_are_those_of_a_few_draws_and_end_where_all_are_taken(network):
    found = by_blocks(network)._fit_result.explained
    assert found["curve"][-1]["n_features"] == 10
    assert found["curve"][-1]["random"] == pytest.approx(found["all"], rel=1e-3)
    again = by_blocks(network)._fit_result.explained
    assert again == found


@pytest.fixture(scope="module")
def wide_network(network):
    """More features than the curve contains, and than are all regressed on by default."""
    noise = (np.random.default_rng(1).random((60, 1300)) < 0.3).astype(float)
    return check_attributed_graph(np.column_stack([network.features, noise]), network.adjacency)


def test_a_selection_too_large_for_the_curve_says_what_the_selector_does(wide_network):
    selector = by_blocks(wide_network, n=1100)
    found = selector._fit_result.explained
    assert found["curve"][-1]["n_features"] == 1000
    assert found["share"] == selector.explained_[-1]
    assert len(selector.explained_) == 1100
    assert_array_equal(selector.explained_[1000:], selector.explained_[999])
    copies = check_attributed_graph(np.tile(PERFECT, 400), wide_network.adjacency)
    assert by_blocks(copies, BMGUFS, n=1100)._fit_result.explained["share"] is None


def test_the_share_of_many_features_is_only_stated_if_the_fit_needs_it(wide_network):
    assert by_blocks(wide_network)._fit_result.explained["all"] is None
    whole = by_blocks(wide_network, n=None)._fit_result.explained["all"]
    everything = np.arange(wide_network.n_features)
    slow = slow_share(wide_network.features, wide_network.adjacency.toarray(), LABELS, everything)
    assert whole == pytest.approx(slow, rel=1e-9)


def test_fewer_features_may_be_enough():
    assert fewest_for_nearly_all([{"n_features": 2, "share": 0.5}, {"n_features": 4, "share": 0.52}], 4) == 2
    assert fewest_for_nearly_all([{"n_features": 2, "share": 0.1}], 4) is None


def test_one_block_leaves_nothing_to_explain(network):
    one = BlockModelSelector(2, n_blocks=1, n_candidates=1, random_state=0)
    assert one.fit(network.features, adjacency=network.adjacency)._fit_result.explained is None


@pytest.mark.parametrize(
    ("n_selected", "n_usable", "sizes"),
    [(3, 100, [1, 2, 3, 4, 8, 12]), (4, 6, [1, 2, 4, 6]), (1, 1, [1]), (0, 9, [1, 2, 4]), (0, 0, [])],
)
def test_sizes_double_up_to_four_times_the_selection_and_hold_the_selection(n_selected, n_usable, sizes):
    assert sizes_to_try(n_selected, n_usable, 60) == sizes


def test_on_very_many_nodes_fewer_features_are_regressed_on():
    assert sizes_to_try(500, 10**6, 10**7)[-1] == 31


def test_dense_and_sparse_features_give_the_same_curve(network):
    other = check_attributed_graph(sparse.csr_array(network.features), network.adjacency)
    ours, theirs = (by_blocks(one, BMGUFS)._fit_result.explained for one in (network, other))
    for key in ("n_features", "share", "random"):
        assert_allclose([point[key] for point in ours["curve"]], [point[key] for point in theirs["curve"]], rtol=1e-9)
