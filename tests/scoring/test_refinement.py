"""Swaps on the losses of a set of features, against the objective written down literally."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import BlockModel
from blockselect.datasets import make_attributed_blocks
from blockselect.scoring import BlockStatistics, gram_squared, refinement
from blockselect.scoring.coverage import Coverage
from blockselect.scoring.losses import evaluate_losses
from blockselect.scoring.redundancy import Redundancy
from blockselect.scoring.refinement import refine_selection
from blockselect.scoring.set_loss import SetLoss
from references import refinement as reference
from references.problems import make_problem

SETTINGS = {"profile_ratio": 0.6, "smoothing": 1e-6}
WEIGHTS = [(0.0, 0.0), (0.7, 0.0), (0.0, 0.8), (0.5, 1.5)]  # redundancy, coverage


def sparse_problem(seed, m=14, blocks=(3,)):
    """Few features a node, so that some nodes lose all of them."""
    problem = make_problem(seed, n=18, m=m, blocks=blocks)
    rng = np.random.default_rng(seed)
    problem.Y *= rng.random(problem.Y.shape) < 0.3
    problem.Y[rng.integers(18, size=m), np.arange(m)] += 1
    problem.Y[17] = 0  # a node without any feature
    problem.Y[16, 0] = 1
    return problem


def refine(problem, selected, **options):
    options = {"features": problem.Y, **SETTINGS, **options}
    return refine_selection(selected, problem.gram, problem.statistics, **options)


def literal(problem, members, redundancy=0.0, coverage=0.0):
    return reference.objective(
        problem.Y, problem.models, members, redundancy_weight=redundancy, coverage_weight=coverage, **SETTINGS
    )


@pytest.mark.parametrize("blocks", [(3,), (2, 5, 3)])
@pytest.mark.parametrize("ratio", [0.0, 0.6, 1.0])
def test_the_loss_after_each_swap_is_that_of_the_set_itself(blocks, ratio):
    problem = sparse_problem(1, blocks=blocks)
    settings = {**SETTINGS, "profile_ratio": ratio}
    members, outsiders = np.array([0, 2, 5, 9, 11]), np.array([1, 3, 4, 13])
    term = SetLoss(problem.gram, problem.statistics, members, **settings)
    for removed, added in [(5, 4), (0, 13), (4, 5)]:
        expected = [
            [reference.loss(problem.Y, problem.models, [*np.setdiff1d(members, [a]), b], **settings) for b in outsiders]
            for a in members
        ]
        assert_allclose(term.swapped(members, outsiders), expected, rtol=1e-9)
        term.swap(removed, added)
        members = np.append(np.setdiff1d(members, [removed]), added)
        outsiders = np.append(np.setdiff1d(outsiders, [added]), removed)
    assert_allclose(term.value, reference.loss(problem.Y, problem.models, members, **settings), rtol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 1e-6])
def test_the_loss_is_that_of_the_descent_at_binary_scores(smoothing):
    problem = sparse_problem(1, blocks=(2, 5, 3))
    members = np.array([3, 4, 8])
    scores = np.zeros((3, 1, 14))
    scores[..., members] = 1
    losses = evaluate_losses(
        problem.statistics, scores, np.tile(problem.gram.apply(scores[0]), (3, 1, 1)), smoothing=smoothing
    )
    term = SetLoss(problem.gram, problem.statistics, members, profile_ratio=0.6, smoothing=smoothing)
    assert_allclose(term.value, np.mean(0.4 * losses.reconstruction + 0.6 * losses.profile), rtol=1e-10)


def test_redundancy_and_coverage_after_each_swap_are_those_of_the_set_itself():
    problem = sparse_problem(2)
    members, outsiders = np.array([0, 2, 5, 9, 11]), np.array([1, 3, 4, 13])
    redundancy, coverage = Redundancy(problem.gram, members), Coverage(problem.Y, members)
    for removed, added in [(5, 4), (0, 13), (4, 5)]:
        sets = [[[*np.setdiff1d(members, [a]), b] for b in outsiders] for a in members]
        expected = [[reference.redundancy(problem.Y, swapped) for swapped in row] for row in sets]
        assert_allclose(redundancy.swapped(members, outsiders), expected, rtol=1e-9)
        expected = [[reference.n_uncovered(problem.Y, swapped) / 17 for swapped in row] for row in sets]
        assert_allclose(coverage.swapped(members, outsiders), expected, rtol=1e-12)
        redundancy.swap(removed, added)
        coverage.swap(removed, added)
        members = np.append(np.setdiff1d(members, [removed]), added)
        outsiders = np.append(np.setdiff1d(outsiders, [added]), removed)
    assert coverage.n_uncovered == reference.n_uncovered(problem.Y, members)


def test_redundancy_grows_with_the_mean_squared_cosine_alone():
    problem = sparse_problem(3)
    R = reference.mean_squared_cosine(problem.Y, [1, 4, 6, 7])
    assert R > 0
    assert_allclose(Redundancy(problem.gram, np.array([1, 4, 6, 7])).value, 3 * R / (1 + 3 * R), rtol=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", range(3))
def test_every_value_reported_is_that_of_the_set_and_falls_with_each_swap(seed, weights):
    problem = sparse_problem(seed, blocks=(3, 2))
    start = [0, 1, 2, 3, 4]
    result = refine(problem, start, redundancy=weights[0], coverage=weights[1])
    assert result.n_swaps > 0
    assert (np.diff(result.objective) < 0).all()
    for at, members in ((0, start), (-1, result.selected)):
        assert_allclose(result.objective[at], literal(problem, members, *weights), rtol=1e-9)
        assert_allclose(result.loss[at], reference.loss(problem.Y, problem.models, members, **SETTINGS), rtol=1e-9)
        assert_allclose(result.redundancy[at], reference.redundancy(problem.Y, members), atol=1e-12)
        assert result.n_uncovered[at] == reference.n_uncovered(problem.Y, members)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_stops_where_no_single_swap_helps(weights):
    problem = sparse_problem(4)
    result = refine(problem, [0, 1, 2, 3], redundancy=weights[0], coverage=weights[1])
    outside = np.setdiff1d(np.arange(14), result.selected)
    best = min(
        literal(problem, [*np.setdiff1d(result.selected, [a]), b], *weights) for a in result.selected for b in outside
    )
    assert best >= result.objective[-1] - 1e-9


def test_the_first_swap_is_the_best_of_all():
    problem = sparse_problem(5)
    start = np.array([0, 1, 2, 3])
    result = refine(problem, start, coverage=1.0, max_swaps=1)
    outside = np.setdiff1d(np.arange(14), start)
    best = min(literal(problem, [*np.setdiff1d(start, [a]), b], 0.0, 1.0) for a in start for b in outside)
    assert result.n_swaps == 1
    assert_allclose(result.objective[-1], best, rtol=1e-9)


def test_it_often_finds_the_best_set_and_never_ends_above_its_start():
    found = 0
    for seed in range(12):
        problem = sparse_problem(seed, m=10)
        result = refine(problem, [0, 1, 2], coverage=0.5)
        _, best = reference.best_set(problem.Y, problem.models, 3, coverage_weight=0.5, **SETTINGS)
        assert best - 1e-9 <= result.objective[-1] <= result.objective[0]
        found += result.objective[-1] <= best + 1e-9
    assert found >= 6


def test_a_short_list_of_swaps_falls_nearly_as_far_as_all_of_them(monkeypatch):
    planted = make_attributed_blocks(150, 3, random_state=0)
    model = BlockModel.from_labels(planted.graph.adjacency, planted.blocks)
    gram, statistics = gram_squared(planted.graph.features), BlockStatistics.of(planted.graph.features, [model])
    full = refine_selection(np.arange(12), gram, statistics, **SETTINGS)
    monkeypatch.setattr(refinement, "_ENTRIES", 0)
    monkeypatch.setattr(refinement, "_LEAST_PAIRS", 64)
    short = refine_selection(np.arange(12), gram, statistics, **SETTINGS)
    assert (np.diff(short.objective) < 0).all()
    assert short.objective[0] - short.objective[-1] > 0.95 * (full.objective[0] - full.objective[-1])


@pytest.mark.parametrize("weights", WEIGHTS)
def test_sparse_and_dense_refine_alike(weights):
    problem = sparse_problem(6)
    options = {**SETTINGS, "redundancy": weights[0], "coverage": weights[1]}
    results = [
        refine_selection(
            [0, 1, 2, 3, 4], gram_squared(Y, form=form), BlockStatistics.of(Y, problem.models), features=Y, **options
        )
        for Y, form in ((problem.Y, "dense"), (sparse.csr_array(problem.Y), "sparse"))
    ]
    assert_array_equal(results[0].selected, results[1].selected)
    assert_allclose(results[0].objective, results[1].objective, rtol=1e-10)
    assert_array_equal(results[0].n_uncovered, results[1].n_uncovered)


def test_single_precision_refines_to_the_same_set():
    problem = sparse_problem(6)
    single = refine_selection(
        [0, 1, 2, 3],
        gram_squared(problem.Y, dtype="float32"),
        BlockStatistics.of(problem.Y, problem.models, dtype="float32"),
        **SETTINGS,
    )
    assert_array_equal(single.selected, refine(problem, [0, 1, 2, 3]).selected)


def test_the_order_of_the_features_does_not_matter():
    problem = sparse_problem(8)
    order = np.random.default_rng(0).permutation(14)
    turned = sparse_problem(8)
    turned.Y = problem.Y[:, order]
    start = np.array([0, 1, 2, 3, 4])
    plain = refine(problem, start, redundancy=0.5, coverage=0.5)
    other = refine(turned, np.flatnonzero(np.isin(order, start)), redundancy=0.5, coverage=0.5)
    assert_array_equal(np.sort(order[other.selected]), plain.selected)
    assert_allclose(other.objective, plain.objective, rtol=1e-10)


def test_as_many_features_come_out_as_went_in_each_once_and_rising():
    problem = sparse_problem(9)
    selected = refine(problem, [13, 2, 7]).selected
    assert len(selected) == 3
    assert (np.diff(selected) > 0).all()


def test_only_candidates_come_in():
    problem = sparse_problem(9)
    candidates = np.isin(np.arange(14), [5, 6])
    free, bound = refine(problem, [0, 1, 2]), refine(problem, [0, 1, 2], candidates=candidates)
    assert not np.isin(free.selected, [0, 1, 2, 5, 6]).all()
    assert np.isin(bound.selected, [0, 1, 2, 5, 6]).all()
    assert bound.n_swaps > 0


def test_an_empty_feature_leaves_and_never_comes_in():
    problem = sparse_problem(10)
    problem.Y[:, [3, 8]] = 0
    result = refine(problem, [0, 1, 3], redundancy=1.0, coverage=1.0)
    assert not np.isin([3, 8], result.selected).any()
    assert np.isfinite(result.objective).all()


def test_a_set_that_induces_nothing_is_left_for_one_that_does():
    problem = sparse_problem(10)
    problem.Y[:, 3] = 0
    result = refine(problem, [3])
    assert 3 not in result.selected
    assert np.isfinite(result.objective).all()


def test_no_swap_is_made_where_all_features_are_selected_or_none_may_be():
    problem = sparse_problem(11)
    everything = np.arange(14)
    assert_array_equal(refine(problem, everything).selected, everything)
    assert refine(problem, [0, 1, 2], max_swaps=0).n_swaps == 0


def test_without_features_nodes_are_not_counted():
    problem = sparse_problem(11)
    assert refine_selection([0, 1], problem.gram, problem.statistics, **SETTINGS).n_uncovered is None


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_is_not_kept_where_an_equal_alternative_exists(seed):
    """Columns 0 to 3 and their copies, 4 to 7, shifted within blocks: the same block means, but other nodes."""
    rng = np.random.default_rng(seed)
    base = (rng.random((12, 4)) < 0.3).astype(float)
    base[0] = 1
    blocks = np.vstack([np.hstack([base, base, np.roll(base, 6, axis=0)]) * weight for weight in (2.0, 1.0)])
    A = np.kron([[1, 0.2], [0.2, 1]], np.ones((12, 12)))
    model = BlockModel.from_labels(sparse.csr_array(A), np.repeat([0, 1], 12))
    result = refine_selection(
        [0, 4, 1, 5], gram_squared(blocks), BlockStatistics.of(blocks, [model]), redundancy=1.0, **SETTINGS
    )
    copies = np.bincount(result.selected[result.selected < 8] % 4, minlength=4)
    assert copies.max() <= 1
    assert result.redundancy[-1] < result.redundancy[0]


@pytest.mark.parametrize("seed", range(4))
def test_coverage_leaves_fewer_nodes_with_nothing(seed):
    planted = make_attributed_blocks(200, 3, frequency=(0.005, 0.03), random_state=seed)
    features = planted.graph.features
    model = BlockModel.from_labels(planted.graph.adjacency, planted.blocks)
    problem = (gram_squared(features), BlockStatistics.of(features, [model]))
    start = np.argsort(-features.sum(axis=0), kind="stable")[40:50]
    left = [
        refine_selection(start, *problem, features=features, coverage=weight, **SETTINGS).n_uncovered
        for weight in (0.0, 1.0, 5.0)
    ]
    assert left[0][-1] > left[1][-1] > left[2][-1]
    assert left[2][-1] < left[2][0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"selected": []}, "list of indices"),
        ({"selected": [True, False]}, r"np\.flatnonzero"),
        ({"selected": [0, 99]}, "name features from 0 to 13"),
        ({"selected": [0, 0, 1]}, "name each once"),
        ({"candidates": [0, 1]}, "boolean mask of the 14"),
        ({"candidates": np.ones(3, dtype=bool)}, "boolean mask of the 14"),
        ({"redundancy": -1.0}, "redundancy is -1.0; expected"),
        ({"coverage": float("nan")}, "coverage is nan; expected"),
        ({"max_swaps": -1}, "max_swaps is -1; expected"),
        ({"coverage": 1.0, "features": None}, "pass features, or coverage=0"),
    ],
)
def test_bad_input_is_told_with_its_fix(changed, message):
    options = {"selected": [0, 1], **changed}
    with pytest.raises(ValueError, match=message):
        refine(sparse_problem(0), **options)
