"""Features that match the graph better than chance: discover_features and BlockModelSelector("auto")."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import false_discovery_control
from sklearn.exceptions import ConvergenceWarning

from benchmarks.discovery_networks import SCENARIOS, draw
from blockselect import (
    BlockModel,
    BlockModelSelector,
    RowChunks,
    check_attributed_graph,
    discover_features,
    find_block_models,
    make_attributed_blocks,
)
from blockselect.inspection import discoveries
from blockselect.inspection.discoveries import match_blocks
from blockselect.utils.errors import ParameterError
from made_fits import QUICK, fit, precision


def discover(network, **options):
    options = {"n_blocks": 3, "n_candidates": 5, "random_state": 0, **options}
    return discover_features(network.features, adjacency=network.adjacency, **options)


def test_planted_features_are_found_and_few_others(network):
    support = discover(network).support
    assert support[network.is_informative].mean() >= 0.4
    assert network.is_informative[support].mean() >= 0.8


def test_discoveries_are_those_whose_q_value_is_within_the_level(network):
    found = discover(network, level=0.05)
    assert_array_equal(found.q_values, false_discovery_control(found.p_values))
    assert_array_equal(found.support, found.q_values <= 0.05)
    assert ((found.p_values > 0) & (found.p_values <= found.q_values)).all()


def test_a_higher_level_finds_more(network):
    found = [discover(network, level=level).support for level in (0.01, 0.1, 0.5, 0.99)]
    for fewer, more in pairwise(found):
        assert (more | ~fewer).all()
    assert found[-1].sum() > found[0].sum()


def test_the_same_seed_gives_the_same_p_values(network):
    first, again, other = (discover(network, random_state=seed).p_values for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert (first != other).any()


def test_the_number_of_blocks_is_chosen_where_none_is_given(network):
    support = discover(network, n_blocks=None).support
    assert network.is_informative[support].sum() >= 5
    assert network.is_informative[support].mean() >= 0.8


def test_the_smallest_p_value_is_set_by_the_number_of_permutations(network):
    steps = discover(network, n_permutations=20).p_values * (1 + 20 * 52)
    assert_allclose(steps, np.round(steps))
    assert 1 <= np.round(steps.min()) <= 5


def test_dense_features_and_counts_give_the_p_values_of_presence(network):
    counts = network.features * np.random.default_rng(0).integers(1, 50, size=(200, 1))
    plain = discover(network).p_values
    for features in (network.features.toarray(), counts):
        found = discover_features(features, adjacency=network.adjacency, n_blocks=3, n_candidates=5, random_state=0)
        assert_array_equal(found.p_values, plain)


def test_a_feature_of_all_nodes_alike_is_never_discovered(network):
    features = np.column_stack([network.features.toarray(), np.ones(200), np.zeros(200)])
    found = discover_features(features, adjacency=network.adjacency, n_blocks=3, random_state=0)
    assert_array_equal(found.p_values[-2:], 1.0)
    assert not found.support[-2:].any()


def test_candidates_that_read_the_features_have_no_say(network):
    candidates = fit(network, "auto").candidates_
    by_links = [model for model in candidates if model.family != "smoothed"]
    assert 0 < len(by_links) < len(candidates)
    all_p, by_links_p = (
        discoveries.match_blocks(network.graph, models, level=0.1, rng=np.random.default_rng(0)).p_values
        for models in (candidates, by_links)
    )
    assert_array_equal(all_p, by_links_p)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, np.nan])
def test_a_level_that_is_no_share_is_refused(network, level):
    with pytest.raises(ParameterError, match=r"level is .*; expected a share between 0 and 1"):
        discover(network, level=level)


def test_too_few_permutations_are_refused(network):
    with pytest.raises(ParameterError, match="n_permutations is 2; expected a whole number, at least 3"):
        discover(network, n_permutations=2)


def test_a_graph_that_the_features_made_is_refused(network):
    with pytest.raises(ValueError, match="would match them by construction; pass a graph"):
        discover_features(network.features, adjacency=None)
    with pytest.raises(ValueError, match="would match them by construction; pass a graph"):
        BlockModelSelector("auto").fit(network.features)


def test_blocks_that_the_features_made_are_refused(network):
    found_so = BlockModel.from_labels(network.adjacency, network.blocks, family="smoothed")
    for blocks in ("smoothed", found_so):
        with pytest.raises(ParameterError, match='block_model is "smoothed", which uses the features') as raised:
            fit(network, "auto", block_model=blocks)
        assert raised.value.parameter == "block_model"


def test_auto_selects_the_discoveries_at_a_level_of_one_tenth(network):
    selector = fit(network, "auto")
    assert_array_equal(selector.q_values_, false_discovery_control(selector.p_values_))
    assert_array_equal(selector.support_, selector.q_values_ <= 0.1)
    assert selector.n_features_ == selector.support_.sum() == selector.transform(network.features).shape[1] >= 6
    assert precision(network, selector) >= 0.8


def test_auto_changes_neither_scores_nor_ranking(network):
    selector = fit(network, "auto")
    counted = fit(network, selector.n_features_)
    assert_array_equal(selector.ranking_, counted.ranking_)
    assert_array_equal(selector.scores_, counted.scores_)
    assert sorted(selector.ranking_) == list(range(1, 53))
    assert counted.p_values_ is counted.q_values_ is None
    assert set(np.flatnonzero(selector.support_)) & set(np.flatnonzero(counted.support_))


@pytest.mark.parametrize("given", ["labels", "list"])
def test_blocks_of_ones_own_can_be_asked_too(network, given):
    labels = network.blocks if given == "labels" else network.blocks.tolist()
    assert precision(network, fit(network, "auto", block_model=labels)) >= 0.8


def test_of_noise_nothing_is_selected_and_that_is_said():
    noise = make_attributed_blocks(100, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no feature matches the graph better than chance .* rate of 0\.1"):
        selector = fit(noise, "auto")
    assert selector.n_features_ == 0
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(noise.features).shape == (100, 0)


def test_the_next_fit_forgets_the_p_values_of_the_last(network):
    selector = fit(network, "auto")
    assert selector.p_values_ is not None
    selector.set_params(n_features_to_select=12).fit(network.features, adjacency=network.adjacency)
    assert selector.p_values_ is selector.q_values_ is None


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=20), st.floats(0.01, 0.99))
def test_the_cut_is_that_of_benjamini_and_hochberg(p_values, level):
    ordered = np.sort(p_values)
    within = np.flatnonzero(ordered <= level * np.arange(1, len(p_values) + 1) / len(p_values))
    cut = ordered[within.max()] if len(within) else -1.0
    q_values = false_discovery_control(p_values)
    near = np.isclose(q_values, level, rtol=1e-12)
    assert_array_equal((q_values <= level)[~near], (np.array(p_values) <= cut)[~near])


@pytest.mark.parametrize(("n_informative", "least_found"), [(10, 0.3), (0, 0)])
def test_the_share_of_false_discoveries_is_kept_on_average(n_informative, least_found):
    """With decoys, too, which are related to one another but not to the graph."""
    level, false, found = 0.1, [], []
    for seed in range(60):
        network = make_attributed_blocks(
            100,
            3,
            mean_degree=8,
            n_informative=n_informative,
            n_redundant=0,
            n_noise=30,
            n_decoys=10,
            random_state=seed,
        )
        rng = np.random.default_rng(seed)
        models = find_block_models(network.adjacency, 3, n_candidates=2, rng=rng)
        support = match_blocks(network.graph, models, level=level, n_rounds=20, rng=rng).support
        false.append(np.count_nonzero(support & ~network.is_informative) / max(support.sum(), 1))
        found.append(np.count_nonzero(support & network.is_informative) / max(n_informative, 1))
    assert np.mean(false) <= level + 2 * np.std(false, ddof=1) / np.sqrt(len(false))
    assert np.mean(found) >= least_found


def test_row_chunks_are_refused_with_the_way_out(network):
    chunks = RowChunks.from_blocks([network.features])
    with pytest.raises(ValueError, match="row chunks do not provide; pass some of the features"):
        discover_features(chunks, adjacency=network.adjacency)


def false_and_found(networks, level=0.1):
    """Mean share of false discoveries with its standard error, and mean share of informative features found."""
    false, found = [], []
    for seed, (features, adjacency, informative) in enumerate(networks):
        rng = np.random.default_rng(seed)
        graph = check_attributed_graph(features, adjacency)
        models = find_block_models(graph.adjacency, 3, n_candidates=2, rng=rng)
        support = match_blocks(graph, models, level=level, n_rounds=30, rng=rng).support
        false.append(np.count_nonzero(support & ~informative) / max(support.sum(), 1))
        found.append(np.count_nonzero(support & informative) / max(informative.sum(), 1))
    return np.mean(false), np.std(false, ddof=1) / np.sqrt(len(false)), np.mean(found)


def by_degree(power, seed):
    """Hubs have more of everything: a node has features in proportion to a power of its degree + 1."""
    rng = np.random.default_rng(seed)
    pull = np.minimum(rng.pareto(1.5, 150) + 1, 10)
    blocks = np.arange(150) % 3
    chance = 0.08 * np.outer(pull, pull) / pull.mean() ** 2 * np.where(blocks[:, None] == blocks, 2.5, 0.3)
    upper = np.triu(rng.random((150, 150)) < chance, k=1)
    propensity = ((upper + upper.T).sum(axis=1) + 1.0) ** power
    informative = np.arange(60) < 15
    marks = np.where((blocks[:, None] == np.arange(60) % 3) & informative, 4.0, 1.0)
    rates = 0.06 * marks * (propensity / propensity.mean())[:, None]
    return (rng.random((150, 60)) < rates).astype(float), (upper + upper.T).astype(float), informative


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_features_that_follow_how_many_a_node_has_are_no_discoveries(power):
    """If all nodes were permuted, whatever their totals, well over a third of the discoveries would be false."""
    mean, error, found = false_and_found(by_degree(power, seed) for seed in range(40))
    assert mean <= 0.1 + 2 * error
    assert found > 0.3


def test_features_of_hubs_are_discoveries_where_most_features_do_not_follow_degrees():
    rng = np.random.default_rng(0)
    pull = np.minimum(rng.pareto(1.5, 300) + 1, 20.0)
    upper = np.triu(rng.random((300, 300)) < np.minimum(6 * np.outer(pull, pull) / pull.mean() ** 2 / 300, 1), 1)
    adjacency = (upper | upper.T).astype(float)
    degrees = adjacency.sum(axis=0) + 1
    of_hubs = rng.random((300, 20)) < np.minimum(0.2 * degrees / degrees.mean(), 1)[:, None]
    features = np.column_stack([of_hubs, rng.random((300, 60)) < 0.1]).astype(float)
    support = discover_features(features, adjacency=adjacency, n_blocks=3, n_candidates=4, random_state=0).support
    assert support[:20].mean() > 0.3
    assert support[20:].mean() < 0.1


def test_isolated_nodes_change_nothing(network):
    """Beside n others a fifth were isolated and empty: three of four discoveries were false."""
    features = np.vstack([network.features.toarray(), np.zeros((50, 52))])
    adjacency = np.zeros((250, 250))
    adjacency[:200, :200] = network.adjacency.toarray()
    beside = discover_features(features, adjacency=adjacency, n_blocks=3, n_candidates=5, random_state=0)
    assert_array_equal(beside.p_values, discover(network).p_values)
    features[200:] = 1.0  # features of nodes without links say nothing either
    with_features = discover_features(features, adjacency=adjacency, n_blocks=3, n_candidates=5, random_state=0)
    assert_array_equal(with_features.p_values, discover(network).p_values)


def test_nodes_without_features_are_left_out_of_the_exchange(network):
    features = network.features.toarray()
    features[::4] = 0
    graph = check_attributed_graph(features, network.adjacency)
    models = [BlockModel.from_labels(network.adjacency, network.blocks)]
    left = np.arange(200) % 4 > 0
    without = BlockModel.from_labels(network.adjacency[left][:, left], network.blocks[left])
    smaller = check_attributed_graph(features[left], network.adjacency[left][:, left])
    found, alone = (
        match_blocks(one, [model], level=0.1, rng=np.random.default_rng(0)).p_values
        for one, model in ((graph, models[0]), (smaller, without))
    )
    assert (
        np.corrcoef(np.log(found), np.log(alone))[0, 1] > 0.95
    )  # but for densities, which links of those left out make


def test_weights_with_heavy_tails_hide_nothing(network):
    """With uncapped weights, blocks would be a few heavy links, and hardly any feature would be found."""
    rng = np.random.default_rng(0)
    upper = np.triu(network.adjacency.toarray(), k=1)
    upper[upper > 0] = rng.pareto(0.8, np.count_nonzero(upper)) + 1
    plain = found = chosen = 0
    for seed in range(3):
        options = {"n_blocks": 3, "n_candidates": 5, "random_state": seed}
        plain += discover(network, random_state=seed).support.sum()
        found += discover_features(network.features, adjacency=upper + upper.T, **options).support.sum()
        selector = BlockModelSelector("auto", **{**QUICK, "random_state": seed})
        chosen += selector.fit(network.features, adjacency=upper + upper.T).n_features_
    assert found >= 0.75 * plain > 0
    assert chosen >= 0.75 * plain


def test_running_out_of_memory_says_in_what_and_what_to_do(network):
    class Full(np.random.RandomState):
        def randint(self, *arguments):
            raise MemoryError("Unable to allocate 9 GiB")

    with pytest.raises(MemoryError, match=r"not enough memory to test the features \(Unable to allocate 9 GiB\); drop"):
        discover(network, random_state=Full(0))


def test_a_graph_of_loops_alone_is_refused(network):
    with pytest.raises(ValueError, match="no link joins two different nodes, so no feature can be associated"):
        discover_features(network.features, adjacency=np.eye(200))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_few_features_need_no_totals(network, m):
    which = np.flatnonzero(network.is_informative)[:m]
    found = discover_features(
        network.features[:, which],
        adjacency=network.adjacency,
        n_blocks=3,
        n_candidates=5,
        n_permutations=300,
        random_state=0,
    )
    assert found.p_values.min() < 0.02


@pytest.mark.parametrize(
    ("scenario", "power"),
    [
        ("40 of 100 features mark one block", 0.6),
        ("core and periphery", 0.4),
        ("plain", 0.6),
        ("1,000 nodes, blocks of 80, 10 and 10 %", 0.5),
    ],
)
def test_features_are_found_where_many_mark_one_block_and_where_degrees_are_all_there_is(scenario, power):
    found, false = [], []
    for seed in range(3):
        truth = draw(SCENARIOS[scenario], np.random.default_rng([seed, 1]))
        support = discover_features(
            truth.features, adjacency=truth.adjacency, n_candidates=6, random_state=seed
        ).support
        found.append(support[truth.informative].mean())
        false.append((support & ~truth.informative).sum() / max(support.sum(), 1))
    assert np.mean(found) > power
    assert np.mean(false) < 0.25


def test_nodes_of_equal_degree_stand_in_one_group_however_they_are_ordered():
    degrees = np.array([1, 1, 1, 2, 2, 2, 2, 9, 9])
    assert_array_equal(discoveries.groups_by_degree(degrees), [0, 0, 0, 1, 1, 1, 1, 2, 2])
    assert_array_equal(discoveries.groups_by_degree(np.full(5, 3.0)), np.zeros(5))


@pytest.mark.parametrize("unit", [1e-200, 1, 1e200])
def testgroups_by_degree_part_where_degrees_do_in_any_unit(unit):
    degrees = np.array([14, 3, 15, 16, 2, 40, 15, 14, 16, 13, 41, 4, 15, 14])
    expected = [1, 0, 1, 1, 0, 2, 1, 1, 1, 1, 2, 0, 1, 1]
    assert_array_equal(discoveries.groups_by_degree(unit * degrees), expected)
    assert not discoveries.groups_by_degree(unit * (1 + 1e-12 * degrees)).any()  # rounding


def test_nothing_is_found_where_no_node_has_both_links_and_features(network):
    features = np.zeros((230, network.features.shape[1]))
    features[200:] = network.features[:30].toarray()
    adjacency = np.zeros((230, 230))
    adjacency[:200, :200] = network.adjacency.toarray()
    found = discover_features(features, adjacency=adjacency, n_blocks=3, n_candidates=2, random_state=0)
    assert not found.support.any()
    assert (found.p_values == 1).all()


def test_discoveries_are_printed_in_one_line():
    found = discoveries.Discoveries(np.array([0.001, 0.5]), np.array([0.002, 0.5]), np.array([True, False]))
    assert repr(found) == "Discoveries(1 of 2 features, smallest q-value 0.002)"
