"""Selections are judged by what clusters by exactly these features explain of the links, and by blocks they tell."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import mutual_info_score

from blockselect import make_attributed_blocks
from blockselect.consensus.judge import Judge, Use, Verdict


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
    assert verdict.explained.mean.shape == (2, 4)


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
    assert judge_of(network).n_clusters == (6, 8, 12, 16)
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


def test_a_share_is_the_mean_over_settings_of_what_the_best_reaches_and_its_error_that_of_independent_runs():
    use = Use([np.array([[1.0, 3], [4, 6]]), np.array([[4.0, 4], [2, 2]]), np.array([[-2.0, -1], [0, 0]])])
    assert_allclose(use.mean, [[2, 5], [4, 2], [-1.5, 0]])
    assert_allclose(use.largest, [4, 5])
    assert_allclose(use.share, [(2 / 4 + 1) / 2, (1 + 2 / 5) / 2, 0])
    assert_allclose(use.standard_error[:2], [np.hypot(1 / 4, 1 / 5) / 2, 0])
    both = Verdict(use, Use([np.array([[1.0, 3]]), np.array([[2.0, 2]]), np.array([[2.0, 2]])]), np.arange(3), 1e9)
    assert_allclose(both.standard_error[:2], [np.hypot(np.hypot(1 / 4, 1 / 5) / 2, 1 / 2) / 2, 0])


def test_where_nothing_explains_anything_all_shares_are_zero():
    assert_array_equal(Use([np.zeros((1, 2)), -np.ones((1, 2))]).share, 0)


ALIKE = [1.0, 1.0]


@pytest.mark.parametrize(
    ("vary", "n_links"),
    [("nothing", 200), ("the first", 1e12), ("the other", 1e12)],
    ids=["by links", "by runs of the first", "by runs of the other"],
)
def test_a_lead_counts_from_two_standard_errors(vary, n_links):
    """Each alone makes an error of 0.05, and the lead is half of what the first falls short by in one of both uses."""
    off = np.array([-0.1, 0.1])

    def best(lead):
        first, other = np.full(2, 1 - 2 * lead), np.ones(2)
        recalled = [first + off * (vary == "the first"), other + off * (vary == "the other")]
        return verdict_of([ALIKE, ALIKE], recalled, n_links=n_links).best

    assert best(0.095) == 0
    assert best(0.105) == 1


def test_the_best_third_and_the_first_get_more_runs(network):
    noise, informative = (np.flatnonzero(network.is_informative == known) for known in (False, True))
    selections = [noise[:5], *(informative[start : start + 8] for start in range(6))]
    verdict = judge_of(network).compare(selections, np.random.default_rng(0))
    assert len(verdict.finalists) == 4
    assert verdict.finalists[0] == 0
    for place in range(7):
        n_runs, n_draws = (8, 5) if place in verdict.finalists else (2, 2)
        assert verdict.explained.runs[place].shape == (4, n_runs)
        assert verdict.recalled.runs[place].shape == (1, n_draws)
    assert verdict.n_links == judge_of(network).ends.shape[1]


def small_judge(adjacency, labels=(), n_clusters=None):
    adjacency = sparse.csr_array(adjacency)
    return Judge.of(np.eye(adjacency.shape[0]), adjacency, labels, n_clusters, np.random.default_rng(0))


def test_links_are_those_between_two_nodes_and_unequal_weights_count_as_fewer():
    path = np.diag([1.0, 1, 2], 1)
    judge = small_judge(path + path.T + np.eye(4))
    assert_array_equal(judge.ends, [[0, 1, 2], [1, 2, 3]])
    assert_array_equal(judge.weights, [1, 1, 2])
    assert judge._n_links() == pytest.approx(4**2 / 6)
    assert judge._information(np.array([0, 0, 1, 1]), 2) == pytest.approx(
        mutual_information_of_path() - 2 / (4 * 16 / 6)
    )


def mutual_information_of_path():
    """Weight 1 within the first two nodes, 1 between, 2 within the others: each link at both ends."""
    cells = np.array([[2.0, 1], [1, 4]]) / 8
    by_row = cells.sum(axis=1)
    return float((cells * np.log(cells / np.outer(by_row, by_row))).sum())


def test_as_many_clusters_as_nodes_are_tried_and_the_blocks_of_three_models():
    ring = np.roll(np.eye(8), 1, axis=1)
    judge = small_judge(ring + ring.T, labels=[np.arange(8) % k for k in (2, 3, 4, 5)])
    assert judge.n_clusters == (6, 8)
    assert [blocks.max() for blocks in judge.blocks] == [1, 2, 3]


@pytest.mark.parametrize(("n_values", "n_sample"), [(0, 1_500), (10, 1_500), (100, 600), (200, 500)])
def test_centres_are_found_on_fewer_nodes_where_they_have_many_values(monkeypatch, n_values, n_sample):
    asked = []

    def noted(rows, n_clusters, *, n_starts, rng, n_sample):
        asked.append(n_sample)
        return np.zeros((len(n_clusters) * n_starts, rows.shape[0]), dtype=int)

    monkeypatch.setattr("blockselect.consensus.judge.clusterings", noted)
    rows = sparse.csr_array(np.ones((1000, n_values))) if n_values else sparse.csr_array((1000, 1))
    small_judge(np.ones((2, 2))).explained(rows, 3, np.random.default_rng(0))
    assert asked == [n_sample]


def test_of_a_large_network_a_hundred_thousand_links_and_five_thousand_nodes_are_looked_at():
    rng = np.random.default_rng(0)
    ends = rng.integers(30_000, size=(2, 130_000))
    adjacency = sparse.csr_array((np.ones(130_000), ends), shape=(30_000, 30_000))
    adjacency = sparse.csr_array(((adjacency + adjacency.T) > 0).astype(float))
    judge = Judge.of(sparse.csr_array((30_000, 1)), adjacency, [np.zeros(30_000, dtype=int)], None, rng)
    assert judge.ends.shape == (2, 100_000)
    assert len(judge.placed) == 5_000
