"""PartialOrder: the exact difference of two means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.baselines.by_network.partial_order import PartialOrder
from references import mmpop
from references.problems import make_problem

seeds = st.integers(0, 500)


def scores(X, A, **options):
    return PartialOrder(1, **options).fit(X, adjacency=A).scores_


@given(seed=seeds)
def test_scores_equal_a_loop_over_all_pairs(seed):
    problem = make_problem(seed)
    X = problem.Y - 1  # negative values are allowed
    A = problem.A + np.diag(np.arange(len(problem.A)) % 2)  # self-loops are not links
    slow = mmpop.mean_difference(X, A)
    assert_allclose(scores(X, A), slow, atol=1e-12)
    assert_allclose(scores(sparse.csr_array(X), A), slow, atol=1e-12)
    assert_allclose(scores(X.astype(np.float32), A), slow, atol=1e-12)


@given(seed=seeds)
def test_scores_do_not_change_when_nodes_are_reordered_or_links_weighted(seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(len(problem.A))
    moved = scores(problem.Y[order], 3.5 * problem.A[np.ix_(order, order)])
    assert_allclose(moved, scores(problem.Y, problem.A), atol=1e-12)


def test_binarize_uses_only_whether_values_are_zero():
    problem = make_problem(0)
    assert_array_equal(scores(problem.Y, problem.A, binarize=True), scores((problem.Y > 0) * 1.0, problem.A))
    with pytest.raises(ValueError, match="binarize is True, which leaves every feature constant"):
        scores(problem.Y + 1, problem.A, binarize=True)
