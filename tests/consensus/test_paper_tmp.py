"""BlockModelSelector: the whole way from a graph and features to a selection, the paper's and the default's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect import PAPER, BlockModel, BlockModelSelector, make_attributed_blocks
from made_fits import QUICK, easy_network, fit, precision
from references import bmgufs


@pytest.fixture(scope="module")
def network():
    return easy_network()


@pytest.mark.parametrize("options", [{}, PAPER], ids=["default", "paper"])
def test_planted_features_are_found(options):
    network = make_attributed_blocks(
        400, 3, mean_degree=40, n_informative=15, n_redundant=0, n_noise=85, random_state=1
    )
    assert precision(network, fit(network, 15, **options)) >= 0.8  # chance: 0.15


def test_paper_settings_give_the_papers_scores(network):
    selector = fit(network, 12, **PAPER)
    model = selector.block_model_
    slow = bmgufs.solve(
        np.asarray(network.features.todense()),
        bmgufs.one_hot(model.labels),
        model.density,
        profile_ratio=0.6,
        sparsity=selector.sparsity_,
        published=True,
        start=np.full(52, 52**-0.5),
    )
    assert_allclose(selector.scores_, slow, atol=1e-10)


def test_paper_settings_take_the_lowest_error_of_ten_and_look_at_nothing_else(network):
    selector = fit(network, 12, **PAPER)
    assert len(selector.candidates_) == 10
    assert {model.family for model in selector.candidates_} == {"onmtf"}
    assert selector.block_model_ is selector.candidates_[0]
    for of_a_consensus in ("criteria_", "stability_", "p_values_", "refinement_"):
        assert not hasattr(selector, of_a_consensus)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ({"n": "auto", "n_resamples": 3}, {"criteria_", "stability_", "p_values_", "q_values_"}),
        ({"refine": True}, {"criteria_", "refinement_"}),
    ],
)
def test_what_an_earlier_fit_alone_could_tell_is_gone_after_the_next(network, before, told):
    selector = fit(network, **before)
    assert told <= set(vars(selector))
    selector.set_params(n_features_to_select=12, guidance="lowest_error", refine=False)
    selector.fit(network.features, adjacency=network.adjacency)
    assert not told & set(vars(selector))


def test_the_lowest_error_guides_unless_another_is_named(network):
    ten = {"block_model": "onmtf", "n_candidates": 10}
    lowest, third = fit(network, guidance="lowest_error", **ten), fit(network, guidance=2, **ten)
    errors = [model.relative_error for model in lowest.candidates_]
    assert errors == sorted(errors)
    assert lowest.block_model_ is lowest.candidates_[0]
    assert third.block_model_ is third.candidates_[2]
    with pytest.raises(ValueError, match="guidance is 10 but there are 10 candidates; choose 0 to 9"):
        fit(network, guidance=10, **ten)


def test_one_given_block_model_is_all_there_is_to_choose_from(network):
    with pytest.raises(ValueError, match="guidance is 1 but there are 1 candidates"):
        fit(network, block_model=network.blocks, guidance=1)


@pytest.mark.parametrize("guidance", ["consensus", "lowest_error"])
def test_blocks_of_ones_own_are_used_as_labels_or_as_a_model(network, guidance):
    by_labels = fit(network, block_model=network.blocks, guidance=guidance)
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_model = fit(network, block_model=model, guidance=guidance)
    assert by_model.block_model_ is model
    assert_allclose(by_labels.scores_, by_model.scores_, atol=1e-12)
    with pytest.raises(ValueError, match=r"3 block labels but the graph has 200 nodes"):
        fit(network, block_model=[0, 1, 2])


def test_blocks_that_link_to_others_lead_density_astray_but_not_its_reflection():
    """What docs/method.md says of the paper's method and of the default."""
    network = make_attributed_blocks(
        300, 3, structure="disassortative", mean_degree=30, n_informative=15, n_redundant=0, n_noise=85, random_state=0
    )
    one = {"guidance": "lowest_error"}
    assert precision(network, fit(network, 15, profile_target="density", **one)) <= 0.15  # chance
    assert precision(network, fit(network, 15, **one)) >= 0.8
    assert precision(network, fit(network, 15)) >= 0.8


def test_sparsity_of_the_paper_is_the_strongest_that_keeps_enough(network):
    one = {"guidance": "lowest_error", "block_model": network.blocks}
    chosen = fit(network, 12, sparsity="paper", **one)
    grid = [0.5 * i for i in range(11)]
    counts = {γ: np.count_nonzero(fit(network, 1, sparsity=γ, **one).scores_) for γ in grid}
    assert chosen.sparsity_ == max(γ for γ in grid if counts[γ] >= 12) > 0
    assert_allclose(chosen.scores_, fit(network, 1, sparsity=chosen.sparsity_, **one).scores_, atol=1e-10)


def test_automatic_sparsity_is_the_mean_over_weak_ones(network):
    one = {"guidance": "lowest_error", "block_model": network.blocks}
    mean = np.mean([fit(network, sparsity=γ, **one).scores_ for γ in (0.0, 0.5, 1.0)], axis=0)
    chosen = fit(network, sparsity="auto", **one)
    assert chosen.sparsity_ == 0.5
    assert_allclose(chosen.scores_, mean, atol=1e-10)


def test_counts_are_read_as_presence_but_other_values_as_they_are(network):
    one = {"block_model": network.blocks}
    counts = network.features * np.random.default_rng(0).integers(1, 50, size=(200, 1))
    assert sparse.issparse(counts)

    def scores(features, **options):
        selector = BlockModelSelector(5, **QUICK, **one, **options)
        return selector.fit(features, adjacency=network.adjacency).scores_

    assert_array_equal(scores(counts), scores(network.features))
    assert_array_equal(scores(counts.toarray()), scores(network.features.toarray()))
    assert np.abs(scores(counts, binarize=False) - scores(counts)).max() > 0.01
    real = network.features.toarray() + np.random.default_rng(0).random((200, 52))
    assert_array_equal(scores(real), scores(real, binarize=False))
    with pytest.raises(ValueError, match="binarize=True leaves every feature constant"):
        scores(real, binarize=True)


def test_too_few_nonzero_scores_are_reported_not_padded(network):
    with pytest.warns(ConvergenceWarning, match=r"only \d+ of the 52 features.*sparsity 20 .γ. drives.*lower it"):
        selector = fit(network, 52, sparsity=20)
    assert selector.n_features_ == np.count_nonzero(selector.scores_) < 52
    assert selector.transform(network.features).shape[1] == selector.n_features_


@pytest.mark.parametrize("guidance", ["consensus", "lowest_error"])
def test_an_empty_column_scores_zero_and_is_told_from_a_penalty(network, guidance):
    features = network.features.tolil()
    features[:, 5] = 0
    selector = BlockModelSelector(52, block_model=network.blocks, guidance=guidance, n_resamples=3)
    with pytest.warns(ConvergenceWarning, match="1 of them since no node has the feature.$"):
        selector.fit(features, adjacency=network.adjacency)
    assert selector.scores_[5] == 0
    assert np.count_nonzero(selector.scores_) == selector.n_features_ == 51
    if guidance == "consensus":
        assert selector.stability_[5] == 0


def test_each_loss_falls_where_it_alone_is_followed(network):
    profile, reconstruction = fit(network, profile_ratio=1.0), fit(network, profile_ratio=0.0)
    assert profile.history_.profile[-1] < 0.9 * profile.history_.profile[0]
    assert reconstruction.history_.reconstruction[-1] < 0.99 * reconstruction.history_.reconstruction[0]
    assert len(profile.history_.profile) == len(profile.history_.reconstruction) == profile.n_iter_ + 1


def test_induced_density_is_the_mean_similarity_of_blocks_under_the_scores(network):
    selector = fit(network)
    X, F = network.features.toarray(), bmgufs.one_hot(selector.block_model_.labels)
    similarity = X @ np.diag(selector.scores_) @ X.T
    assert_allclose(selector.induced_density_, F.T @ similarity @ F / np.outer(F.sum(axis=0), F.sum(axis=0)))


@pytest.mark.parametrize(
    ("guidance", "stages"),
    [
        ("lowest_error", ["block models", "scores"]),
        ("consensus", ["block models", "screening", "scores", "resampling", "stability"]),
    ],
)
def test_progress_goes_through_the_stages_and_ends_each(network, guidance, stages):
    seen = []
    selector = BlockModelSelector(5, n_blocks=3, n_candidates=2, n_resamples=3, guidance=guidance, random_state=0)
    selector.fit(
        network.features,
        adjacency=network.adjacency,
        progress=lambda stage, done, total: seen.append((stage, done, total)),
    )
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == stages
    for stage in stages:
        counts = [(done, total) for of, done, total in seen if of == stage]
        assert all(done <= total for done, total in counts)
        if stage not in ("scores", "stability"):  # a descent that converges ends before its last iteration
            assert counts[-1][0] == counts[-1][1]
