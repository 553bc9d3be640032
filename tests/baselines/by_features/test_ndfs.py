"""NDFS: features that predict clusters which follow the graph."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import make_attributed_blocks
from blockselect.base import best_first
from blockselect.baselines.by_features import ndfs as module
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.graphs.affinity import neighbour_affinity
from references import ndfs


@parametrize_with_checks(
    [NDFS(n_blocks=2, random_state=0, max_iter=50), NDFS(n_blocks=2, random_state=0, quirks="published", max_iter=50)]
)
def test_scikit_learns_estimator_checks_hold(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # K-means on a few equal rows, and few iterations
        check(estimator)


@pytest.fixture(scope="module")
def network():
    """Blocks that some features follow closely, and 85 features that follow nothing."""
    return make_attributed_blocks(
        200, 3, n_informative=15, n_redundant=0, n_noise=85, signal=8, frequency=(0.1, 0.1), random_state=0
    )


@pytest.fixture(scope="module")
def affinity(network):
    return neighbour_affinity(network.features, weights="binary")


def some_clusters(n=200, c=3):
    return np.random.default_rng(1).random((n, c)) / np.sqrt(n)


def test_the_published_scores_of_cora(golden_path):
    cora = np.load(golden_path / "cora.npz")
    X = sparse.csr_array((cora["Y_data"], cora["Y_indices"], cora["Y_indptr"]), shape=cora["Y_shape"])
    selector = NDFS(100, initial_clusters=np.load(golden_path / "cora_ndfs_F0.npy"), quirks="published", tol=0)
    selector.fit(X, affinity=sparse.load_npz(golden_path / "cora_W_binary_k5.npz"))
    expected = np.load(golden_path / "cora_ndfs_score.npy")
    assert selector.n_iter_ == 1000
    assert_allclose(selector.scores_, expected, rtol=0, atol=1e-6 * expected.max())
    best = best_first(expected)[:100]  # two differ by rounding alone
    assert_array_equal(np.argsort(selector.ranking_)[:100], best)
    assert_allclose(selector.scores_[best], expected[best], rtol=1e-6)


@pytest.mark.parametrize("gamma", [1e9, 1e4])
@pytest.mark.parametrize("quirks", ["none", "published"])
def test_scores_are_those_of_the_literal_formula(network, affinity, gamma, quirks):
    X, W, start = network.features.toarray(), affinity.toarray(), some_clusters()
    selector = NDFS(
        fit_weight=0.7, sparsity=0.3, orthogonality=gamma, initial_clusters=start, quirks=quirks, max_iter=12, tol=0
    ).fit(X, affinity=affinity)
    Z, F = ndfs.solve(X, W, start, 0.7, 0.3, gamma, n_iter=12, published=quirks == "published")
    assert_allclose(selector.clusters_, F, atol=1e-9)
    assert_allclose(selector.coefficients_, Z, atol=1e-9 * np.abs(Z).max())
    assert_allclose(selector.scores_, [row @ row for row in Z], atol=1e-9 * selector.scores_.max())


@pytest.mark.parametrize("gamma", [1e9, 100.0, 1.0, 0.01])
@pytest.mark.parametrize("start", ["k-means", "given"])
def test_the_objective_falls_at_every_iteration(network, affinity, gamma, start):
    given = some_clusters() if start == "given" else None
    selector = NDFS(n_blocks=3, orthogonality=gamma, initial_clusters=given, max_iter=80, tol=0, random_state=0).fit(
        network.features, affinity=affinity
    )
    history = selector.history_
    assert len(history) == 80
    assert (np.diff(history) <= 1e-12 * np.abs(history[:-1])).all()
    assert history[-1] < history[0]
    assert_allclose(
        history[-1],
        ndfs.objective(
            network.features.toarray(), affinity.toarray(), selector.clusters_, selector.coefficients_, 1, 1, gamma
        ),
        rtol=1e-9,
    )


def test_a_weaker_pull_to_orthogonality_lets_the_graph_move_the_clusters(network, affinity):
    rough = []
    for gamma in (1e9, 10.0):
        options = {"orthogonality": gamma, "initial_clusters": some_clusters(), "max_iter": 200, "tol": 0}
        F = NDFS(**options).fit(network.features, affinity=affinity).clusters_
        degrees = np.asarray(affinity.sum(axis=1))
        rough.append(np.sum(F * (degrees[:, None] * F - affinity @ F)) / np.sum(degrees[:, None] * F**2))
    assert rough[1] < 0.5 * rough[0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_features_are_found(seed):
    network = make_attributed_blocks(
        300, 3, n_informative=15, n_redundant=0, n_noise=85, signal=8, frequency=(0.1, 0.1), random_state=seed
    )
    selector = NDFS(15, n_blocks=3, random_state=0).fit(network.features)
    assert network.is_informative[selector.get_support()].mean() >= 0.8  # chance: 0.15


def test_a_tolerance_ends_the_iterations_early(network):
    loose, tight = (NDFS(n_blocks=3, tol=tol, random_state=0).fit(network.features) for tol in (1e-1, 1e-4))
    assert loose.n_iter_ < tight.n_iter_ < 1000
    assert abs(tight.history_[-1] - tight.history_[-2]) < 1e-4


def test_an_objective_that_does_not_settle_is_warned_of(network):
    with pytest.warns(ConvergenceWarning, match=r"did not settle within max_iter=2; raise it, or tol \(it is 1e-05\)"):
        NDFS(n_blocks=3, max_iter=2, random_state=0).fit(network.features)


def test_sparse_and_dense_features_give_the_same_scores(network, affinity):
    options = {"initial_clusters": some_clusters(), "max_iter": 100, "tol": 0}
    X = network.features
    expected = NDFS(**options).fit(X.toarray(), affinity=affinity).scores_
    assert_allclose(NDFS(**options).fit(X, affinity=affinity).scores_, expected, atol=1e-10 * expected.max())


def test_scores_do_not_change_when_nodes_are_reordered(network, affinity):
    order = np.random.default_rng(0).permutation(200)
    start = some_clusters()
    here = NDFS(initial_clusters=start, max_iter=50, tol=0).fit(network.features, affinity=affinity)
    there = NDFS(initial_clusters=start[order], max_iter=50, tol=0).fit(
        network.features[order], affinity=affinity[order][:, order]
    )
    assert_allclose(there.scores_, here.scores_, atol=1e-10 * here.scores_.max())


def test_the_same_seed_gives_the_same_scores_bit_by_bit(network):
    first, second = (NDFS(n_blocks=3, random_state=5).fit(network.features).scores_ for _ in range(2))
    assert_array_equal(first, second)


def test_constant_and_empty_columns_are_never_selected_but_as_published(network):
    X = network.features.toarray()
    X[:, 3], X[:, 5] = 0, 1
    with pytest.warns(ConvergenceWarning, match="only 98 of the 100 features"):
        selector = NDFS(100, n_blocks=3, random_state=0).fit(X)
    assert_array_equal(np.flatnonzero(np.isneginf(selector.scores_)), [3, 5])
    assert not selector.get_support()[[3, 5]].any()
    with (
        pytest.warns(UserWarning, match="1 of the selected features are the same for all nodes, first column 5"),
        pytest.warns(ConvergenceWarning, match="only 99 of the 100 features"),
    ):
        published = NDFS(100, n_blocks=3, quirks="published", max_iter=50, tol=0, random_state=0).fit(X)
    assert published.scores_[3] == 0 < published.scores_[5]


def test_more_clusters_than_nodes_is_an_error(network):
    with pytest.raises(ValueError, match="n_blocks is 201 but the graph has 200 nodes"):
        NDFS(n_blocks=201).fit(network.features)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (np.ones((7, 3)), r"initial_clusters has shape \(7, 3\) but there are 200 nodes"),
        (np.ones(200), r"initial_clusters has shape \(200,\)"),
        (np.zeros((200, 3)), "zero everywhere"),
        (np.full((200, 3), -1.0), "negative or not finite"),
        (np.full((200, 3), np.nan), "finite"),
    ],
)
def test_a_start_that_does_not_fit_is_an_error(network, clusters, message):
    with pytest.raises(ValueError, match=message):
        NDFS(initial_clusters=clusters).fit(network.features)


def test_the_callers_start_is_not_changed(network):
    start = some_clusters()
    before = start.copy()
    NDFS(initial_clusters=start, max_iter=3, tol=0).fit(network.features)
    assert_array_equal(start, before)


def test_where_no_step_lowers_the_objective_the_clusters_stay(network, affinity, monkeypatch):
    monkeypatch.setattr(module, "_HALVINGS", 0)
    start = some_clusters()
    selector = NDFS(8, orthogonality=10.0, initial_clusters=start, max_iter=3, tol=0)
    selector.fit(network.features, affinity=affinity)
    assert_array_equal(selector.clusters_, start)
