"""Pulls of features towards the graph, and their null distribution under random matchings, with known truth."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import false_discovery_control

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.bmgufs.descent import Descent, normalise
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.datasets import make_attributed_blocks
from blockselect.inspection.discoveries import null_p_values
from blockselect.inspection.null_model import given_totals, match_pulls
from blockselect.rows.statistics import in_units


def pulls_of(Y, models, *, n_rounds=4, seed=0, rng=None, groups=None):
    """All features are reference features."""
    rng = np.random.default_rng(seed) if rng is None else rng
    return match_pulls(Y, models, n_rounds=n_rounds, rng=rng, reference=np.ones(Y.shape[1], dtype=bool), groups=groups)


def test_pulls_are_those_of_the_formula(mixed_problem):
    Y, models = in_units(mixed_problem.Y), mixed_problem.models
    rng = np.random.default_rng(3)
    orders = [np.arange(len(Y)), *(shuffled(Y, rng) for _ in range(4))]
    slow = sum(slow_pulls(Y, orders, model, 0.6) for model in models) / len(models)
    found = pulls_of(mixed_problem.Y, models, n_rounds=4, seed=3)
    assert_allclose(found, slow, atol=1e-10)


def shuffled(Y, rng):
    """So few nodes form one stratum, in the order of their totals."""
    nodes, order = np.argsort(Y.sum(axis=1), kind="stable"), np.zeros(len(Y), dtype=int)
    order[nodes] = nodes[rng.permutation(len(nodes))]
    return order


def slow_pulls(Y, orders, model, profile_ratio):
    """The plain formula for one model: pulls at the mean induced density over many random matchings."""
    k = model.n_blocks
    s, n = model.block_sizes, len(Y)
    M_hat = np.zeros((k, k))
    for column in Y.T:
        mean_of_pairs = (column.sum() ** 2 - column @ column) / (n * (n - 1))  # of two different nodes
        for a in range(k):
            for b in range(k):
                same = s[a] * (column @ column / n) + s[a] * (s[a] - 1) * mean_of_pairs
                M_hat[a, b] += same / s[a] ** 2 if a == b else mean_of_pairs
    M_hat /= M_hat.mean()
    P, Q = model.density / model.density.mean() + 1e-6, M_hat + 1e-6
    P, Q, sums = P / P.sum(axis=1, keepdims=True), Q / Q.sum(axis=1, keepdims=True), Q.sum(axis=1, keepdims=True)
    C = np.log(Q / P)
    left = given_totals(Y, np.ones(Y.shape[1], dtype=bool)).block_means(np.arange(n), n)
    total = 0.0
    for weight, K in (
        (1 - profile_ratio, M_hat * np.outer(s, s)),
        (profile_ratio, -(C - (C * Q).sum(axis=1, keepdims=True)) / sums),
    ):
        D = [np.array([left[model.labels[order] == a].mean(axis=0) for a in range(k)]) for order in orders]
        pulls = np.array([[d @ K @ d for d in means.T] for means in D])
        pulls -= pulls.mean(axis=0)
        total = total + weight * pulls / np.linalg.norm(pulls)
    return total


def test_with_groups_the_larger_of_both_counts_in_spreads_of_its_own_and_groups_count_less(mixed_problem):
    Y, models, groups = mixed_problem.Y, mixed_problem.models, np.arange(25) % 3
    rng = np.random.default_rng(3)
    orders = [np.arange(len(Y)), *(shuffled(in_units(Y), rng) for _ in range(4))]
    left = given_totals(in_units(Y), np.ones(Y.shape[1], dtype=bool)).block_means(np.arange(25), 25)
    between = []
    for order in orders:
        held = [left[groups[order] == group] for group in range(3)]
        between.append(sum(len(rows) * rows.mean(axis=0) ** 2 for rows in held))
    plain = pulls_of(Y, models, seed=3)
    both = np.stack([plain, between])
    both = (both - both.mean(axis=1, keepdims=True)) / both.std(axis=1, keepdims=True)
    found = pulls_of(Y, models, seed=3, groups=groups)
    assert_allclose(found, np.maximum(both[0], 0.85 * both[1]), atol=1e-10)


def test_features_dealt_out_anew_exchange_places_with_their_null(mixed_problem):
    """The real matching is exchangeable with the random ones: only its position differs."""
    Y, models = mixed_problem.Y, mixed_problem.models
    order = shuffled(in_units(Y), np.random.default_rng(5))
    dealt = Y[np.argsort(order)]
    by_total, among = (np.argsort(in_units(X).sum(axis=1), kind="stable") for X in (Y, dealt))
    assert_array_equal(order[by_total], among)  # totals all differ, so the order of nodes moved along

    class Back:
        def permutation(self, n):
            return np.argsort(among)[np.argsort(order)[among]]

    there = pulls_of(Y, models, n_rounds=1, seed=5)
    here = pulls_of(dealt, models, n_rounds=1, rng=Back())
    assert_allclose(here, there[::-1], atol=1e-12)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_neither_the_scale_of_features_nor_that_of_links_matters(mixed_problem, factor):
    Y, models = mixed_problem.Y, mixed_problem.models
    plain = pulls_of(Y, models)
    heavier = [replace(model, density=model.density * factor) for model in models]
    for found in (pulls_of(Y * factor, models), pulls_of(Y, heavier)):
        assert_allclose(found, plain, atol=1e-9)


def test_one_round_deals_all_features_out_alike(mixed_problem):
    """Identical features remain identical: random matchings keep the relations between features."""
    Y = np.hstack([mixed_problem.Y, mixed_problem.Y[:, [0]]])
    null = pulls_of(Y, mixed_problem.models)[1:]
    assert_allclose(null[:, 0], null[:, -1], rtol=1e-10)


def test_sparse_features_give_the_same_pulls(mixed_problem):
    dense, from_sparse = (
        pulls_of(Y, mixed_problem.models) for Y in (mixed_problem.Y, sparse.csr_array(mixed_problem.Y))
    )
    assert_allclose(from_sparse, dense, rtol=1e-10)


def test_the_same_generator_gives_the_same_null(mixed_problem):
    first, again, other = (pulls_of(mixed_problem.Y, mixed_problem.models, seed=seed)[1:] for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_constant_and_empty_columns_get_the_same_pull_in_every_round(mixed_problem):
    n = len(mixed_problem.Y)
    Y = np.hstack([mixed_problem.Y, np.full((n, 1), 3.0), np.zeros((n, 1))])
    found = pulls_of(Y, mixed_problem.models, n_rounds=10)
    assert_allclose(found[1:, -2:], np.broadcast_to(found[0, -2:], (10, 2)), rtol=1e-10)
    assert_array_equal(null_p_values(found[0], found[1:])[-2:], 1.0)


@pytest.mark.parametrize("m", [1, 2])
def test_very_few_features_give_proper_p_values(mixed_problem, m):
    found = pulls_of(mixed_problem.Y[:, :m], mixed_problem.models, n_rounds=10)
    p_values = null_p_values(found[0], found[1:])
    assert ((p_values > 0) & (p_values <= 1)).all()


def test_one_block_says_nothing_of_any_feature(mixed_problem):
    Y = mixed_problem.Y
    found = pulls_of(Y, [BlockModel(np.zeros(len(Y), dtype=np.intp), np.array([[0.5]]), 0.5)], n_rounds=10)
    assert_array_equal(null_p_values(found[0], found[1:]), 1.0)


# Calibration. Of 60 networks each: the share of false discoveries, averaged, may exceed the level by two standard
# errors of that average and no more; and most of what a test with the planted blocks themselves would find is found.

N_NETWORKS = 60
MIXED = {"n_informative": 12, "n_redundant": 6, "n_noise": 42, "n_decoys": 12}
NOTHING = {"n_informative": 0, "n_redundant": 0, "n_noise": 50, "n_decoys": 15}
REGIMES = {  # settings of the network, least power at levels 0.1 and 0.2
    "binary": ({"n_nodes": 150, "signal": 4.0, **MIXED}, 0.45, 0.55),
    "counts": ({"n_nodes": 150, "signal": 4.0, "values": "counts", **MIXED}, 0.40, 0.50),
    "few": ({"n_nodes": 120, "signal": 4.0, "n_informative": 4, "n_redundant": 0, "n_noise": 56}, 0.30, 0.40),
    "rare to frequent": ({"n_nodes": 200, "signal": 3.0, "frequency": (0.01, 0.33), **MIXED}, 0.35, 0.42),
    "nothing, counts": ({"n_nodes": 120, "values": "counts", **NOTHING}, None, None),
}


@functools.cache
def planted_p_values(regime):
    """For each network of a regime: which features are informative, and their p-values."""
    tested = []
    for seed in range(N_NETWORKS):
        planted = make_attributed_blocks(random_state=seed, **REGIMES[regime][0])
        models = find_block_models(planted.adjacency, planted.n_blocks, n_candidates=4, rng=np.random.default_rng(seed))
        found = pulls_of(planted.features.toarray(), models, n_rounds=50, seed=seed)
        tested.append((planted.is_informative, null_p_values(found[0], found[1:])))
    return tested


@pytest.mark.parametrize("level", [0.1, 0.2])
@pytest.mark.parametrize("regime", REGIMES)
def test_false_discoveries_stay_at_the_level(regime, level):
    shares = []
    for informative, p_values in planted_p_values(regime):
        found = false_discovery_control(p_values) <= level
        shares.append(np.sum(found & ~informative) / max(1, np.sum(found)))
    assert np.mean(shares) <= level + 2 * np.std(shares) / N_NETWORKS**0.5


@pytest.mark.parametrize("regime", [name for name, (_, power, _) in REGIMES.items() if power])
def test_planted_features_are_discovered(regime):
    for level, least in zip((0.1, 0.2), REGIMES[regime][1:], strict=True):
        power = [
            (false_discovery_control(p) <= level)[informative].mean() for informative, p in planted_p_values(regime)
        ]
        assert np.mean(power) >= least


@pytest.mark.parametrize("regime", REGIMES)
def test_p_values_of_features_without_information_are_spread_evenly(regime):
    p_values = np.concatenate([p[~informative] for informative, p in planted_p_values(regime)])
    for threshold in (0.01, 0.05, 0.2):
        assert np.mean(p_values <= threshold) <= 1.3 * threshold


def test_final_scores_of_a_null_solve_would_find_far_fewer():
    """Why pulls are compared and not scores: unit length makes features compete."""
    found = {"scores": [], "pulls": []}
    for seed in range(15):
        planted = make_attributed_blocks(random_state=seed, **REGIMES["binary"][0])
        Y, rng = planted.features.toarray(), np.random.default_rng(seed)
        models = find_block_models(planted.adjacency, planted.n_blocks, n_candidates=4, rng=rng)
        orders = [np.arange(len(Y)), *(rng.permutation(len(Y)) for _ in range(20))]
        every = [replace(model, labels=model.labels[order]) for order in orders for model in models]
        solver, statistics = Descent(max_iter=60, tol=0), BlockStatistics.of(Y, every)
        solves = solver.solve(gram_squared(Y), statistics, profile_ratio=0.6, sparsity=0.0)
        scores = normalise(solves.scores[:, 0]).reshape(21, 4, -1).mean(axis=1)
        by_pulls = planted_p_values("binary")[seed][1]
        for how, p_values in (("scores", null_p_values(scores[0], scores[1:])), ("pulls", by_pulls)):
            found[how].append(np.sum((false_discovery_control(p_values) <= 0.1) & planted.is_informative))
    assert np.sum(found["pulls"]) > 2 * np.sum(found["scores"])
