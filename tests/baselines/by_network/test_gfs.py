"""GFS-style selection: each term equals its formula, and the iterations converge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import make_attributed_blocks
from blockselect.baselines.by_network.gfs import GFS, Content
from references import gfs
from references.differences import central_difference
from references.problems import make_problem


def fit(X, A, n=1, **options):
    return GFS(n, **{"random_state": 0, **options}).fit(X, adjacency=A)


def content_of(problem, n_components, kind=np.asarray):
    return Content(kind(problem.Y), n_components, ridge=0.3, rng=np.random.default_rng(0))


def svd_basis(content, problem):
    """W of the content: its target is XW."""
    return np.linalg.lstsq(problem.Y, content.target, rcond=None)[0]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_components", [3, 9, 100])
def test_the_error_of_a_low_rank_map_equals_that_of_its_full_matrix(kind, n_components):
    problem = make_problem(0)
    content = content_of(problem, n_components, kind)
    rank = min(n_components, 9)
    leading = np.linalg.svd(problem.Y)[2][:rank].T
    W = svd_basis(content, problem)
    assert_allclose(W @ W.T, leading @ leading.T, atol=1e-8)
    C = np.random.default_rng(1).normal(size=(9, rank))
    value, gradient = content.penalty(C, problem.r, 0.7)
    slow = gfs.reconstruction(problem.Y, problem.r, C @ W.T, 0.7, 0.3)
    assert_allclose(value, slow)
    assert_allclose(
        gradient,
        central_difference(lambda s: gfs.reconstruction(problem.Y, s, C @ W.T, 0.7, 0.3), problem.r),
        rtol=1e-5,
        atol=1e-8,
    )


def test_the_map_converges_to_the_normal_equations_and_never_gets_worse():
    problem = make_problem(1)
    content, map_ = content_of(problem, 9), np.zeros((9, 9))
    errors = [content.penalty(map_, problem.r, 1.0)[0]]
    for _ in range(20):
        map_ = content.improve(map_, problem.r)
        errors.append(content.penalty(map_, problem.r, 1.0)[0])
    assert (np.diff(errors) <= 1e-12).all()
    best = gfs.best_map(problem.Y, problem.r, 0.3)
    assert_allclose(
        problem.Y @ np.diag(problem.r) @ map_,
        problem.Y @ np.diag(problem.r) @ best @ svd_basis(content, problem),
        atol=1e-6,
    )


@pytest.mark.parametrize("seed", range(3))
def test_with_all_pairs_the_iterations_converge_to_a_stationary_point(seed):
    problem = make_problem(seed)
    X, A = problem.Y / problem.Y[problem.Y > 0].mean(), problem.A
    settings = {"ridge": 0.2, "sparsity": 0.5}
    selector = fit(X, A, exact=True, reconstruction=0.3, max_iter=300, tol=0, **settings)
    s, b = selector.criterion_, selector.intercept_
    V = gfs.best_map(X, s, 0.2)
    assert_allclose(selector.history_[-1], gfs.objective(X, A, s, b, V, alpha=0.3, **settings), rtol=1e-8)
    gradient = central_difference(lambda s: gfs.objective(X, A, s, b, V, alpha=0.3, **settings), s)
    by_intercept = central_difference(lambda b: gfs.objective(X, A, s, b[0], V, alpha=0.3, **settings), np.array([b]))
    assert_allclose(by_intercept, 0, atol=1e-4)
    assert_allclose(gradient[(s > 0) & (s < 1)], 0, atol=1e-4)
    assert (gradient[s == 0] > -1e-4).all()
    assert (gradient[s == 1] < 1e-4).all()


def test_the_objective_never_increases(network):
    for options in ({"exact": True}, {"non_links_per_link": 2}, {"n_components": 4}):
        history = fit(network.features, network.adjacency, tol=0, max_iter=30, **options).history_
        assert len(history) > 3
        assert (np.diff(history) <= 1e-12 * history[:-1]).all()


def test_features_that_predict_others_are_kept_longer_than_independent_ones():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(150, 2))
    X = np.column_stack([hidden @ rng.normal(size=(2, 8)), 0.3 * rng.normal(size=(150, 8))])
    A = make_attributed_blocks(150, 2, random_state=0).adjacency
    kept = fit(X, A, 2, reconstruction=100, sparsity=100).scores_ > 0
    assert 2 <= kept[:8].sum() < 8  # two features of a group of rank two are enough
    assert not kept[8:].any()


def test_features_at_the_upper_bound_are_ranked_by_the_slope():
    # Nodes are linked if and only if they share a feature, so all scores are at the upper bound.
    sizes = [3, 8, 5]
    X = np.repeat(np.eye(3), sizes, axis=0)
    selector = fit(X, X @ X.T, 3, sparsity=0, reconstruction=0)
    assert_array_equal(selector.criterion_, 1)
    assert_array_equal(selector.ranking_, [3, 1, 2])  # the slope is steeper for features that explain more links


def test_strong_sparsity_leaves_fewer_features_with_a_warning(network):
    with pytest.warns(match="of the 52 requested features"):
        strong = fit(network.features, network.adjacency, 52, sparsity=100)
    assert strong.n_features_ == np.count_nonzero(strong.scores_)
    assert strong.n_features_ < np.count_nonzero(fit(network.features, network.adjacency).scores_)
