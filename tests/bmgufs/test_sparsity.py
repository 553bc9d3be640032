"""The sparsity that counts, given or chosen without labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.bmgufs.sparsity import AVERAGED, SPARSITY_GRID, settle_sparsity, sparsities_of


@pytest.fixture
def scores():
    """Of two block models and eleven sparsities, each of which leaves one feature fewer a score."""
    values = np.random.default_rng(0).random((2, 11, 14)) + 0.1
    for i in range(11):
        values[:, i, 14 - i :] = 0
    return values


def test_a_number_is_solved_for_alone_and_counts():
    assert sparsities_of(2) == (2.0,)
    only = np.ones((3, 1, 5))
    settled, counting = settle_sparsity(only, 2.0, n_wanted=9)
    assert_array_equal(settled, only[:, 0])
    assert sparsities_of(2)[counting] == (2.0,)


def test_the_papers_grid_runs_from_0_to_5_by_halves():
    assert sparsities_of("paper") == SPARSITY_GRID == tuple(np.arange(0, 5.5, 0.5))


@pytest.mark.parametrize(("n_wanted", "strongest"), [(14, 0.0), (13, 0.5), (9, 2.5), (4, 5.0), (1, 5.0)])
def test_paper_takes_the_strongest_that_leaves_enough_features(scores, n_wanted, strongest):
    settled, counting = settle_sparsity(scores, "paper", n_wanted)
    assert SPARSITY_GRID[counting] == (strongest,)
    assert_array_equal(settled, scores[:, round(2 * strongest)])


def test_paper_takes_none_where_even_that_leaves_too_few(scores):
    scores[:, :, 10:] = 0
    assert SPARSITY_GRID[settle_sparsity(scores, "paper", 14)[1]] == (0.0,)


def test_a_feature_that_one_block_model_scores_counts_for_paper(scores):
    scores[0, 3, 11:] = 0.2  # of the first model alone
    scores[:, 4:] = 0
    assert SPARSITY_GRID[settle_sparsity(scores, "paper", 14)[1]] == (1.5,)


def test_auto_takes_the_mean_of_weak_ones_each_of_unit_length(scores):
    assert sparsities_of("auto") == AVERAGED == (0.0, 0.5, 1.0)
    three = scores[:, :3]
    settled, counting = settle_sparsity(three * np.array([1.0, 7.0, 0.1])[:, None], "auto", n_wanted=14)
    units = three / np.linalg.norm(three, axis=2, keepdims=True)
    assert AVERAGED[counting] == AVERAGED
    assert_allclose(settled, units.mean(axis=1))
