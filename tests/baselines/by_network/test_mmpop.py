"""MMPOP: margins, their gradient, and convergence of the stochastic descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from blockselect import make_attributed_blocks
from blockselect.baselines.by_network.mmpop import LOSSES, MMPOP, order_loss
from references import mmpop
from references.problems import make_problem


def fit(X, A, n=1, **options):
    return MMPOP(n, **{"random_state": 0, **options}).fit(X, adjacency=A)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_loss_of_a_batch_equals_a_loop_and_its_gradient_finite_differences(loss, kind):
    problem = make_problem(0)
    X, A = problem.Y, problem.A
    chosen = mmpop.triples(A)[::50]
    i, j, k = (np.array(nodes) for nodes in list(zip(*chosen, strict=True))[:3])

    def value(w):
        return order_loss(kind(X), np.column_stack([i, j]), k, w, loss=loss)

    w = problem.r
    slow = np.mean([mmpop.LOSSES[loss](w @ (X[a] * (X[b] - X[c]))) for a, b, c in zip(i, j, k, strict=True)])
    assert_allclose(value(w)[0], slow)
    steps = np.eye(len(w)) * 1e-6
    differences = [(value(w + e)[0] - value(w - e)[0]) / 2e-6 for e in steps]
    assert_allclose(value(w)[1], differences, rtol=1e-5, atol=1e-7)


def optimum(X, A, loss, sparsity):
    if loss == "hinge":
        return mmpop.hinge_optimum(X, A, sparsity)
    start, bounds = np.full(X.shape[1], 0.5), [(0, 1)] * X.shape[1]
    return minimize(lambda w: mmpop.objective(X, A, w, loss, sparsity), start, bounds=bounds).fun


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_descent_gets_close_to_the_optimum_over_all_triples(loss, seed):
    problem = make_problem(seed, n=14, m=6)
    X, A, sparsity = problem.Y, problem.A, 0.01
    selector = fit(X, A, loss=loss, sparsity=sparsity, step_size=0.3, batch_size=20, max_iter=400)
    best = optimum(X, A, loss, sparsity)
    start = mmpop.objective(X, A, np.full(6, 0.5), loss, sparsity)
    reached = mmpop.objective(X, A, selector.scores_, loss, sparsity)
    assert best - 1e-6 <= reached <= best + 0.05 * (start - best)


def test_binary_features_find_more_planted_features_than_counts():
    found = {True: [], False: []}
    for seed in range(2):
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


def test_link_weights_and_self_loops_are_ignored(network):
    heavier = 4.0 * network.adjacency + sparse.eye_array(200)
    assert_array_equal(fit(network.features, heavier).scores_, fit(network.features, network.adjacency).scores_)


def test_the_objective_decreases_over_the_passes(network):
    selector = fit(network.features, network.adjacency, batch_size=100)
    assert len(selector.history_) == selector.n_iter_ == 30
    assert selector.history_[-5:].mean() < 0.95 * selector.history_[0]


def test_scores_stay_within_their_bounds_and_strong_sparsity_leaves_nothing(network):
    scores = fit(network.features, network.adjacency, sparsity=0, step_size=100).scores_
    assert scores.min() == 0
    assert scores.max() == 1
    with pytest.warns(match="only 0 of the 5"):
        assert not fit(network.features, network.adjacency, 5, sparsity=10).scores_.any()


def test_a_node_linked_to_all_others_is_skipped():
    A = np.zeros((5, 5))
    A[0, 1:] = A[1:, 0] = 1  # the centre of a star has no non-links, but its leaves do
    X = np.eye(5)[:, :4] + 0.5
    scores = fit(X, A).scores_
    assert np.isfinite(scores).all()
    assert len(set(scores)) > 1
