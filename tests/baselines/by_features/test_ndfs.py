"""NDFS: features that predict clusters that follow the graph."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import golden_arrays
from blockselect import make_attributed_blocks
from blockselect.baselines.by_features.ndfs import NDFS, ClusterTerm, falling_step
from blockselect.graphs.affinity import neighbour_affinity
from blockselect.utils.arrays import best_first
from references import ndfs


@pytest.fixture(scope="module")
def network():
    """Blocks that some features follow closely, and 85 noise features."""
    return make_attributed_blocks(
        200, 3, n_informative=15, n_redundant=0, n_noise=85, signal=8, frequency=(0.1, 0.1), random_state=0
    )


@pytest.fixture(scope="module")
def affinity(network):
    return neighbour_affinity(network.features, weights="binary")


def some_clusters(n=200, c=3):
    return np.random.default_rng(1).random((n, c)) / np.sqrt(n)


def test_the_published_scores_of_cora_are_reproduced():
    start, expected = golden_arrays.scores("cora_ndfs_start"), golden_arrays.scores("cora_ndfs")
    selector = NDFS(100, initial_clusters=start, quirks="published", tol=0)
    selector.fit(golden_arrays.network("cora").features, affinity=golden_arrays.affinity("cora", binary=True))
    assert selector.n_iter_ == 1000
    assert_allclose(selector.scores_, expected, rtol=0, atol=1e-6 * expected.max())
    best = best_first(expected)[:100]  # two scores differ only by rounding
    assert_array_equal(np.argsort(selector.ranking_)[:100], best)
    assert_allclose(selector.scores_[best], expected[best], rtol=1e-6)


@pytest.mark.parametrize("gamma", [1e9, 1e4])
@pytest.mark.parametrize("quirks", ["none", "published"])
def test_scores_equal_the_literal_formula(network, affinity, gamma, quirks):
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
def test_the_objective_decreases_in_each_iteration(network, affinity, gamma, start):
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


def test_with_less_orthogonality_the_graph_changes_the_clusters(network, affinity):
    rough = []
    for gamma in (1e9, 10.0):
        options = {"orthogonality": gamma, "initial_clusters": some_clusters(), "max_iter": 200, "tol": 0}
        F = NDFS(**options).fit(network.features, affinity=affinity).clusters_
        degrees = np.asarray(affinity.sum(axis=1))
        rough.append(np.sum(F * (degrees[:, None] * F - affinity @ F)) / np.sum(degrees[:, None] * F**2))
    assert rough[1] < 0.5 * rough[0]


def test_a_tolerance_ends_the_iterations_early(network):
    loose, tight = (NDFS(n_blocks=3, tol=tol, random_state=0).fit(network.features) for tol in (1e-1, 1e-4))
    assert loose.n_iter_ < tight.n_iter_ < 1000
    assert abs(tight.history_[-1] - tight.history_[-2]) < 1e-4


def test_constant_and_empty_columns_are_selected_only_as_published(network):
    X = network.features.toarray()
    X[:, 3], X[:, 5] = 0, 1
    with pytest.warns(ConvergenceWarning, match="only 98 of the 100 requested features"):
        selector = NDFS(100, n_blocks=3, random_state=0).fit(X)
    assert_array_equal(np.flatnonzero(np.isneginf(selector.scores_)), [3, 5])
    assert not selector.get_support()[[3, 5]].any()
    with (
        pytest.warns(UserWarning, match="1 of the selected features are constant over nodes, the first in column 5"),
        pytest.warns(ConvergenceWarning, match="only 99 of the 100 requested features"),
    ):
        published = NDFS(100, n_blocks=3, quirks="published", max_iter=50, tol=0, random_state=0).fit(X)
    assert published.scores_[3] == 0 < published.scores_[5]


def test_the_callers_start_is_not_changed(network):
    start = some_clusters()
    before = start.copy()
    NDFS(initial_clusters=start, max_iter=3, tol=0).fit(network.features)
    assert_array_equal(start, before)


def test_clusters_stay_if_no_step_decreases_the_objective(affinity):
    start, fitted = some_clusters(), np.zeros((200, 3))
    term = ClusterTerm(affinity, np.asarray(affinity.sum(axis=1)), 1.0, 10.0, broadcast=False)
    stayed, value = falling_step(term, start, fitted, halvings=0)
    assert_array_equal(stayed, start)
    assert value == term.value(start, fitted)
    assert falling_step(term, start, fitted)[1] < value
