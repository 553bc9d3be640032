"""GFS-style selection: each term against the formula as written, and where the turns end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import make_attributed_blocks
from blockselect.baselines.by_network.gfs import GFS, Content
from references import gfs
from references.problems import make_problem


@parametrize_with_checks([GFS(n_neighbors=5, random_state=0)])
def test_scikit_learns_estimator_checks_hold(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0)


def fit(X, A, n=1, **options):
    return GFS(n, **{"random_state": 0, **options}).fit(X, adjacency=A)


def content_of(problem, n_components, kind=np.asarray):
    return Content.of(kind(problem.Y), n_components, ridge=0.3, rng=np.random.default_rng(0))


def svd_basis(content, problem):
    """W of the content: its target is XW."""
    return np.linalg.lstsq(problem.Y, content.target, rcond=None)[0]


def central_difference(function, point, step=1e-6):
    return np.array([(function(point + e) - function(point - e)) / (2 * step) for e in np.eye(len(point)) * step])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_components", [3, 9, 100])
def test_the_error_of_a_map_of_any_rank_is_that_of_its_full_matrix(kind, n_components):
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


def test_the_map_comes_to_solve_the_normal_equations_and_never_gets_worse():
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
def test_over_all_pairs_the_turns_end_at_a_stationary_point_of_the_objective(seed):
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


def test_the_objective_never_rises(network):
    for options in ({"exact": True}, {"non_links_per_link": 2}, {"n_components": 4}):
        history = fit(network.features, network.adjacency, tol=0, max_iter=30, **options).history_
        assert len(history) > 3
        assert (np.diff(history) <= 1e-12 * history[:-1]).all()


@pytest.mark.parametrize("non_links_per_link", [3, 10])
def test_planted_features_are_found(non_links_per_link):
    found = []
    for seed in range(3):
        planted = make_attributed_blocks(
            400, 3, mean_degree=40, n_informative=15, n_redundant=0, n_noise=85, random_state=seed
        )
        selector = fit(planted.features, planted.adjacency, 15, non_links_per_link=non_links_per_link)
        found.append(planted.is_informative[selector.get_support()].mean())
    assert np.mean(found) >= 0.6  # chance: 0.15


def test_features_that_tell_others_outlast_those_that_tell_themselves_alone():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(150, 2))
    X = np.column_stack([hidden @ rng.normal(size=(2, 8)), 0.3 * rng.normal(size=(150, 8))])
    A = make_attributed_blocks(150, 2, random_state=0).adjacency
    kept = fit(X, A, 2, reconstruction=100, sparsity=100).scores_ > 0
    assert 2 <= kept[:8].sum() < 8  # two of a rank-two group would do
    assert not kept[8:].any()


def test_sparse_and_single_precision_input_give_the_scores_of_dense_input(network):
    plain = fit(network.features.toarray(), network.adjacency).scores_
    assert_allclose(fit(network.features, network.adjacency).scores_, plain, atol=1e-4)
    assert_allclose(fit(network.features.astype(np.float32), network.adjacency).scores_, plain, atol=1e-4)


def test_scores_do_not_change_when_nodes_are_reordered(network):
    order = np.random.default_rng(0).permutation(200)
    options = {"exact": True, "n_components": 52, "tol": 1e-9}
    moved = fit(network.features[order], network.adjacency[order][:, order], **options).scores_
    assert_allclose(moved, fit(network.features, network.adjacency, **options).scores_, atol=1e-3)


def test_the_same_seed_gives_the_same_scores_bit_by_bit_and_another_draw_does_not(network):
    first, second, other = (
        fit(network.features, network.adjacency, non_links_per_link=2, random_state=s).scores_ for s in (0, 0, 1)
    )
    assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_binarize_looks_only_at_what_is_zero(network):
    X = network.features * 7.0
    assert_array_equal(fit(X, network.adjacency, binarize=True).scores_, fit(X / 7, network.adjacency).scores_)


def test_features_at_the_bound_rank_by_how_hard_the_bound_holds_them():
    # Nodes link if and only if they share a feature: no score is large enough.
    sizes = [3, 8, 5]
    X = np.repeat(np.eye(3), sizes, axis=0)
    selector = fit(X, X @ X.T, 3, sparsity=0, reconstruction=0)
    assert_array_equal(selector.criterion_, 1)
    assert_array_equal(selector.ranking_, [3, 1, 2])  # the more links it explains, the steeper


def test_scores_do_not_change_with_the_scale_of_the_features(network):
    plain = fit(network.features, network.adjacency).scores_
    for scale in (0.01, 300.0):
        assert_allclose(fit(scale * network.features, network.adjacency).scores_, plain, atol=1e-6)


def test_a_constant_feature_scores_zero(network):
    X = np.column_stack([network.features.toarray(), np.ones(200), np.zeros(200)])
    selector = fit(X, network.adjacency)
    assert_array_equal(selector.scores_[-2:], 0)
    assert_allclose(selector.scores_[:-2], fit(network.features.toarray(), network.adjacency).scores_, atol=1e-10)


def test_strong_sparsity_leaves_fewer_features_and_that_is_said(network):
    with pytest.warns(match="of the 52 features asked for"):
        strong = fit(network.features, network.adjacency, 52, sparsity=100)
    assert strong.n_features_ == np.count_nonzero(strong.scores_)
    assert strong.n_features_ < np.count_nonzero(fit(network.features, network.adjacency).scores_)


@pytest.mark.parametrize(
    ("options", "adjacency", "message"),
    [
        ({}, None, "adjacency is missing"),
        ({}, np.ones((200, 200)), "linked with all others"),
        ({}, np.eye(200), "links no two different nodes"),
        ({"ridge": 0}, None, "ridge"),
        ({"n_components": 0}, None, "n_components"),
        ({"reconstruction": -1}, None, "reconstruction"),
        ({"non_links_per_link": 0}, None, "non_links_per_link"),
    ],
)
def test_bad_input_is_named(network, options, adjacency, message):
    with pytest.raises(ValueError, match=message):
        fit(network.features, adjacency, **options)
