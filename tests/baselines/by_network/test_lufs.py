"""LUFS: features with combinations that are smooth on links and social dimensions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from blockselect import make_attributed_blocks
from blockselect.baselines._solvers.row_sparse import row_norms, row_weights
from blockselect.baselines._solvers.smooth_combinations import SmoothCombinations
from blockselect.baselines.by_network.lufs import LUFS, roughness, social_dimensions
from references import lufs


def fit(network, n=8, **options):
    options = {"n_blocks": 3, "random_state": 0, **options}
    return LUFS(n, **options).fit(network.features, adjacency=network.adjacency)


@pytest.mark.parametrize(
    ("alpha", "beta", "ridge"), [(0.1, 0.1, 1e-6), (10.0, 1.0, 1e-3), (0.0, 5.0, 0.1)], ids=["paper", "social", "links"]
)
def test_scores_equal_the_literal_formula(network, alpha, beta, ridge):
    X, A = network.features.toarray(), network.adjacency.toarray()
    selector = fit(network, social_weight=alpha, sparsity=beta, ridge=ridge, max_iter=6, tol=0)
    Z, values = lufs.solve(X, A, selector.social_dimensions_, 3, alpha, beta, ridge, n_iter=6)
    assert_allclose(selector.history_, values, rtol=1e-9)
    assert_allclose(selector.scores_, row_norms(Z), atol=1e-7 * selector.scores_.max())


def test_the_constraint_holds(network):
    selector = fit(network, ridge=0.01)
    X, Z = network.features.toarray(), selector.coefficients_
    assert_allclose(Z.T @ (X.T @ X + 0.01 * np.eye(52)) @ Z, np.eye(3), atol=1e-9)


def test_every_route_to_the_eigenvectors_gives_the_same_scores():
    planted = make_attributed_blocks(400, 4, mean_degree=20, n_informative=40, n_noise=450, random_state=0)
    rough = roughness(planted.adjacency, planted.blocks, 0.1)
    scores = {}
    for route in ("dense", "cholesky", "woodbury"):
        smooth = SmoothCombinations(planted.features, rough, 0.1, 1e-6, rng=np.random.default_rng(0), route=route)
        weights = np.ones(500)
        for _ in range(4):
            Z = smooth.solve(weights, 4)
            weights = row_weights(Z)
        scores[route] = row_norms(Z)
    assert_allclose(scores["cholesky"], scores["dense"], atol=1e-7 * scores["dense"].max())
    assert_allclose(scores["woodbury"], scores["dense"], atol=1e-7 * scores["dense"].max())


def test_roughness_is_the_laplacian_and_the_distance_from_the_groups(network):
    X, A, groups = network.features.toarray(), network.adjacency.toarray(), np.arange(200) % 4
    rough = roughness(network.adjacency, groups, 0.7)
    assert_allclose(rough.gram(network.features), lufs.rough_gram(X, A, groups, 0.7), atol=1e-9)
    assert_allclose(rough.of(np.ones(200)), 0, atol=1e-12)  # a constant has no roughness


@pytest.mark.parametrize("options", [{}, {"sparsity": 10.0}, {"n_blocks": 8, "social_weight": 5.0}])
def test_the_objective_decreases_in_each_iteration(network, options):
    history = fit(network, max_iter=40, tol=0, **options).history_
    assert len(history) == 40
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert history[-1] < history[0]


def test_it_stops_once_the_objective_has_converged(network):
    settled = fit(network, sparsity=5.0, max_iter=200, tol=1e-3)
    falls = -np.diff(settled.history_) / settled.history_[1:]
    assert 2 <= settled.n_iter_ < 200
    assert falls[-1] < 1e-3
    assert (falls[:-1] >= 1e-3).all()


@pytest.mark.parametrize("n_nodes", [150, 400], ids=["dense", "lanczos"])
def test_social_dimensions_are_the_planted_blocks(n_nodes):
    planted = make_attributed_blocks(n_nodes, 3, mean_degree=30, random_state=0)
    groups = social_dimensions(planted.adjacency, 3, np.random.default_rng(0))
    assert adjusted_rand_score(planted.blocks, groups) > 0.9


def test_social_dimensions_come_from_the_leading_eigenvectors_of_the_modularity_matrix():
    """Two weakly linked cliques are separated by the sign of the first eigenvector."""
    A = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    A[0, 4] = A[4, 0] = 1
    leading = np.linalg.eigh(lufs.modularity(A))[1][:, -1]
    groups = social_dimensions(sparse.csr_array(A), 2, np.random.default_rng(0))
    assert adjusted_rand_score(leading > 0, groups) == 1


def test_a_graph_with_few_distinct_nodes_gives_fewer_groups():
    complete = sparse.csr_array(np.ones((6, 6)) - np.eye(6))
    groups = social_dimensions(complete, 6, np.random.default_rng(0))
    assert set(groups) == set(range(groups.max() + 1))


def test_the_same_seed_gives_the_same_result():
    planted = make_attributed_blocks(210, 3, n_noise=420, random_state=0)
    assert_array_equal(fit(planted).scores_, fit(planted).scores_)


def test_there_are_no_more_combinations_than_features(network):
    few = LUFS(1, n_blocks=5, random_state=0).fit(network.features[:, :2], adjacency=network.adjacency)
    assert few.coefficients_.shape == (2, 2)


def equal_features(network, scale):
    X = scale * np.repeat(network.features[:, :2].toarray(), 3, axis=1)
    X[:, 1] = scale
    return X


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_fewer_different_features_than_blocks_are_an_error(network, scale):
    X = equal_features(network, scale)
    with pytest.raises(ValueError, match=r"fewer than 4 features are independent.*lower n_blocks"):
        LUFS(2, n_blocks=4, random_state=0).fit(X, adjacency=network.adjacency)
    assert np.isfinite(LUFS(2, n_blocks=3, random_state=0).fit(X, adjacency=network.adjacency).criterion_).all()


def test_features_too_large_for_the_sparsity_are_an_error_that_says_how_to_scale_them(network):
    with pytest.raises(ValueError, match=r"0\.1, which is lost to rounding next to features as large as 1e\+08"):
        LUFS(2, n_blocks=3).fit(equal_features(network, 1e8), adjacency=network.adjacency)


@pytest.mark.parametrize("graph", [np.eye(90), np.ones((90, 90)) - np.eye(90)], ids=["self-loops", "complete"])
def test_nodes_with_the_same_links_are_one_group(graph):
    assert_array_equal(social_dimensions(sparse.csr_array(graph), 2, np.random.default_rng(0)), np.zeros(90))
