"""BMGUFS: the paper's method, from a graph and features to a selection."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from blockselect import BMGUFS, BlockModel, Descent, make_attributed_blocks
from blockselect.blockmodels.n_blocks import AS_GIVEN
from blockselect.utils._sklearn import check_parameters
from blockselect.utils.errors import ParameterError
from made_fits import fit_paper, precision
from references import bmgufs


@pytest.fixture(scope="module")
def fitted(network):
    return fit_paper(network)


def short(network, n=5, **options):
    """Three iterations, with the planted blocks."""
    solver = Descent(gradient="paper", tol=0, max_iter=3)
    return BMGUFS(n, **{"block_model": network.blocks, "solver": solver, **options})


def test_planted_features_are_found():
    network = make_attributed_blocks(
        400, 3, mean_degree=40, n_informative=15, n_redundant=0, n_noise=85, random_state=1
    )
    assert precision(network, fit_paper(network, 15)) >= 0.8  # chance: 0.15


def test_scores_are_those_of_the_paper_written_out(network, fitted):
    model = fitted.block_model_
    slow = bmgufs.solve(
        network.features.toarray(),
        bmgufs.one_hot(model.labels),
        model.density,
        profile_ratio=0.6,
        sparsity=fitted.sparsity_,
        published=True,
        start=np.full(52, 52**-0.5),
    )
    assert_allclose(fitted.scores_, slow, atol=1e-10)


def test_ten_factorisations_are_tried_and_the_lowest_error_guides(fitted):
    errors = [model.relative_error for model in fitted.candidates_]
    assert len(errors) == BMGUFS().n_candidates == 10
    assert {model.family for model in fitted.candidates_} == {"onmtf"}
    assert errors == sorted(errors)
    assert fitted.block_model_ is fitted.candidates_[0]
    assert fitted.labels_ is fitted.block_model_.labels


def test_a_missing_number_of_blocks_is_an_error_that_names_it(network):
    with pytest.raises(ParameterError, match="n_blocks is not given, and the paper has no rule for it") as raised:
        BMGUFS(12).fit(network.features, adjacency=network.adjacency)
    assert raised.value.parameter == "n_blocks"


def test_blocks_of_ones_own_are_used_as_labels_or_as_a_model(network):
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_labels = fit_paper(network, block_model=network.blocks)
    by_list = fit_paper(network, block_model=network.blocks.tolist())
    by_model = fit_paper(network, block_model=model)
    assert by_model.block_model_ is model
    assert by_model.candidates_ == [model]
    assert_array_equal(by_labels.labels_, network.blocks)
    assert_array_equal(by_list.scores_, by_labels.scores_)
    assert_allclose(by_labels.scores_, by_model.scores_, atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_the_matrices_of_the_paper_give_the_fit_of_a_block_model_made_by_hand(network, kind):
    F, rng = np.eye(3)[network.blocks], np.random.default_rng(0)
    M = rng.random((3, 3))
    M += M.T
    A = network.adjacency.toarray()
    error = np.linalg.norm(A - F @ M @ F.T) / np.linalg.norm(A)
    by_hand = fit_paper(network, sparsity=0, block_model=BlockModel(network.blocks, M, error))
    for blocks in ((kind(F), M), (network.blocks, kind(M)), BlockModel.from_matrices(kind(F), M)):
        found = fit_paper(network, sparsity=0, block_model=blocks)
        assert_array_equal(found.scores_, by_hand.scores_)
        assert_array_equal(found.block_model_.density, M)
        assert found.block_model_.relative_error == pytest.approx(error)
    by_labels = fit_paper(network, sparsity=0, block_model=network.blocks)
    assert np.abs(by_labels.scores_ - by_hand.scores_).max() > 1e-6  # M matters
    assert_array_equal(fit_paper(network, sparsity=0, block_model=kind(F)).scores_, by_labels.scores_)
    assert_array_equal(clone(found).fit(network.features, adjacency=network.adjacency).scores_, by_hand.scores_)


def test_rows_of_a_one_hot_table_are_matched_by_id(network):
    ids = [f"node {row}" for row in range(200)]
    table = pd.DataFrame(network.features.toarray(), index=ids).add_prefix("f")
    membership = pd.get_dummies(pd.Series(network.blocks, index=ids))
    M = BlockModel.from_labels(network.adjacency, network.blocks).density
    for blocks in (membership[::-1], (membership[::-1], M)):
        selector = BMGUFS(12, block_model=blocks).fit(table, adjacency=network.adjacency)
        assert_array_equal(selector.labels_, network.blocks)


def test_blocks_of_another_graph_are_refused(network):
    with pytest.raises(ValueError, match="the block model has 50 nodes but the graph has 200"):
        fit_paper(network, block_model=(network.blocks[:50], np.eye(3)))
    with pytest.raises(ValueError, match="3 block labels but the graph has 200 nodes"):
        fit_paper(network, block_model=[0, 1, 2])
    other = BlockModel.from_labels(network.adjacency[:50, :50], network.blocks[:50])
    with pytest.raises(ValueError, match="the block model has 50 nodes but the graph has 200"):
        fit_paper(network, block_model=other)


@pytest.mark.parametrize(("name", "value"), [("n_blocks", 3), ("n_candidates", 5)])
def test_a_parameter_without_effect_beside_given_blocks_warns(network, name, value):
    selector = BMGUFS(12, block_model=network.blocks, **{name: value})
    with pytest.warns(UserWarning, match=f"{name} is {value}, which has no effect: the blocks are given"):
        selector.fit(network.features, adjacency=network.adjacency)
    assert_array_equal(selector.labels_, network.blocks)
    assert selector.n_blocks_reason_ == AS_GIVEN


def test_beside_given_blocks_products_of_features_still_take_several_jobs(network):
    one, two = (fit_paper(network, block_model=network.blocks, n_jobs=n_jobs) for n_jobs in (None, 2))
    assert_array_equal(one.scores_, two.scores_)


def test_why_there_are_as_many_blocks_is_that_they_were_asked_for_or_given(network):
    assert fit_paper(network).n_blocks_reason_ == "as requested"
    assert fit_paper(network, block_model=network.blocks).n_blocks_reason_ == "as given"


def test_the_papers_sparsity_is_the_strongest_that_keeps_enough(network):
    given = {"block_model": network.blocks}
    chosen = fit_paper(network, 12, **given)
    grid = [0.5 * i for i in range(11)]
    counts = {γ: np.count_nonzero(fit_paper(network, 1, sparsity=γ, **given).scores_) for γ in grid}
    assert chosen.sparsity_ == max(γ for γ in grid if counts[γ] >= 12) > 0
    assert_allclose(chosen.scores_, fit_paper(network, 1, sparsity=chosen.sparsity_, **given).scores_, atol=1e-10)


def test_more_features_wanted_never_mean_a_stronger_sparsity(network):
    few, many = (fit_paper(network, n, block_model=network.blocks) for n in (3, 45))
    assert few.sparsity_ >= many.sparsity_
    assert np.count_nonzero(many.scores_) >= 45


def test_too_few_nonzero_scores_are_reported_not_padded(network):
    with pytest.warns(
        ConvergenceWarning, match=r"only \d+ of the 52 requested features.*a sparsity .γ. below 20 leaves more"
    ):
        selector = fit_paper(network, 52, sparsity=20)
    assert selector.n_features_ == np.count_nonzero(selector.scores_) < 52
    assert selector.transform(network.features).shape[1] == selector.n_features_


def test_an_empty_column_scores_zero_and_is_told_from_a_penalty(network):
    features = network.features.tolil()
    features[:, 5] = 0
    selector = BMGUFS(52, block_model=network.blocks, sparsity=0)
    with pytest.warns(ConvergenceWarning, match="1 of them because no node has the feature.$"):
        selector.fit(features, adjacency=network.adjacency)
    assert selector.scores_[5] == 0
    assert np.count_nonzero(selector.scores_) == selector.n_features_ == 51


def test_each_loss_falls_where_it_alone_is_followed(network):
    given = {"block_model": network.blocks, "sparsity": 0}
    exact = Descent(tol=0)
    profile, reconstruction = (fit_paper(network, profile_ratio=β, solver=exact, **given) for β in (1.0, 0.0))
    assert profile.history_.profile[-1] < 0.9 * profile.history_.profile[0]
    assert reconstruction.history_.reconstruction[-1] < 0.99 * reconstruction.history_.reconstruction[0]


def test_the_history_has_both_losses_before_each_iteration_and_after_the_last(network, fitted):
    assert fitted.n_iter_ == 200
    assert len(fitted.history_.profile) == len(fitted.history_.reconstruction) == 201
    F, density = bmgufs.one_hot(fitted.labels_), fitted.block_model_.density
    Y = network.features.toarray()
    assert fitted.history_.reconstruction[-1] == pytest.approx(bmgufs.reconstruction_loss(Y, F, fitted.scores_))
    assert fitted.history_.profile[-1] == pytest.approx(bmgufs.profile_loss(Y, F, density, fitted.scores_, 1e-6))


def test_induced_density_is_the_mean_similarity_of_blocks_under_the_scores(network, fitted):
    similarity = bmgufs.induced_graph(network.features.toarray(), fitted.scores_)
    assert_allclose(fitted.induced_density_, bmgufs.image_matrix(similarity, bmgufs.one_hot(fitted.labels_)))


def test_progress_goes_through_the_stages_and_ends_each(network):
    seen = []
    BMGUFS(12, n_blocks=3, n_candidates=2, random_state=0).fit(
        network.features, adjacency=network.adjacency, progress=lambda *news: seen.append(news)
    )
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == ["block models", "scores"]
    for stage in ("block models", "scores"):
        done, total = [news[1:] for news in seen if news[0] == stage][-1]
        assert done == total


def test_no_solver_stands_for_the_papers(network, fitted):
    given = fit_paper(network, solver=Descent(gradient="paper", step_size=0.01, max_iter=200, tol=0, smoothing=1e-6))
    assert_array_equal(given.scores_, fitted.scores_)
    assert fitted.solver is None


def test_the_exact_gradient_gives_other_scores(network, fitted):
    exact = fit_paper(network, solver=Descent(gradient="exact", tol=0))
    assert np.abs(exact.scores_ - fitted.scores_).max() > 1e-4


def test_settings_of_the_solver_can_be_set_by_name_though_no_solver_is_given(network):
    selector = BMGUFS(12, n_blocks=3, random_state=0).set_params(solver__max_iter=7)
    assert selector.solver.get_params() == Descent(gradient="paper", tol=0.0, max_iter=7).get_params()
    assert selector.fit(network.features, adjacency=network.adjacency).n_iter_ == 7


def test_settings_of_a_given_solver_can_be_set_by_name():
    selector = BMGUFS(12, n_blocks=3, solver=Descent(step_size=0.02))
    assert selector.get_params()["solver__step_size"] == 0.02
    selector.set_params(solver__max_iter=7)
    assert (selector.solver.max_iter, selector.solver.step_size) == (7, 0.02)
    selector.set_params(solver=Descent(tol=0.5), solver__max_iter=9)
    assert (selector.solver.max_iter, selector.solver.tol) == (9, 0.5)


def test_a_clone_has_a_solver_of_its_own():
    selector = BMGUFS(12, n_blocks=3, solver=Descent(max_iter=7))
    copy = clone(selector).set_params(solver__max_iter=9)
    assert (selector.solver.max_iter, copy.solver.max_iter) == (7, 9)


def test_fitting_changes_no_parameter(network):
    selector = BMGUFS(12, n_blocks=3, n_candidates=2, solver=Descent(max_iter=3, tol=0), random_state=0)
    before = selector.get_params()
    selector.fit(network.features, adjacency=network.adjacency)
    assert selector.get_params() == before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_blocks": 201}, "n_blocks"),
        ({"n_features_to_select": 53}, "n_features_to_select"),
        ({"n_features_to_select": "auto"}, "n_features_to_select"),
        ({"profile_ratio": 1.5}, "profile_ratio"),
        ({"sparsity": -1}, "sparsity"),
        ({"sparsity": "auto"}, "sparsity"),
        ({"block_model": "onmtf"}, "block_model"),
        ({"solver": "descent"}, "solver"),
        ({"solver": Descent(max_iter=0)}, "max_iter"),
        ({"solver": Descent(gradient="published")}, "gradient"),
        ({"solver": Descent(initial_scores=np.ones(3))}, "initial_scores"),
        ({"solver": Descent(memory_limit=10)}, "memory_limit"),
    ],
)
def test_bad_parameters_are_named_before_any_work(network, options, named):
    selector = BMGUFS(**{"n_blocks": 3, **options})
    with pytest.raises(ValueError, match=named):
        selector.fit(network.features, adjacency=network.adjacency)
    assert not hasattr(selector, "candidates_")


def test_a_missing_graph_is_an_error_unless_neighbours_may_be_linked(network):
    with pytest.raises(ValueError, match="adjacency is missing"):
        BMGUFS(12, n_blocks=3).fit(network.features)
    assert BMGUFS(12, n_blocks=3, n_neighbors=5, random_state=0).fit(network.features).n_features_ == 12


def test_given_blocks_need_no_link_between_two_nodes(network):
    loops = sparse.eye_array(200, format="csr")
    selector = BMGUFS(5, block_model=network.blocks).fit(network.features, adjacency=loops)
    assert selector.n_features_ == 5


def test_blocks_that_link_to_others_lead_the_papers_method_astray():
    """What docs/method.md says of it, and why the default follows another target."""
    network = make_attributed_blocks(
        300, 3, structure="disassortative", mean_degree=30, n_informative=15, n_redundant=0, n_noise=85, random_state=0
    )
    assert precision(network, fit_paper(network, 15)) <= 0.15  # chance


@pytest.mark.parametrize(
    ("name", "least", "below"),
    [("n_blocks", 1, 0), ("n_candidates", 1, 0), ("sparsity", 0.0, -0.1), ("n_neighbors", 1, 0)],
)
def test_the_least_value_of_a_parameter_is_accepted_and_what_lies_below_refused(name, least, below):
    check_parameters(BMGUFS(**{name: least}))
    with pytest.raises(ParameterError, match=f"^{name} must be "):
        check_parameters(BMGUFS(**{name: below}))


@pytest.mark.parametrize(("what", "links", "values"), [("mean link weight", 1e-5, 1.0), ("mean similarity", 1.0, 1e-3)])
def test_densities_within_ten_times_the_smoothing_are_warned_of(network, what, links, values):
    """Near the smoothing it changes the result; the scale of links and that of features are looked at apart."""

    def fitted_at(smoothing):
        selector = BMGUFS(5, block_model=network.blocks, solver=Descent(tol=0, max_iter=2, smoothing=smoothing))
        return selector.fit(values * network.features, adjacency=links * network.adjacency)

    means = network.features.toarray().mean(axis=0)
    similarity = values**2 * means @ means / 52**0.5
    mean = {"mean link weight": links * network.adjacency.mean(), "mean similarity": similarity}
    with pytest.warns(UserWarning, match=f"the {what} of two nodes is .*, close to the smoothing"):
        fitted_at(mean[what] / 9.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted_at(mean[what] / 10.1)


def test_progress_says_where_the_search_for_blocks_begins_and_ends(network):
    seen = []
    BMGUFS(12, n_blocks=3, n_candidates=1, random_state=0).fit(
        network.features, adjacency=network.adjacency, progress=lambda *news: seen.append(news)
    )
    of_models = [news[1:] for news in seen if news[0] == "block models"]
    assert (of_models[0], of_models[-1]) == ((0, 1), (1, 1))


def test_what_is_not_set_has_its_documented_default():
    assert BMGUFS().get_params(deep=False) == {
        "n_features_to_select": None,
        "n_blocks": None,
        "block_model": None,
        "n_candidates": 10,
        "profile_ratio": 0.6,
        "sparsity": "paper",
        "n_neighbors": None,
        "solver": None,
        "device": "cpu",
        "n_jobs": None,
        "random_state": None,
        "verbose": 0,
    }


def test_a_feature_that_is_the_same_for_all_nodes_is_warned_of():
    made = make_attributed_blocks(
        40, 3, n_informative=6, n_redundant=3, n_noise=9, mean_degree=7, sparse=False, random_state=1
    )
    features = np.column_stack([made.features, np.ones(40)])
    with pytest.warns(UserWarning, match=r"1 of the selected features are constant over nodes, the first in column 18"):
        BMGUFS(3, n_blocks=3, random_state=0).fit(features, adjacency=made.adjacency)


@pytest.mark.parametrize("n_wanted", [5, 45])
def test_losses_and_iterations_are_those_of_the_sparsity_that_was_chosen(network, n_wanted):
    settings = {"block_model": network.blocks, "solver": Descent(tol=1e-2, max_iter=500)}
    chosen = BMGUFS(n_wanted, **settings).fit(network.features, adjacency=network.adjacency)
    alone = BMGUFS(1, sparsity=chosen.sparsity_, **settings).fit(network.features, adjacency=network.adjacency)
    assert chosen.n_iter_ == alone.n_iter_ < 500
    assert len(chosen.history_.profile) == chosen.n_iter_ + 1
    assert_allclose(chosen.history_.reconstruction, alone.history_.reconstruction)
    assert_allclose(chosen.history_.profile, alone.history_.profile)


def test_only_the_sparsity_that_was_chosen_must_have_settled(network):
    """Sparsities need different numbers of iterations; all but one of these limits cut some of them short."""
    settings = {"block_model": network.blocks, "sparsity": 0.0}
    free = BMGUFS(5, **settings, solver=Descent(tol=1e-2, max_iter=500))
    n_iter = free.fit(network.features, adjacency=network.adjacency).n_iter_
    for max_iter, settled in ((n_iter, True), (n_iter - 1, False)):
        selector = BMGUFS(5, **settings, solver=Descent(tol=1e-2, max_iter=max_iter))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            selector.fit(network.features, adjacency=network.adjacency)
        assert any("not converged" in str(one.message) for one in caught) != settled


def test_features_that_score_zero_are_counted_apart_from_those_that_nobody_has(network):
    features = network.features.tolil()
    features[:, [3, 8]] = 0
    with pytest.warns(ConvergenceWarning, match="only 50 of the 52 .* 2 of them because no node has the feature"):
        short(network, 52, sparsity=0.0).fit(features.tocsr(), adjacency=network.adjacency)


def test_settings_of_the_solver_that_are_not_named_leave_no_solver_behind():
    selector = BMGUFS(5, n_blocks=3).set_params(n_blocks=4)
    assert selector.solver is None
    given = Descent(max_iter=9)
    assert selector.set_params(solver=given, n_blocks=2).solver is given
