"""Refined blocks, compared with the plain joint likelihood, and with the two-step method on planted networks."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.bmgufs.descent import Descent
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.refine import refine_blocks
from blockselect.datasets import make_attributed_blocks
from blockselect.inputs import check_attributed_graph
from references import joint as reference
from references.joint import small_network


def refined(graph, model, *, rng, **limits):
    return next(refine_blocks(JointLikelihood(graph), [model], rngs=[rng], **limits))


def run(A, X, labels, seed=0, **settings):
    graph = check_attributed_graph(X, A)
    return refined(graph, BlockModel.from_labels(A, labels), rng=np.random.default_rng(seed), **settings)


def planted_start(seed, family="spectral", **settings):
    planted = make_attributed_blocks(random_state=seed, **settings)
    rng = np.random.default_rng(seed)
    start = find_block_models(planted.adjacency, planted.n_blocks, family=family, n_candidates=5, rng=rng)[0]
    return planted, start


def precision(planted, scores):
    """Share of planted features among the features with the highest scores."""
    wanted = planted.is_informative
    return wanted[np.argsort(-scores, kind="stable")[: wanted.sum()]].mean()


def paper_scores(planted, model):
    statistics = BlockStatistics.of(planted.features, [model])
    solver = Descent(max_iter=100, tol=0)
    return solver.solve(gram_squared(planted.features), statistics, profile_ratio=0.6, sparsity=0.0).scores[0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_objective_of_the_result_is_the_stated_one_and_its_choice_of_features_the_best(seed):
    A, X, labels = small_network(seed)
    result = run(A, X, labels)
    assert result.in_use.any()
    stated = reference.objective(A, X, result.model.labels, result.in_use)
    assert_allclose(result.objective[-1], stated, atol=1e-8)
    for feature in range(X.shape[1]):
        other = result.in_use.copy()
        other[feature] ^= True
        assert reference.objective(A, X, result.model.labels, other) >= stated - 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_no_single_move_lowers_the_objective_of_the_result(seed):
    A, X, labels = small_network(seed)
    result = run(A, X, labels, tol=0)
    final = result.model.labels
    assert result.n_moves[-1] == 0
    for node in range(len(A)):
        for new in range(3):
            moved = final.copy()
            moved[node] = new
            if len(np.unique(moved)) == 3:
                stated = reference.objective(A, X, moved, result.in_use)
                assert stated >= result.objective[-1] - 1e-8


@given(seed=st.integers(0, 10_000), k=st.integers(1, 6))
def test_objective_never_rises_and_no_block_is_emptied(seed, k):
    A, X, labels = small_network(seed, k=k)
    result = run(A, X, labels, seed, tol=0)
    assert (np.diff(result.objective) <= 1e-9).all()
    assert_array_equal(np.diff(result.objective)[result.n_moves > 0] < 0, True)
    assert len(result.objective) == len(result.n_moves) + 1
    assert_array_equal(np.unique(result.model.labels), np.arange(k))
    assert np.isfinite(result.objective).all()


WEAK = {"n_nodes": 400, "n_blocks": 5, "n_informative": 60, "n_redundant": 20, "n_noise": 400}


@pytest.mark.parametrize(
    "regime",
    [
        {"mean_degree": 3.5, "mixing": 0.05, "n_decoys": 60},
        {"mean_degree": 8, "mixing": 0.2, "n_decoys": 60},
    ],
    ids=["few links", "blurred blocks"],
)
def test_joint_learning_recovers_planted_features_that_two_steps_miss(regime):
    gains, own_gains = [], []
    for seed in range(10):
        planted, start = planted_start(seed, **WEAK, **regime)
        result = refined(planted.graph, start, rng=np.random.default_rng(seed))
        two_step = precision(planted, paper_scores(planted, start))
        gains.append(precision(planted, paper_scores(planted, result.model)) - two_step)
        before, after = (tree.gains for tree in JointLikelihood(planted.graph).trees([start, result.model]))
        own_gains.append(precision(planted, after) - precision(planted, before))
    assert np.mean(gains) > 0.05  # same scores of the paper, better blocks
    assert np.mean(own_gains) > 0.05  # same likelihood gains, better blocks
    assert np.mean(np.array(gains) < -0.02) <= 0.2
    assert np.mean(np.array(own_gains) < -0.02) <= 0.1


@pytest.mark.parametrize("extra", [{}, {"n_decoys": 160}, {"n_noise": 800}], ids=["plain", "decoys", "noise"])
def test_joint_learning_does_no_harm_where_two_steps_succeed(extra):
    for seed in range(2):
        planted, start = planted_start(seed, **{**WEAK, **extra})
        result = refined(planted.graph, start, rng=np.random.default_rng(seed))
        after = precision(planted, paper_scores(planted, result.model))
        assert after >= precision(planted, paper_scores(planted, start)) - 0.03
        assert np.mean(agreement(planted.blocks, result.model.labels)) >= 0.98


def agreement(blocks, labels):
    """Whether most nodes in the block of a node are from its planted block: (n,)"""
    table = np.zeros((labels.max() + 1, blocks.max() + 1))
    np.add.at(table, (labels, blocks), 1)
    return table.argmax(axis=1)[labels] == blocks


def test_decoys_are_left_out_though_they_agree_with_each_other():
    for seed in range(3):
        planted, start = planted_start(seed, **WEAK, mean_degree=5, n_decoys=120)
        result = refined(planted.graph, start, rng=np.random.default_rng(seed))
        is_decoy = planted.roles == "decoy"
        assert result.in_use[is_decoy].mean() < 0.25
        assert result.in_use[planted.roles == "informative"].mean() > 0.6


def test_sparse_and_dense_features_and_any_units_give_the_same():
    A, X, labels = small_network(3, n=40)
    wanted = run(A, X, labels)
    assert wanted.n_moves.sum() > 0
    units = np.random.default_rng(0).uniform(0.01, 100, size=X.shape[1])
    for other in (run(A, sparse.csr_array(X), labels), run(7.5 * A, X * units, labels), run(A, X.astype("f4"), labels)):
        assert_array_equal(other.model.labels, wanted.model.labels)
        assert_array_equal(other.in_use, wanted.in_use)
        assert_allclose(other.objective, wanted.objective, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_gains_of_blocks_are_those_of_the_objective(seed):
    A, X, labels = small_network(seed)
    likelihood = JointLikelihood(check_attributed_graph(X, A))
    gains = likelihood.trees([BlockModel.from_labels(A, labels)])[0].gains
    assert_allclose(gains, [reference.feature_gain(X, labels, at) for at in range(X.shape[1])], atol=1e-9)
    best = gains > 2  # k − 1
    assert likelihood.gains([labels])[0] == pytest.approx(-reference.objective(A, X, labels, best))
    result = run(A, X, labels)
    assert likelihood.gains([result.model.labels])[0] == pytest.approx(-result.objective[-1])


def test_same_generator_same_result_and_what_was_given_is_left_alone():
    planted, start = planted_start(0, mean_degree=4)
    labels, adjacency, features = start.labels.copy(), planted.adjacency.copy(), planted.features.copy()
    first, second = (refined(planted.graph, start, rng=np.random.default_rng(3)) for _ in range(2))
    assert_array_equal(first.model.labels, second.model.labels)
    assert_array_equal(first.objective, second.objective)
    assert_array_equal(start.labels, labels)
    assert (planted.adjacency != adjacency).nnz == 0
    assert (planted.features != features).nnz == 0


def test_it_travels_to_other_processes_and_the_name_of_the_family_with_the_blocks():
    A, X, labels = small_network(4)
    likelihood = JointLikelihood(check_attributed_graph(X, A))
    assert pickle.loads(pickle.dumps(likelihood)).gains([labels])[0] == likelihood.gains([labels])[0]
    start = BlockModel.from_labels(A, labels, family="spectral")
    assert next(refine_blocks(likelihood, [start], rngs=[np.random.default_rng(0)])).model.family == "spectral"


def test_model_of_the_result_is_that_of_its_labels():
    A, X, labels = small_network(1)
    model = run(A, X, labels).model
    fresh = BlockModel.from_labels(A, model.labels)
    assert_allclose(model.density, fresh.density)
    assert model.relative_error == pytest.approx(fresh.relative_error)


def test_rounds_end_at_the_limit_and_at_the_tolerance():
    planted, start = planted_start(1, mean_degree=3)
    settings = {"rng": np.random.default_rng(0)}
    assert len(refined(planted.graph, start, max_rounds=2, **settings).n_moves) == 2
    assert len(refined(planted.graph, start, tol=1e3, **settings).n_moves) == 1
    early, late = (refined(planted.graph, start, tol=tol, **settings) for tol in (0.05, 0))
    assert_ended_at(early, 0.05 * planted.graph.n_nodes)
    assert late.n_moves[-1] == 0


def assert_ended_at(result, least):
    """The last round gained at most this; after any earlier such round, one over all nodes gained more."""
    gains = -np.diff(result.objective)
    little = gains <= least
    assert little[-1]
    assert not (little[:-2] & little[1:-1]).any()


def test_a_gain_for_any_number_of_blocks_subtracts_what_describes_them():
    A, X, labels = small_network(1)
    likelihood = JointLikelihood(check_attributed_graph(X, A))
    n, k, unit = len(A), 3, reference.link_unit(A)
    links = reference.link_log_likelihood(A / unit, labels) - reference.link_log_likelihood(A / unit, 0 * labels)
    of_features = [reference.feature_gain(X, labels, at) - (k - 1) for at in range(X.shape[1])]
    densities = k * (k + 1) / 2 * np.log(A.sum() / unit / 2) / 2
    expected = links + sum(max(gain, 0) for gain in of_features) - densities - n * np.log(k)
    assert likelihood.comparable_gains([labels])[0] == pytest.approx(expected)
    assert likelihood.comparable_gains([0 * labels])[0] == pytest.approx(-np.log(A.sum() / unit / 2) / 2)


def test_a_graph_lighter_than_one_link_has_densities_that_cost_nothing():
    likelihood = JointLikelihood(check_attributed_graph(np.eye(2), np.array([[0.0, 1], [1, 0]])), unit=4.0)
    assert likelihood.comparable_gains([np.zeros(2, dtype=np.intp)])[0] == 0
