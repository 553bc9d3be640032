"""MMPOP: margins, their gradient, and where the stochastic descent ends."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import make_attributed_blocks
from blockselect.baselines._solvers.node_pairs import NodePairs
from blockselect.baselines.by_network.mmpop import LOSSES, MMPOP, order_loss
from references import mmpop
from references.problems import make_problem


@parametrize_with_checks([MMPOP(n_neighbors=5, random_state=0)])
def test_scikit_learns_estimator_checks_hold(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer non-zero scores than asked for: an answer
        check(estimator)


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0)


def fit(X, A, n=1, **options):
    return MMPOP(n, **{"random_state": 0, **options}).fit(X, adjacency=A)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_loss_of_a_batch_is_that_of_a_loop_and_its_gradient_meets_finite_differences(loss, kind):
    problem = make_problem(0)
    X, A = problem.Y, problem.A
    chosen = mmpop.triples(A)[::50]
    i, j, k = (np.array(nodes) for nodes in list(zip(*chosen, strict=True))[:3])

    def value(w):
        return order_loss(kind(X), NodePairs(i, j), k, w, loss=loss)

    w = problem.r
    slow = np.mean([mmpop.LOSSES[loss](w @ (X[a] * (X[b] - X[c]))) for a, b, c in zip(i, j, k, strict=True)])
    assert_allclose(value(w).value, slow)
    steps = np.eye(len(w)) * 1e-6
    differences = [(value(w + e).value - value(w - e).value) / 2e-6 for e in steps]
    assert_allclose(value(w).gradient, differences, rtol=1e-5, atol=1e-7)


def optimum(X, A, loss, sparsity):
    if loss == "hinge":
        return mmpop.hinge_optimum(X, A, sparsity)
    start, bounds = np.full(X.shape[1], 0.5), [(0, 1)] * X.shape[1]
    return minimize(lambda w: mmpop.objective(X, A, w, loss, sparsity), start, bounds=bounds).fun


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_descent_comes_close_to_the_optimum_over_all_triples(loss, seed):
    problem = make_problem(seed, n=14, m=6)
    X, A, sparsity = problem.Y, problem.A, 0.01
    selector = fit(X, A, loss=loss, sparsity=sparsity, step_size=0.3, batch_size=20, max_iter=400)
    best = optimum(X, A, loss, sparsity)
    start = mmpop.objective(X, A, np.full(6, 0.5), loss, sparsity)
    reached = mmpop.objective(X, A, selector.scores_, loss, sparsity)
    assert best - 1e-6 <= reached <= best + 0.05 * (start - best)


@pytest.mark.parametrize("loss", LOSSES)
def test_planted_features_are_found(loss):
    found = []
    for seed in range(3):
        planted = make_attributed_blocks(
            300, 3, mean_degree=30, n_informative=15, n_redundant=0, n_noise=85, random_state=seed
        )
        selector = fit(planted.features, planted.adjacency, 15, loss=loss)
        found.append(planted.is_informative[selector.get_support()].mean())
    assert np.mean(found) >= 0.6  # chance: 0.15


def test_binary_features_find_more_than_counts_do():
    found = {True: [], False: []}
    for seed in range(3):
        planted = make_attributed_blocks(
            300,
            3,
            mean_degree=30,
            n_informative=15,
            n_redundant=0,
            n_noise=85,
            values="counts",
            frequency=(0.05, 2),
            random_state=seed,
        )
        for binarize in found:
            selector = fit(planted.features, planted.adjacency, 15, binarize=binarize)
            found[binarize].append(planted.is_informative[selector.get_support()].mean())
    assert np.mean(found[True]) >= np.mean(found[False]) + 0.2


def test_binarize_looks_only_at_what_is_zero(network):
    X = network.features * 7.0
    assert_array_equal(fit(X, network.adjacency, binarize=True).scores_, fit(X / 7, network.adjacency).scores_)


def test_sparse_and_single_precision_input_give_the_scores_of_dense_input(network):
    plain = fit(network.features.toarray(), network.adjacency).scores_
    assert_allclose(fit(network.features, network.adjacency).scores_, plain, atol=1e-10)
    assert_allclose(fit(network.features.astype(np.float32), network.adjacency).scores_, plain, atol=1e-10)


def test_the_same_seed_gives_the_same_scores_bit_by_bit_and_another_does_not(network):
    first, second, other = (fit(network.features, network.adjacency, random_state=s).scores_ for s in (0, 0, 1))
    assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_the_weight_of_a_link_and_self_loops_are_not_read(network):
    heavier = 4.0 * network.adjacency + sparse.eye_array(200)
    assert_array_equal(fit(network.features, heavier).scores_, fit(network.features, network.adjacency).scores_)


def test_the_objective_falls_over_the_passes(network):
    selector = fit(network.features, network.adjacency, batch_size=100)
    assert len(selector.history_) == selector.n_iter_ == 30
    assert selector.history_[-5:].mean() < 0.95 * selector.history_[0]


def test_scores_stay_within_their_bounds_and_strong_sparsity_leaves_nothing(network):
    scores = fit(network.features, network.adjacency, sparsity=0, step_size=100).scores_
    assert scores.min() == 0
    assert scores.max() == 1
    with pytest.warns(match="only 0 of the 5"):
        assert not fit(network.features, network.adjacency, 5, sparsity=10).scores_.any()


def test_a_constant_feature_scores_zero(network):
    X = np.column_stack([network.features.toarray(), np.ones(200), np.zeros(200)])
    selector = fit(X, network.adjacency)
    assert_array_equal(selector.scores_[-2:], 0)
    assert selector.scores_[:-2].any()


def test_a_node_linked_with_all_others_is_passed_over():
    A = np.zeros((5, 5))
    A[0, 1:] = A[1:, 0] = 1  # the centre of a star orders nothing; its leaves do
    X = np.eye(5)[:, :4] + 0.5
    scores = fit(X, A).scores_
    assert np.isfinite(scores).all()
    assert len(set(scores)) > 1


@pytest.mark.parametrize(
    ("options", "adjacency", "message"),
    [
        ({}, None, "adjacency is missing"),
        ({}, np.ones((200, 200)), "linked with all others"),
        ({}, np.eye(200), "links no two different nodes"),
        ({}, np.ones((3, 3)), "3 nodes but features has 200 rows"),
        ({"loss": "squared"}, None, "loss"),
        ({"initial_score": 2}, None, "initial_score"),
        ({"sparsity": -1}, None, "sparsity"),
    ],
)
def test_bad_input_is_named(network, options, adjacency, message):
    with pytest.raises(ValueError, match=message):
        fit(network.features, adjacency, **options)
