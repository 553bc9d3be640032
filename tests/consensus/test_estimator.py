"""BlockModelSelector: which candidates vote, what may move their blocks, and what it finds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect import BlockModel, BlockModelSelector, make_attributed_blocks, selection_stability
from blockselect._sklearn import check_parameters
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.gram_squared import gram_squared
from blockselect.consensus import estimator
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.weights import feature_gains, mean_vote, weighted
from blockselect.errors import ParameterError
from blockselect.graphs import check_attributed_graph
from blockselect.graphs.cap_weights import cap_weights
from made_fits import QUICK, easy_network, fit, precision
from made_graphs import reweighted
from references import bmgufs


@pytest.fixture(scope="module")
def network():
    return easy_network()


@pytest.fixture(scope="module")
def fitted(network):
    return fit(network)


@pytest.fixture(scope="module")
def hard_network():
    """So few links that features help to find the blocks."""
    return make_attributed_blocks(200, 3, mean_degree=3, random_state=2)


@pytest.fixture(scope="module")
def hard_fit(hard_network):
    return fit(hard_network)


@pytest.mark.parametrize(("n_candidates", "n_voters"), [(1, 1), (4, 1), (9, 3), (24, 6)])
def test_a_quarter_of_the_candidates_votes_and_none_of_the_others_explains_more(hard_network, n_candidates, n_voters):
    selector = fit(hard_network, n_candidates=n_candidates)
    criteria = selector.criteria_
    assert len(criteria) == len(selector.candidates_) == n_candidates
    assert criteria["voted"].sum() == len(selector.voters_) == n_voters
    others = criteria.loc[~criteria["voted"], "gain"]
    assert criteria.loc[criteria["voted"], "gain"].min() >= others.max() or others.empty


def test_criteria_are_those_of_the_candidates_in_their_order(hard_network, hard_fit):
    criteria, likelihood = hard_fit.criteria_, JointLikelihood(hard_network.graph)
    assert list(criteria) == ["family", "n_blocks", "relative_error", "gain_at_start", "gain", "voted"]
    for row, model in zip(criteria.itertuples(), hard_fit.candidates_, strict=True):
        assert (row.family, row.n_blocks, row.relative_error) == (model.family, model.n_blocks, model.relative_error)
        assert row.gain_at_start == pytest.approx(likelihood.gain(model.labels))
    assert likelihood.gain(hard_fit.labels_) == pytest.approx(criteria["gain"].max())


def test_the_best_voter_is_the_block_model(hard_fit):
    assert hard_fit.block_model_ is hard_fit.voters_[0]
    assert hard_fit.labels_ is hard_fit.block_model_.labels


def test_blocks_refined_with_the_features_explain_more(hard_fit):
    criteria = hard_fit.criteria_
    assert (criteria["gain"] >= criteria["gain_at_start"]).all()
    assert criteria["gain"].max() > 1.05 * criteria["gain_at_start"].max()


def test_without_refinement_candidates_vote_as_they_were_found(hard_network):
    selector = fit(hard_network, joint=False)
    assert selector.block_model_ is selector.candidates_[selector.criteria_["gain"].argmax()]
    assert_array_equal(selector.criteria_["gain"], selector.criteria_["gain_at_start"])


def test_given_blocks_are_never_moved(hard_network):
    labels = hard_network.blocks.copy()
    labels[:60] = np.roll(labels[:60], 1)  # a refinement would put many of these back
    selector = fit(hard_network, block_model=labels)
    assert_array_equal(selector.labels_, labels)
    moved = JointLikelihood(hard_network.graph).improve(selector.block_model_, rng=np.random.default_rng(0)).model
    assert np.count_nonzero(moved.labels != labels) > 10


def test_blocks_of_ones_own_are_used_as_labels_or_as_a_model(network):
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_labels, by_model = fit(network, block_model=network.blocks), fit(network, block_model=model)
    assert by_model.block_model_ is model
    assert_allclose(by_labels.scores_, by_model.scores_, atol=1e-12)
    with pytest.raises(ValueError, match=r"3 block labels but the graph has 200 nodes"):
        fit(network, block_model=[0, 1, 2])


@pytest.mark.parametrize(
    ("options", "named", "why"),
    [
        ({"block_model": [0, 1] * 100, "n_blocks": 2}, "n_blocks", "block_model brings the blocks"),
        ({"block_model": [0, 1] * 100, "max_blocks": 5}, "max_blocks", "block_model brings the blocks"),
        ({"block_model": [0, 1] * 100, "n_candidates": 5}, "n_candidates", "block_model brings the blocks"),
        ({"block_model": [0, 1] * 100, "joint": False}, "joint", "block_model brings the blocks"),
        ({"n_blocks": 3, "max_blocks": 5}, "max_blocks", 'it limits n_blocks="auto" alone'),
    ],
)
def test_a_parameter_that_changes_nothing_beside_the_others_is_refused(network, options, named, why):
    with pytest.raises(ParameterError, match=f"{named} is .*, which changes nothing: {why}; leave one") as raised:
        BlockModelSelector(12, **options).fit(network.features, adjacency=network.adjacency)
    assert raised.value.parameter == named


def test_scores_are_the_weighted_votes_of_the_voters(network, fitted):
    """A vote is what one block model alone would score, following how alike its blocks link.

    Before smoothing, links and similarities of two nodes are a thousandth on average.
    """
    means = network.features.mean(axis=0)
    features = network.features * np.sqrt(1e-3 * np.sqrt(52) / (means @ means))
    gram, votes = gram_squared(features), []
    for one in fitted.voters_:
        target = one.reflected()
        sizes = target.block_sizes / 200
        target = replace(target, density=target.density * 1e-3 / (sizes @ target.density @ sizes))
        statistics = BlockStatistics.of(features, [target])
        votes.append(fitted._solver().solve(gram, statistics, profile_ratio=0.6, sparsity=0.0).scores[0, 0])
    gains = feature_gains(JointLikelihood(network.graph), network.graph, fitted.voters_)
    assert_allclose(fitted.scores_, weighted(mean_vote(np.array(votes)), gains), atol=1e-10)


def test_the_number_of_blocks_is_found_and_never_above_its_limit():
    network = make_attributed_blocks(300, 5, mean_degree=20, random_state=0)
    found, limited = (fit(network, n_blocks="auto", max_blocks=most).block_model_.n_blocks for most in (12, 3))
    assert (found, limited) == (5, 3)


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
        selector = BlockModelSelector(30, n_candidates=12, random_state=seed)
        found.append(precision(network, selector.fit(network.features, adjacency=network.adjacency)))
    assert np.mean(found) > least


def test_features_that_are_all_noise_are_ranked_all_the_same():
    noise = make_attributed_blocks(150, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    selector = fit(noise, 10)
    assert selector.n_features_ == 10
    assert sorted(selector.ranking_) == list(range(1, 41))


def test_counts_are_read_as_presence_but_other_values_as_they_are(network):
    counts = network.features * np.random.default_rng(0).integers(1, 50, size=(200, 1))
    assert sparse.issparse(counts)

    def scores(features, **options):
        selector = BlockModelSelector(5, block_model=network.blocks, **options)
        return selector.fit(features, adjacency=network.adjacency).scores_

    assert_array_equal(scores(counts), scores(network.features))
    assert_array_equal(scores(counts.toarray()), scores(network.features.toarray()))
    assert np.abs(scores(counts, binarize=False) - scores(counts)).max() > 0.01
    real = network.features.toarray() + np.random.default_rng(0).random((200, 52))
    assert_array_equal(scores(real), scores(real, binarize=False))
    with pytest.raises(ValueError, match="binarize is True, which leaves every feature constant"):
        scores(real, binarize=True)


def test_an_empty_column_scores_zero_and_that_is_said(network):
    features = network.features.tolil()
    features[:, 5] = 0
    selector = BlockModelSelector(52, block_model=network.blocks)
    with pytest.warns(ConvergenceWarning, match="1 of them since no node has the feature;"):
        selector.fit(features, adjacency=network.adjacency)
    assert selector.scores_[5] == 0
    assert np.count_nonzero(selector.scores_) == selector.n_features_ == 51


def test_each_loss_falls_where_it_alone_is_followed(network):
    given = {"block_model": network.blocks}
    profile, reconstruction = fit(network, profile_ratio=1.0, **given), fit(network, profile_ratio=0.0, **given)
    assert profile.history_.profile[-1] < 0.9 * profile.history_.profile[0]
    assert reconstruction.history_.reconstruction[-1] < 0.99 * reconstruction.history_.reconstruction[0]
    assert len(profile.history_.profile) == len(profile.history_.reconstruction) == profile.n_iter_ + 1


def test_induced_density_is_the_mean_similarity_of_blocks_under_the_scores(network, fitted):
    similarity = bmgufs.induced_graph(network.features.toarray(), fitted.scores_)
    assert_allclose(fitted.induced_density_, bmgufs.image_matrix(similarity, bmgufs.one_hot(fitted.labels_)))


def test_progress_goes_through_the_stages_and_ends_each(network):
    seen = []
    BlockModelSelector(5, n_blocks=3, n_candidates=2, random_state=0).fit(
        network.features, adjacency=network.adjacency, progress=lambda *news: seen.append(news)
    )
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == ["block models", "screening", "scores"]
    for of in ("block models", "screening", "scores"):
        counts = [(done, total) for stage, done, total in seen if stage == of]
        assert all(done <= total for done, total in counts)
        if of != "scores":  # a descent that settles ends before its last iteration
            assert counts[-1][0] == counts[-1][1]


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_tiny_networks_have_scores(n_nodes):
    path = np.diag(np.ones(n_nodes - 1), 1)
    for features in (np.eye(n_nodes), np.tri(n_nodes)):
        selector = BlockModelSelector(1, n_candidates=6, random_state=0).fit(features, adjacency=path + path.T)
        assert np.isfinite(selector.scores_).all()
        assert selector.scores_ @ selector.scores_ == pytest.approx(1)
        assert selector.n_features_ == 1


def test_features_that_are_all_the_same_for_all_nodes_leave_nothing_to_select():
    path = np.diag(np.ones(5), 1)
    with pytest.warns(ConvergenceWarning, match="only 0 of the 1 features asked for .* the same for all nodes"):
        selector = BlockModelSelector(1, random_state=0).fit(np.ones((6, 3)), adjacency=path + path.T)
    assert_array_equal(selector.scores_, 0)


def test_nodes_without_links_or_features_change_little():
    network = make_attributed_blocks(150, 3, mean_degree=15, random_state=0)
    adjacency, features = network.adjacency.tolil(), network.features.tolil()
    adjacency[:15], adjacency[:, :15], features[10:20] = 0, 0, 0
    selector = BlockModelSelector(30, **QUICK).fit(features.tocsr(), adjacency=adjacency.tocsr())
    assert precision(network, selector) >= precision(network, fit(network, 30)) - 0.15


def test_a_graph_of_self_loops_alone_is_refused_before_any_work(network):
    loops = sparse.eye_array(network.graph.n_nodes, format="csr")
    with pytest.raises(ValueError, match="no link joins two different nodes"):
        BlockModelSelector(5).fit(network.features, adjacency=loops)


def test_on_resampled_graphs_a_set_prefers_features_in_the_order_of_entry(monkeypatch):
    selector = BlockModelSelector(2)
    selector.n_features_, selector._way = 2, "a way"
    monkeypatch.setattr(estimator, "weighted", lambda vote, gains: np.array([0.5, 0.2, 0.9, 0.0]))
    evidence = SimpleNamespace(vote=None, gains=None, order=lambda *_: np.array([1, 0, 2, 3]))
    priorities = selector._priorities(evidence)
    assert_array_equal(np.argsort(-priorities, kind="stable"), [1, 0, 2, 3])
    assert priorities[3] == 0  # no score, no chance


def test_a_set_is_chosen_by_the_judge_and_a_list_or_all_features_need_none(network):
    chosen = fit(network)
    assert chosen.portfolio_["chosen"].sum() == 1
    assert len(chosen.portfolio_) > 1
    listed = fit(network, as_set=False)
    assert listed.portfolio_ is None
    assert_array_equal(listed.ranking_, 1 + np.argsort(np.argsort(-listed.scores_, kind="stable"), kind="stable"))
    assert_allclose(chosen.scores_, listed.scores_)
    every = fit(network, n=np.count_nonzero(listed.scores_))
    assert every.portfolio_ is None
    assert_array_equal(every.support_, listed.scores_ > 0)


@pytest.mark.parametrize("joint", [True, False])
def test_on_resampled_graphs_blocks_are_refined_where_those_of_the_fit_were(network, monkeypatch, joint):
    selector, asked, improve = fit(network, joint=joint), [], JointLikelihood.improve

    def recorded(self, model, **options):
        asked.append(options["max_rounds"])
        return improve(self, model, **options)

    monkeypatch.setattr(JointLikelihood, "improve", recorded)
    selection_stability(selector, network.features, adjacency=network.adjacency, n_resamples=3)
    assert asked == ([estimator._ROUNDS_AGAIN] * 3 if joint else [])


def test_why_there_are_as_many_blocks_follows_what_showed_them():
    planted = make_attributed_blocks(
        600, 8, mean_degree=3, n_informative=240, n_redundant=0, n_noise=40, random_state=0
    )
    found = BlockModelSelector(20, random_state=0).fit(planted.features, adjacency=planted.adjacency)
    by_links = count_blocks(planted.adjacency, rng=np.random.default_rng(0)).n_blocks
    assert found.block_model_.n_blocks > by_links  # features show more
    assert f"more than the {by_links} that are counted by the links alone" in found.n_blocks_reason_
    asked = BlockModelSelector(20, n_blocks=8, random_state=0).fit(planted.features, adjacency=planted.adjacency)
    assert asked.n_blocks_reason_ == "as asked for"


def test_what_a_fit_says_of_itself_is_not_changed_by_a_test_on_capped_weights():
    planted = make_attributed_blocks(200, 4, mean_degree=6, random_state=0)
    rng = np.random.default_rng(0)
    adjacency = reweighted(planted.adjacency, lambda row, _: 1 + rng.pareto(0.5, len(row)))
    graphs = (adjacency, cap_weights(adjacency))
    by_links, by_capped = (count_blocks(graph, rng=np.random.default_rng(0)).n_blocks for graph in graphs)
    assert by_links != by_capped
    of_number, of_auto = (fit(planted, n, adjacency, n_blocks="auto", n_candidates="auto") for n in (5, "auto"))
    assert "the links alone show no blocks apart" in of_number.n_blocks_reason_
    assert (of_auto.n_blocks_reason_, of_auto.effort_) == (of_number.n_blocks_reason_, of_number.effort_)
    assert of_auto.criteria_.equals(of_number.criteria_)
    assert_array_equal(of_auto.labels_, of_number.labels_)
    assert_array_equal(of_auto.scores_, of_number.scores_)


def test_on_every_fourth_resampled_graph_blocks_are_found_anew(network, monkeypatch):
    selector, refined, found_anew = fit(network), [], []
    improve = JointLikelihood.improve
    monkeypatch.setattr(
        JointLikelihood, "improve", lambda *given, **options: refined.append(options) or improve(*given, **options)
    )
    monkeypatch.setattr(
        BlockModelSelector, "_found_anew", lambda *given: found_anew.append(len(refined)) or selector.voters_[0]
    )
    seen = []
    selection_stability(
        selector,
        network.features,
        adjacency=network.adjacency,
        n_resamples=8,
        progress=lambda *news: seen.append(news),
    )
    assert found_anew == [3, 6]  # after so many that were refined
    assert [options["max_rounds"] for options in refined] == [3] * 6
    assert [news[1:] for news in seen if news[0] == "resampling"] == [(done, 8) for done in range(1, 9)]


def test_blocks_found_anew_are_the_best_of_two_starts_of_the_families_that_voted(network, monkeypatch):
    selector, asked, screened = fit(network), [], []
    find, screen = estimator.find_block_models, estimator.screen

    def noted(graph, n_blocks, **options):
        asked.append((n_blocks, options["family"], options["n_candidates"], options["max_iter"]))
        return find(graph, n_blocks, **options)

    monkeypatch.setattr(estimator, "find_block_models", noted)
    monkeypatch.setattr(
        estimator, "screen", lambda *given, **options: screened.append(given[1]) or screen(*given, **options)
    )
    likelihood = JointLikelihood(network.graph)
    model = selector._found_anew(likelihood, network.graph, np.random.default_rng(0))
    assert asked == [(3, voter.family, 1, estimator.FACTORIZATION_STEPS) for voter in selector.voters_[:2]]
    assert len(screened[0]) == 2
    assert likelihood.gain(model.labels) >= max(likelihood.gain(one.labels) for one in screened[0]) - 1e-9


@pytest.mark.parametrize(
    ("by_links", "max_blocks", "n_nodes", "numbers"),
    [(3, 12, 200, [3, 12]), (3, 20, 200, [3, 14]), (12, 12, 200, [12]), (1, 12, 3, [1, 2]), (2, 12, 4, [2])],
)
def test_as_many_blocks_as_links_show_and_as_many_as_are_allowed_are_tried(by_links, max_blocks, n_nodes, numbers):
    ring = sparse.eye_array(n_nodes, k=1) + sparse.eye_array(n_nodes, k=-1)
    count = count_blocks(sparse.csr_array(ring), max_blocks=max_blocks, rng=np.random.default_rng(0))
    assert estimator._numbers_to_try(replace(count, n_blocks=by_links)) == numbers


@pytest.mark.parametrize(("n_candidates", "n_more"), [(8, 2), (3, 1)])
def test_a_quarter_as_many_candidates_have_the_most_blocks_allowed(network, n_candidates, n_more):
    selector = fit(network, n_blocks="auto", max_blocks=5, n_candidates=n_candidates)
    numbers = selector.criteria_["n_blocks"]
    assert (numbers > 3).sum() == n_more  # some families end with fewer than they were asked for
    assert (numbers <= 3).sum() == n_candidates


def test_progress_says_where_each_stage_begins(network):
    seen = []
    BlockModelSelector("auto", max_blocks=3, n_candidates=2, random_state=0).fit(
        network.features, adjacency=network.adjacency, progress=lambda *news: seen.append(news)
    )
    for once in ("number of blocks", "discoveries"):
        assert [news[1:] for news in seen if news[0] == once] == [(0, 1), (1, 1)]
    of_models = [news[1:] for news in seen if news[0] == "block models"]
    assert (of_models[0], of_models[-1]) == ((0, 1), (1, 1))


def test_where_features_are_the_same_for_all_nodes_the_smoothing_stays_as_it_is():
    selector = BlockModelSelector()
    assert selector._smoothing(0.0) == pytest.approx(1e-3)
    assert selector._smoothing(2e-3) == pytest.approx(2e-6)


def test_blocks_without_a_link_between_them_are_a_target_of_zeros(network):
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    empty = replace(model, density=np.zeros((3, 3)))
    statistics = fit(network, block_model=network.blocks)._statistics(network.graph, [model, empty])
    assert_allclose(statistics.mean_density, [statistics.mean_similarity, 0])


@pytest.mark.parametrize(
    ("name", "least", "below"),
    [
        ("n_blocks", 1, 0),
        ("max_blocks", 2, 1),
        ("n_candidates", 1, 0),
        ("budget", 1e-9, 0.0),
        ("n_clusters", 1, 0),
        ("n_neighbors", 1, 0),
        ("profile_ratio", 0.0, -0.1),
    ],
)
def test_the_least_value_of_a_parameter_is_accepted_and_what_lies_below_refused(name, least, below):
    check_parameters(BlockModelSelector(**{name: least}))
    with pytest.raises(ParameterError, match=f"^{name} must be "):
        check_parameters(BlockModelSelector(**{name: below}))


def test_a_profile_ratio_lies_between_zero_and_one():
    check_parameters(BlockModelSelector(profile_ratio=1.0))
    with pytest.raises(ParameterError, match=r"^profile_ratio must be "):
        check_parameters(BlockModelSelector(profile_ratio=1.01))


def test_nodes_with_neither_links_nor_features_take_no_part_in_resampled_graphs_either(network):
    adjacency, features = sparse.block_diag([network.adjacency, np.zeros((2, 2))], format="csr"), network.features
    longer = sparse.vstack([features, sparse.csr_array((2, 52))], format="csr")
    plain, extended = (fit(network, as_set=False), BlockModelSelector(12, as_set=False, **QUICK))
    extended.fit(longer, adjacency=adjacency)
    rngs = [np.random.default_rng(0)]
    assert_allclose(extended.scores_, plain.scores_)
    assert_allclose(
        extended._scores_on(check_attributed_graph(longer, adjacency), [adjacency], rngs),
        plain._scores_on(network.graph, [network.adjacency], [np.random.default_rng(0)]),
    )


def test_what_is_not_set_has_its_documented_default():
    assert BlockModelSelector().get_params(deep=False) == {
        "n_features_to_select": None,
        "n_blocks": "auto",
        "max_blocks": 12,
        "block_model": "mixed",
        "n_candidates": "auto",
        "budget": 2e11,
        "joint": True,
        "profile_ratio": 0.6,
        "binarize": "auto",
        "as_set": True,
        "n_clusters": None,
        "n_neighbors": None,
        "solver": None,
        "device": "cpu",
        "n_jobs": None,
        "random_state": None,
    }
    solver = BlockModelSelector._default_solver()
    assert (solver.step_size, solver.max_iter, solver.tol, solver.gradient) == (0.08, 25, 0, "exact")
