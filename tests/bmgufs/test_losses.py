"""Both losses and their gradients against the paper's formulas and against finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.blockmodels import BlockModel
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.losses import evaluate_losses
from blockselect.bmgufs.statistics import BlockStatistics
from references import bmgufs
from references.problems import make_problem

DELTA = 1e-6


def losses_at(problem, r, gradient="exact", statistics=None):
    statistics = problem.statistics if statistics is None else statistics
    scores = np.tile(r, (statistics.n_models, 1, 1))
    product = problem.gram.apply(r[None])[None] * np.ones_like(scores)
    return evaluate_losses(statistics, scores, product, smoothing=DELTA, gradient=gradient)


def central_difference(function, r, step=1e-6):
    basis = np.eye(len(r)) * step
    return np.array([(function(r + e) - function(r - e)) / (2 * step) for e in basis])


def test_values_are_those_of_the_paper(problem):
    fast = losses_at(problem, problem.r)
    assert_allclose(
        fast.reconstruction[0, 0], bmgufs.reconstruction_loss(problem.Y, problem.membership(), problem.r), rtol=1e-10
    )
    assert_allclose(
        fast.profile[0, 0],
        bmgufs.profile_loss(problem.Y, problem.membership(), problem.density(), problem.r, DELTA),
        rtol=1e-10,
    )


def test_induced_density_is_the_image_matrix_of_the_induced_graph(problem):
    slow = bmgufs.image_matrix(bmgufs.induced_graph(problem.Y, problem.r), problem.membership())
    assert_allclose(problem.statistics.induced_density(problem.r[None, None])[0, 0], slow, rtol=1e-10)


@pytest.mark.parametrize("gradient", ["exact", "paper"])
def test_gradients_are_those_of_the_paper(problem, gradient):
    fast = losses_at(problem, problem.r, gradient)
    slow_b = bmgufs.reconstruction_gradient(problem.Y, problem.membership(), problem.r)
    slow_m = bmgufs.profile_gradient(
        problem.Y, problem.membership(), problem.density(), problem.r, DELTA, gradient == "paper"
    )
    assert_allclose(fast.reconstruction_gradient[0, 0], slow_b, rtol=1e-10, atol=1e-10)
    assert_allclose(fast.profile_gradient[0, 0], slow_m, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_reconstruction_loss_and_its_gradient_do_not_depend_on_the_unit_of_the_features(problem, unit):
    plain = losses_at(problem, problem.r)
    statistics = BlockStatistics.of(unit * problem.Y, problem.models)
    product = unit**4 * problem.gram.apply(problem.r[None])[None] * np.ones((statistics.n_models, 1, 1))
    scores = np.tile(problem.r, (statistics.n_models, 1, 1))
    scaled = evaluate_losses(statistics, scores, product, smoothing=DELTA, gradient="exact")
    assert_allclose(scaled.reconstruction, plain.reconstruction, rtol=1e-9)
    assert_allclose(scaled.reconstruction_gradient, plain.reconstruction_gradient, rtol=1e-8, atol=1e-10)


def test_exact_gradients_meet_finite_differences(problem):
    fast = losses_at(problem, problem.r)
    numeric_b = central_difference(lambda r: losses_at(problem, r).reconstruction[0, 0], problem.r)
    numeric_m = central_difference(lambda r: losses_at(problem, r).profile[0, 0], problem.r)
    assert_allclose(fast.reconstruction_gradient[0, 0], numeric_b, rtol=1e-5, atol=1e-8)
    assert_allclose(fast.profile_gradient[0, 0], numeric_m, rtol=1e-5, atol=1e-8)


def test_the_published_profile_gradient_is_not_the_derivative(problem):
    published = losses_at(problem, problem.r, "paper").profile_gradient[0, 0]
    numeric = central_difference(lambda r: losses_at(problem, r).profile[0, 0], problem.r)
    assert np.linalg.norm(published - numeric) > 0.01 * np.linalg.norm(numeric)


@given(scale=st.floats(0.1, 10))
def test_reconstruction_loss_does_not_change_with_the_scale_of_the_scores(scale):
    problem = make_problem(11)
    assert_allclose(
        losses_at(problem, scale * problem.r).reconstruction,
        losses_at(problem, problem.r).reconstruction,
        rtol=1e-9,
    )
    assert_allclose(losses_at(problem, scale * problem.r).profile, losses_at(problem, problem.r).profile, rtol=1e-3)


def test_a_model_with_fewer_blocks_is_the_same_in_a_batch_as_alone(mixed_problem):
    together = losses_at(mixed_problem, mixed_problem.r)
    for i, model in enumerate(mixed_problem.models):
        alone = losses_at(mixed_problem, mixed_problem.r, statistics=BlockStatistics.of(mixed_problem.Y, [model]))
        for name in ("reconstruction", "profile", "reconstruction_gradient", "profile_gradient"):
            assert_allclose(getattr(together, name)[i], getattr(alone, name)[0], rtol=1e-10, atol=1e-12)


def test_one_block_has_nothing_to_say_about_how_blocks_connect(problem):
    one = BlockModel.from_labels(sparse.csr_array(problem.A), np.zeros(len(problem.A), dtype=int))
    losses = losses_at(problem, problem.r, statistics=BlockStatistics.of(problem.Y, [one]))
    assert losses.profile[0, 0] == 0
    assert not losses.profile_gradient.any()


def test_blocks_of_one_node_each_fit_perfectly_and_pull_nowhere(problem):
    each = BlockModel.from_labels(sparse.csr_array(problem.A), np.arange(len(problem.A)))
    losses = losses_at(problem, problem.r, statistics=BlockStatistics.of(problem.Y, [each]))
    assert_allclose(losses.reconstruction, 0, atol=1e-12)
    assert not losses.reconstruction_gradient.any()


def test_scores_of_zero_induce_nothing_and_give_no_nan(problem):
    losses = losses_at(problem, np.zeros_like(problem.r))
    assert losses.reconstruction[0, 0] == 1
    assert not losses.reconstruction_gradient.any()
    assert np.isfinite(losses.profile_gradient).all()


def test_features_that_are_the_same_for_all_nodes_give_no_nan(problem):
    constant = np.ones_like(problem.Y)
    statistics = BlockStatistics.of(constant, problem.models)
    scores = problem.r[None, None]
    losses = evaluate_losses(statistics, scores, gram_squared(constant).apply(scores[0])[None], smoothing=DELTA)
    for name in ("reconstruction", "profile", "reconstruction_gradient", "profile_gradient"):
        assert np.isfinite(getattr(losses, name)).all()
