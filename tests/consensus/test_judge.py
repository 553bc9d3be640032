"""Selections are judged by what clusters by exactly these features explain of the links, and by blocks they tell."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import mutual_info_score

from blockselect import make_attributed_blocks
from blockselect.consensus.judge import N_CLUSTERS, Judge, Use, Verdict


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(400, 4, n_informative=20, n_redundant=0, n_noise=60, random_state=0)


def judge_of(network, n_clusters=None):
    return Judge.of(network.features, network.adjacency, [network.blocks], n_clusters, np.random.default_rng(0))


def test_what_clusters_explain_is_the_mutual_information_at_both_ends_of_a_link(network):
    judge = judge_of(network)
    labels = np.random.default_rng(1).integers(3, size=judge.features.shape[0])
    ends = labels[judge.ends]
    both = np.concatenate([ends, ends[::-1]], axis=1)
    by_chance = 3 * 2 / (4 * judge.ends.shape[1])
    assert_allclose(judge._information(labels, 3), mutual_info_score(*both) - by_chance, atol=1e-12)


def test_clusters_drawn_at_random_explain_nothing_on_average(network):
    judge = judge_of(network)
    rng = np.random.default_rng(2)
    runs = [judge._information(rng.integers(5, size=judge.features.shape[0]), 5) for _ in range(200)]
    assert abs(np.mean(runs)) < 3 * np.std(runs) / np.sqrt(200)


def test_informative_features_beat_noise(network):
    informative = np.flatnonzero(network.is_informative)
    noise = np.flatnonzero(~network.is_informative)[:20]
    verdict = judge_of(network).compare([noise, informative], np.random.default_rng(0))
    assert verdict.best == 1
    assert verdict.share[1] == pytest.approx(1)
    assert verdict.share[0] < 0.5


def test_the_same_selection_twice_is_the_first(network):
    informative = np.flatnonzero(network.is_informative)
    verdict = judge_of(network).compare([informative, informative.copy()], np.random.default_rng(0))
    assert verdict.best == 0


def test_both_uses_count_alike(network):
    informative = np.flatnonzero(network.is_informative)
    verdict = judge_of(network).compare([informative[:5], informative], np.random.default_rng(0))
    assert_allclose(verdict.share, (verdict.explained.share + verdict.recalled.share) / 2)
    assert verdict.recalled.mean.shape == (2, 1)  # one block model
    assert verdict.explained.mean.shape == (2, len(N_CLUSTERS))


def verdict_of(explained, recalled, n_links=1e9):
    uses = (Use([np.array([runs]) for runs in use]) for use in (explained, recalled))
    return Verdict(*uses, np.arange(len(explained)), n_links)


@pytest.mark.parametrize("use", ["explained", "recalled"])
def test_a_lead_within_what_runs_and_links_vary_is_none(use):
    first, same = [1.0, 1.2, 0.8, 1.0], [1.0, 1.0, 1.0, 1.0]

    def best(lead, **settings):
        runs = {"explained": [same, same], "recalled": [same, same]}
        return verdict_of(**{**runs, use: [first, [run + lead for run in first]]}, **settings).best

    assert best(0.1) == 0
    assert best(2) == 1
    assert best(2, n_links=2) == 0


def test_several_numbers_of_clusters_unless_one_is_known(network):
    assert judge_of(network).n_clusters == N_CLUSTERS
    assert judge_of(network, 5).n_clusters == (5,)


def test_no_more_clusters_than_nodes():
    adjacency = sparse.csr_array(np.ones((3, 3)) - np.eye(3))
    judge = Judge.of(np.eye(3), adjacency, [np.arange(3)], None, np.random.default_rng(0))
    assert judge.n_clusters == (3,)
    verdict = judge.compare([np.array([0, 1])], np.random.default_rng(0))
    assert np.isfinite(verdict.share).all()
    assert_array_equal(verdict.recalled.mean, 0)  # every node is told


def test_a_large_network_is_judged_by_some_of_its_links(network, monkeypatch):
    monkeypatch.setattr("blockselect.consensus.judge._N_LINKS", 300)
    judge = judge_of(network)
    assert judge.ends.shape == (2, 300)
    assert judge.features.shape[0] == judge.ends.max() + 1


def test_weights_of_links_count_and_their_scale_does_not(network):
    adjacency = network.adjacency.copy()
    scaled = adjacency * 1e-6
    informative = np.flatnonzero(network.is_informative)
    explained = [
        Judge.of(network.features, each, [network.blocks], None, np.random.default_rng(0))
        .compare([informative], np.random.default_rng(0))
        .explained.mean
        for each in (adjacency, scaled)
    ]
    assert_allclose(*explained)


def test_the_same_seed_gives_the_same_verdict_whatever_the_jobs(network):
    selections = [np.arange(start, start + 10) for start in (0, 20, 40)]
    one, two = (
        judge_of(network).compare(selections, np.random.default_rng(0), n_jobs=n_jobs).share for n_jobs in (1, 2)
    )
    assert_array_equal(one, two)


def test_a_large_network_is_judged_by_some_of_its_nodes(network, monkeypatch):
    monkeypatch.setattr("blockselect.consensus.judge._N_PLACED", 100)
    judge = judge_of(network)
    assert len(judge.placed) == len(judge.blocks[0]) == 100
    at_ends = np.unique(sparse.triu(network.adjacency, 1, format="coo").coords)
    assert_array_equal(judge.features[judge.placed].toarray(), network.features[at_ends][judge.placed].toarray())
    assert_array_equal(judge.blocks[0], network.blocks[at_ends][judge.placed])
