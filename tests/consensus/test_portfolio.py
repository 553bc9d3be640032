"""Several ways to rank features, and the one that the judge prefers."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect import make_attributed_blocks
from blockselect.blockmodels import BlockModel
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.judge import Judge
from blockselect.consensus.portfolio import PLAIN, WAYS, Evidence, choose_way
from blockselect.consensus.weights import feature_gains, weighted
from blockselect.graphs.autocorrelation import autocorrelation_z
from blockselect.graphs.binarize import in_units


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(400, 8, n_informative=40, n_redundant=0, n_noise=100, random_state=0)


@pytest.fixture(scope="module")
def evidence(network):
    likelihood = JointLikelihood(network.graph)
    models = [BlockModel.from_labels(network.adjacency, network.blocks)]
    vote = np.random.default_rng(0).random(140) + 0.1
    vote[:3] = 0
    return Evidence.of(network.graph, vote, feature_gains(likelihood, network.graph, models), likelihood, models)


@pytest.fixture(scope="module")
def scores(evidence):
    return weighted(evidence.vote, evidence.gains)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_every_way_orders_all_features_and_those_that_score_nothing_last(evidence, scores, way):
    order = evidence.order(way, scores, 30)
    assert_array_equal(np.sort(order), np.arange(140))
    assert set(order[-3:]) == {0, 1, 2}


def test_the_plain_way_is_by_falling_score(evidence, scores):
    order = evidence.order(PLAIN, scores, 10)
    assert (np.diff(scores[order]) <= 1e-12).all()


def test_sets_mark_more_blocks_than_the_list(evidence, scores):
    marked = evidence.shares[0].argmax(axis=1)
    n_marked = {way: len(np.unique(marked[evidence.order(way, scores, 8)[:8]])) for way in WAYS}
    by_block = next(way for way in WAYS if way.guide == PLAIN.guide and way.construction == "by block")
    assert n_marked[by_block] > n_marked[PLAIN]


def test_the_table_says_how_each_way_was_judged(network, evidence, scores):
    judge = Judge.of(network.features, network.adjacency, evidence.labels, None, np.random.default_rng(0))
    choice = choose_way(evidence, scores, 16, judge, np.random.default_rng(0))
    assert list(choice.table["chosen"]).index(True) == WAYS.index(choice.way)
    assert choice.table["share_of_best"].max() <= 1
    assert {"guide", "construction", "explained_8", "blocks_found", "standard_error"} <= set(choice.table.columns)
    assert_array_equal(choice.order, evidence.order(choice.way, scores, 16))


def test_ways_that_select_the_same_features_are_judged_alike(network, evidence, scores):
    judge = Judge.of(network.features, network.adjacency, evidence.labels, 4, np.random.default_rng(0))
    choice = choose_way(evidence, scores, 137, judge, np.random.default_rng(0))
    assert choice.way == WAYS[0]
    assert choice.table["explained_4"].nunique() == 1


@pytest.mark.parametrize("scale", [1e-3, 7.0])
def test_the_unit_of_features_and_links_does_not_guide(network, evidence, scale):
    scaled = replace(network.graph, features=network.features * scale, adjacency=network.adjacency * scale)
    assert_allclose(replace(evidence, graph=scaled).autocorrelation, evidence.autocorrelation, rtol=1e-9)


def test_features_of_counts_are_guided_by_how_much_a_node_has(network, evidence):
    counts = network.features.copy()
    counts.data *= 1 + np.arange(len(counts.data)) % 3
    guided = replace(evidence, graph=replace(network.graph, features=counts)).autocorrelation
    assert np.isfinite(guided).all()
    assert not np.allclose(guided, evidence.autocorrelation)


def test_guides_are_vote_and_weight_weight_squared_links_alone_and_autocorrelation(network, evidence):
    vote, gains = evidence.vote, evidence.gains
    both, links = (np.sqrt(2 * np.maximum(each, 0)) for each in (gains.by_blocks + gains.by_links, gains.by_links))
    z = autocorrelation_z(network.features, network.adjacency, model="bernoulli")
    expected = {
        "vote × weight": vote * np.maximum(both, 1e-3),
        "vote × weight²": vote * np.maximum(both, 1e-3) ** 2,
        "links": np.maximum(links, 1e-3),
        "autocorrelation": np.abs(z),
    }
    for way in WAYS:
        assert_allclose(evidence.guided(way), expected[way.guide])


def test_a_feature_beyond_those_wanted_follows_by_its_guide_and_those_without_a_score_after_all(evidence, scores):
    guided = np.arange(140.0, 0, -1)
    order = evidence.enter(guided, "by block", scores, 10)
    assert_array_equal(order[10:-3], np.setdiff1d(np.arange(3, 140), order[:10]))
    assert_array_equal(order[-3:], [0, 1, 2])


def test_counts_are_compared_with_a_normal_distribution_sparse_or_not(network, evidence):
    counts = network.features.copy()
    counts.data *= 1 + np.arange(len(counts.data)) % 3
    expected = np.abs(autocorrelation_z(in_units(counts), network.adjacency, model="normal"))
    for features in (counts, counts.toarray()):
        known = replace(evidence, graph=replace(network.graph, features=features))
        assert_allclose(known.autocorrelation, expected)
