"""NetFS: features that predict communities of the network."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect import load_cora, make_attributed_blocks
from blockselect.baselines.by_network.netfs import CommunityTerm, NetFS
from references import netfs


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(150, 3, mean_degree=20, n_informative=8, n_redundant=0, n_noise=22, random_state=0)


def fit(network, n=8, **options):
    options = {"n_blocks": 3, "sparsity": 1.0, "network_weight": 1.0, "random_state": 0, **options}
    return NetFS(n, **options).fit(network.features, adjacency=network.adjacency)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (10.0, 0.1), (0.3, 5.0)])
def test_scores_equal_the_literal_formula(network, alpha, beta):
    X, A = network.features.toarray(), network.adjacency.toarray()
    start = np.random.default_rng(3).random((150, 3))
    selector = fit(network, sparsity=alpha, network_weight=beta, initial_clusters=start, max_iter=8, tol=0)
    Z, U = netfs.solve(X, A, start, alpha, beta, n_iter=8)
    assert_allclose(selector.clusters_, U, atol=1e-8 * U.max())
    assert_allclose(selector.coefficients_, Z, atol=1e-8 * np.abs(Z).max())
    assert_allclose(selector.scores_, [np.linalg.norm(row) for row in Z], atol=1e-8 * selector.scores_.max())
    assert_allclose(selector.history_[-1], netfs.objective(X, A, Z, U, alpha, beta), rtol=1e-9)


def test_the_gradient_equals_finite_differences():
    rng = np.random.default_rng(0)
    X, Z, U = rng.random((7, 4)), rng.standard_normal((4, 2)), rng.random((7, 2))
    half = sparse.random_array((7, 7), density=0.5, rng=rng)
    A = sparse.csr_array(half + half.T)
    slope = CommunityTerm(A, 0.7, float(sparse.linalg.norm(A))).gradient(U, X @ Z)
    for at in np.ndindex(U.shape):
        shift = np.zeros_like(U)
        shift[at] = 1e-6
        rise = [netfs.objective(X, A.toarray(), Z, U + sign * shift, 1.0, 0.7) for sign in (1, -1)]
        assert_allclose(slope[at], (rise[0] - rise[1]) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("options", [{}, {"sparsity": 10.0, "network_weight": 0.1}, {"n_blocks": 8}])
def test_the_objective_decreases_in_each_iteration(network, options):
    history = fit(network, max_iter=60, tol=0, **options).history_
    assert len(history) == 60
    assert (np.diff(history) <= 1e-11 * history[0]).all()
    assert history[-1] < 0.99 * history[0]


def test_the_solution_is_stationary(network):
    """No change of U with U ≥ 0, nor of a non-zero row of Z, decreases the objective to first order."""
    start = np.random.default_rng(0).random((150, 3))
    selector = fit(network, initial_clusters=start, max_iter=3000, tol=1e-14)
    X, A, Z, U = network.features.toarray(), network.adjacency.toarray(), selector.coefficients_, selector.clusters_
    slope = netfs.gradient(X, A, Z, U, 1.0)
    at_start = np.abs(netfs.gradient(X, A, Z, start, 1.0)).max()
    assert np.abs(np.where(U > 0, slope, np.minimum(slope, 0))).max() < 1e-4 * at_start
    used = selector.scores_ > 1e-3 * selector.scores_.max()
    pull = 2 * X.T @ (U - X @ Z)
    assert used.any()
    assert_allclose(pull[used], (Z / selector.scores_[:, None])[used], atol=1e-3)
    assert (np.linalg.norm(pull[~used], axis=1) <= 1 + 1e-3).all()


def test_it_finds_the_planted_blocks(network):
    communities = fit(network).clusters_.argmax(axis=1)
    counts = np.histogram2d(communities, network.blocks, bins=3)[0]
    assert counts.max(axis=1).sum() >= 0.9 * 150  # chance: about 0.4


def test_a_different_seed_gives_a_different_start(network):
    assert not np.array_equal(fit(network, random_state=1).clusters_, fit(network).clusters_)


def test_the_warning_about_collapsed_communities_suggests_a_weight():
    sparse_network = make_attributed_blocks(150, 3, mean_degree=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"collapsed.*0\.1 × \d\.\d+ = 0\.\d+\. Increase network_weight"):
        collapsed = NetFS(5, n_blocks=3, random_state=0).fit(
            sparse_network.features, adjacency=sparse_network.adjacency
        )
    assert collapsed.explained_ < 1e-6
    assert fit(sparse_network).explained_ > 0.05


def test_the_start_has_the_scale_of_the_network():
    cora = load_cora()
    for scale in (1.0, 1e6):
        selector = NetFS(5, n_blocks=7, network_weight=1 / scale, sparsity=10 * scale**0.5, random_state=0)
        selector.set_params(max_iter=1, tol=0)
        U = selector.fit(cora.features, adjacency=scale * cora.adjacency).clusters_
        assert 0.1 < np.linalg.norm(U.T @ U) / sparse.linalg.norm(scale * cora.adjacency) < 1


def test_communities_stay_if_no_step_decreases_the_objective():
    rng = np.random.default_rng(0)
    half = sparse.random_array((7, 7), density=0.5, rng=rng)
    A = sparse.csr_array(half + half.T)
    term, U, fitted = CommunityTerm(A, 0.7, float(sparse.linalg.norm(A))), rng.random((7, 2)), rng.random((7, 2))
    stayed, step = term.descend(U, fitted, 1e6, halvings=1)
    assert_array_equal(stayed, U)
    assert step == term.safe_step(U)
    moved, _ = term.descend(U, fitted, step)
    assert term.value(moved, fitted) < term.value(U, fitted)
