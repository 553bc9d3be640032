"""BlockModelSelector's consensus: which candidates vote, what may move their blocks, and what it finds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BlockModelSelector, make_attributed_blocks
from blockselect.consensus.joint import JointProblem
from made_fits import QUICK, easy_network, fit, precision


@pytest.fixture(scope="module")
def network():
    return easy_network()


@pytest.fixture(scope="module")
def hard_network():
    """So few links that features help to find the blocks."""
    return make_attributed_blocks(200, 3, mean_degree=3, random_state=2)


@pytest.mark.parametrize(("n_candidates", "n_voting"), [(1, 1), (4, 1), (9, 3), (24, 6)])
def test_a_quarter_of_the_candidates_votes_and_none_of_the_others_tells_more(hard_network, n_candidates, n_voting):
    criteria = fit(hard_network, n_candidates=n_candidates).criteria_
    assert len(criteria) == n_candidates
    assert criteria["voted"].sum() == n_voting
    others = criteria.loc[~criteria["voted"], "evidence"]
    assert criteria.loc[criteria["voted"], "evidence"].min() >= others.max() or others.empty


def test_criteria_speak_of_the_candidates_in_their_order(hard_network):
    selector = fit(hard_network)
    criteria, problem = selector.criteria_, JointProblem(hard_network.graph)
    assert list(criteria) == ["family", "n_blocks", "relative_error", "evidence_at_start", "evidence", "voted"]
    for row, model in zip(criteria.itertuples(), selector.candidates_, strict=True):
        assert (row.family, row.n_blocks, row.relative_error) == (model.family, model.n_blocks, model.relative_error)
        assert row.evidence_at_start == pytest.approx(problem.evidence(model.labels))
    assert problem.evidence(selector.block_model_.labels) == pytest.approx(criteria["evidence"].max())


def test_joint_learning_moves_blocks_to_where_they_tell_more(hard_network):
    criteria = fit(hard_network).criteria_
    assert (criteria["evidence"] >= criteria["evidence_at_start"]).all()
    assert criteria["evidence"].max() > 1.05 * criteria["evidence_at_start"].max()


def test_without_joint_learning_candidates_vote_as_they_were_found(hard_network):
    selector = fit(hard_network, joint=False)
    best = selector.criteria_["evidence"].argmax()
    assert selector.block_model_ is selector.candidates_[best]
    assert_array_equal(selector.criteria_["evidence"], selector.criteria_["evidence_at_start"])


def test_given_blocks_are_never_moved(hard_network):
    labels = hard_network.blocks.copy()
    labels[:60] = np.roll(labels[:60], 1)  # a joint climb would put many of these back
    selector = fit(hard_network, block_model=labels, n_resamples=3)
    assert_array_equal(selector.block_model_.labels, labels)
    assert_array_equal(selector.scores_, fit(hard_network, block_model=labels, joint=False).scores_)
    moved = JointProblem(hard_network.graph).improve(selector.block_model_, rng=np.random.default_rng(0)).model
    assert np.count_nonzero(moved.labels != labels) > 10


def test_scores_are_the_mean_vote_times_the_root_of_the_evidence(network):
    """Of one given block model: its votes are the scores that it alone would give."""
    given = {"block_model": network.blocks}
    vote = fit(network, guidance="lowest_error", **given).scores_
    problem = JointProblem(network.graph)
    nats = problem.information(network.blocks) - problem.price(3)
    expected = vote * np.maximum(np.sqrt(2 * np.maximum(nats, 0)), 1e-3)
    by_blocks = fit(network, evidence="blocks", **given).scores_
    assert_allclose(by_blocks, expected / np.linalg.norm(expected), atol=1e-9)
    assert_allclose(fit(network, evidence="none", **given).scores_, vote, atol=1e-9)
    assert np.abs(fit(network, **given).scores_ - by_blocks).max() > 1e-3  # links count too


REGIMES = {  # least precision, of 30 features among 120; chance: 0.25
    "assortative": ({}, 0.8),
    "sparse": ({"mean_degree": 3}, 0.75),
    "disassortative": ({"structure": "disassortative"}, 0.45),
    "dense disassortative": ({"structure": "disassortative", "mean_degree": 20}, 0.65),
    "core-periphery": ({"structure": "core-periphery"}, 0.35),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_planted_features_are_found_however_blocks_connect(regime):
    structure, least = REGIMES[regime]
    found = []
    for seed in range(4):
        network = make_attributed_blocks(300, 4, n_noise=60, n_decoys=30, random_state=seed, **structure)
        selector = BlockModelSelector(30, n_candidates=12, n_resamples=0, random_state=seed)
        found.append(precision(network, selector.fit(network.features, adjacency=network.adjacency)))
    assert np.mean(found) > least


def test_features_that_are_all_noise_are_ranked_all_the_same():
    noise = make_attributed_blocks(150, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    selector = fit(noise, 10, n_resamples=8)
    assert selector.n_features_ == 10
    assert sorted(selector.ranking_) == list(range(1, 41))


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_tiny_networks_have_scores(n_nodes):
    path = np.diag(np.ones(n_nodes - 1), 1)
    for features in (np.eye(n_nodes), np.ones((n_nodes, 3)), np.tri(n_nodes)):
        selector = BlockModelSelector(1, n_resamples=3, random_state=0).fit(features, adjacency=path + path.T)
        assert np.isfinite(selector.scores_).all()
        assert selector.scores_ @ selector.scores_ == pytest.approx(1)
        assert selector.n_features_ == 1


def test_nodes_without_links_or_features_change_little():
    network = make_attributed_blocks(150, 3, mean_degree=15, random_state=0)
    adjacency, features = network.adjacency.tolil(), network.features.tolil()
    adjacency[:15], adjacency[:, :15], features[10:20] = 0, 0, 0
    selector = BlockModelSelector(30, n_blocks=3, **QUICK).fit(features.tocsr(), adjacency=adjacency.tocsr())
    assert precision(network, selector) >= precision(network, fit(network, 30)) - 0.15


def test_a_graph_of_self_loops_alone_is_refused_before_any_work(network):
    loops = sparse.eye_array(network.graph.n_nodes, format="csr")
    with pytest.raises(ValueError, match="no link joins two different nodes"):
        BlockModelSelector(5).fit(network.features, adjacency=loops)
