"""The paper's choice of the sparsity, without labels."""

import numpy as np
import pytest

from blockselect.bmgufs.estimator import SPARSITY_GRID, strongest_that_leaves


@pytest.fixture
def scores():
    """Of eleven sparsities, each of which leaves one feature fewer a score."""
    return np.array([[1.0] * (14 - i) + [0.0] * i for i in range(11)])


def test_the_papers_grid_runs_from_0_to_5_by_halves():
    assert tuple(np.arange(0, 5.5, 0.5)) == SPARSITY_GRID


@pytest.mark.parametrize(("n_wanted", "strongest"), [(14, 0.0), (13, 0.5), (9, 2.5), (4, 5.0), (1, 5.0)])
def test_the_strongest_that_leaves_enough_features_is_taken(scores, n_wanted, strongest):
    assert SPARSITY_GRID[strongest_that_leaves(scores, n_wanted)] == strongest


def test_none_is_taken_where_even_that_leaves_too_few(scores):
    scores[:, 10:] = 0
    assert SPARSITY_GRID[strongest_that_leaves(scores, 14)] == 0.0


def test_of_a_single_sparsity_that_one_is_taken():
    assert strongest_that_leaves(np.zeros((1, 5)), 3) == 0
