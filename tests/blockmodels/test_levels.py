"""The tree of blocks: against merging by brute force, and for any order of nodes and blocks."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage

from blockselect import BlockModel, check_attributed_graph, make_attributed_blocks
from blockselect.blockmodels.levels import (
    coarse_level,
    groups_at,
    leaf_order,
    merge_blocks,
    numbers_of_groups,
    renumber_leaves,
)
from blockselect.consensus.likelihood import JointLikelihood

seeds = st.integers(0, 500)


def block_sums(seed, k=6, m=5):
    """Link weights, sizes, feature sums and totals of random blocks; some blocks do not link to each other."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.poisson(2.0, (k, k)) * rng.uniform(0.5, 2, (k, k)))
    sums = rng.poisson(1.5, (m, k)) * rng.uniform(0.5, 2, (m, k))
    return weights + weights.T, rng.integers(1, 30, k), sums, sums.sum(axis=0) + rng.uniform(1, 3, k)


def xlogx(x):
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0.0)


def log_likelihood(weights, sums, totals):
    """Of links and features, up to terms that no merger changes."""
    links = xlogx(weights).sum() / 2 - xlogx(weights.sum(axis=1)).sum()
    return links + xlogx(sums).sum() - (sums.sum(axis=0) * np.log(totals)).sum()


def merged(weights, sums, totals, groups):
    Z = np.eye(max(groups) + 1)[groups]
    return Z.T @ weights @ Z, sums @ Z, totals @ Z


def brute_force(weights, sizes, sums, totals):
    """The partition of the blocks after each merger, and the log-likelihood lost up to then."""
    k, steps = len(weights), []
    groups = list(range(k))
    whole = log_likelihood(weights, sums, totals)
    while max(groups):
        options = []
        for one, two in combinations(range(max(groups) + 1), 2):
            joined = [one if group == two else group - (group > two) for group in groups]
            options.append((whole - log_likelihood(*merged(weights, sums, totals, joined)), joined))
        lost, groups = min(options)
        steps.append((lost, groups))
    return steps


@given(seed=seeds, n_features=st.sampled_from([0, 5]))
def test_mergers_are_those_that_lose_least_by_brute_force(seed, n_features):
    weights, sizes, sums, totals = block_sums(seed, m=n_features)
    linkage = merge_blocks(weights, sizes, sums, totals)
    assert is_valid_linkage(linkage)
    for step, (lost, groups) in enumerate(brute_force(weights, sizes, sums, totals)):
        assert linkage[step, 2] == pytest.approx(lost, abs=1e-8)
        assert_array_equal(groups_at(linkage, 5 - step), groups)


@given(seed=seeds)
def test_the_order_of_the_blocks_does_not_matter(seed):
    weights, sizes, sums, totals = block_sums(seed)
    order = np.random.default_rng(seed).permutation(6)
    plain = merge_blocks(weights, sizes, sums, totals)
    moved = merge_blocks(weights[np.ix_(order, order)], sizes[order], sums[:, order], totals[order])
    assert_allclose(moved[:, 2:], plain[:, 2:])
    for n in range(1, 7):
        together, again = groups_at(plain, n)[order], groups_at(moved, n)
        assert_array_equal(together[:, None] == together, again[:, None] == again)


def test_the_order_of_the_nodes_does_not_matter():
    planted = make_attributed_blocks(120, 6, mean_degree=8, random_state=0)
    order = np.random.default_rng(0).permutation(120)
    moved = check_attributed_graph(planted.features[order], planted.adjacency[order][:, order])
    plain, again = (
        JointLikelihood(graph).trees([BlockModel.from_labels(graph.adjacency, labels)])[0]
        for graph, labels in ((planted.graph, planted.blocks), (moved, planted.blocks[order]))
    )
    assert_allclose(again.linkage, plain.linkage)
    assert_array_equal(again.model.labels, plain.model.labels[order])
    assert_allclose(again.model.density, plain.model.density)


@given(seed=seeds)
def test_cutting_the_tree_at_a_number_of_blocks_gives_what_scipy_gives(seed):
    linkage = merge_blocks(*block_sums(seed))
    for n in range(1, 7):
        groups, theirs = groups_at(linkage, n), fcluster(linkage, n, "maxclust")
        assert len(set(groups)) == n
        assert_array_equal(groups[:, None] == groups, theirs[:, None] == theirs)


@given(seed=seeds)
def test_blocks_in_the_order_of_the_leaves_keep_each_branch_together_the_largest_first(seed):
    weights, sizes, sums, totals = block_sums(seed)
    linkage = merge_blocks(weights, sizes, sums, totals)
    order = leaf_order(linkage, sizes)
    again = renumber_leaves(linkage, order)
    assert_array_equal(leaf_order(again, sizes[order]), np.arange(6))
    assert_allclose(again[:, 2:], linkage[:, 2:])
    for n in range(1, 7):
        groups = groups_at(again, n)
        assert_array_equal(groups, np.sort(groups))  # each branch has consecutive numbers
        before, after = groups_at(linkage, n)[order], groups
        assert_array_equal(before[:, None] == before, after[:, None] == after)
    largest, other = np.bincount(groups_at(again, 2), sizes[order])
    assert largest >= other
    assert_array_equal(dendrogram(again, no_plot=True)["leaves"], np.arange(6))


def test_blocks_that_hardly_link_are_merged_by_their_features():
    """Four blocks without links among them: the features say which two belong together."""
    weights = np.diag([40.0, 40, 40, 40])
    sums = np.array([[30.0, 0, 30, 0], [0, 30, 0, 30]])
    linkage = merge_blocks(weights, np.full(4, 10), sums, np.full(4, 40.0))
    assert_array_equal(groups_at(linkage, 2), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("n_blocks", "expected"), [(1, [1]), (2, [2]), (5, [5]), (6, [6, 3]), (13, [13, 6, 3]), (50, [50, 25, 12, 6, 3])]
)
def test_levels_halve_the_number_of_blocks_down_to_three(n_blocks, expected):
    assert numbers_of_groups(n_blocks) == expected


def test_a_single_block_is_a_tree_without_mergers():
    linkage = merge_blocks(np.ones((1, 1)), np.array([3]), np.ones((2, 1)), np.ones(1))
    assert linkage.shape == (0, 4)
    assert_array_equal(groups_at(linkage, 1), [0])
    assert_array_equal(leaf_order(linkage, np.array([3])), [0])


@pytest.mark.parametrize(("n_blocks", "expected"), [(38, 9), (17, 8), (12, 6), (25, 6), (4, 4), (1, 1)])
def test_the_coarse_level_has_about_nine_groups_and_merges_blocks_if_it_can(n_blocks, expected):
    assert coarse_level(n_blocks) == expected
