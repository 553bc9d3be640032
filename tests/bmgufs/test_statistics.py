"""Statistics of the features over blocks."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.bmgufs.statistics import BlockStatistics


def test_means_and_sizes_are_those_of_each_block(mixed_problem):
    statistics = BlockStatistics.of(mixed_problem.Y, mixed_problem.models)
    for i, model in enumerate(mixed_problem.models):
        for block in range(model.n_blocks):
            members = mixed_problem.Y[model.labels == block]
            assert_allclose(statistics.block_means[i, block], members.mean(axis=0), rtol=1e-12)
            assert statistics.block_sizes[i, block] == len(members)


def test_sparse_features_give_the_same_statistics(mixed_problem):
    dense = BlockStatistics.of(mixed_problem.Y, mixed_problem.models)
    from_sparse = BlockStatistics.of(sparse.csr_array(mixed_problem.Y), mixed_problem.models)
    assert_allclose(from_sparse.block_means, dense.block_means, rtol=1e-12)


def test_models_with_fewer_blocks_are_filled_up_with_empty_ones(mixed_problem):
    statistics = mixed_problem.statistics
    assert statistics.n_blocks == 5
    assert_array_equal(statistics.block_sizes[0, 2:], 0)
    assert not statistics.block_means[0, 2:].any()


def test_features_that_no_node_has_are_empty(mixed_problem):
    Y = mixed_problem.Y.copy()
    Y[:, [3, 7]] = 0
    empty = BlockStatistics.of(Y, mixed_problem.models).empty_features
    assert_array_equal(np.flatnonzero(empty), [3, 7])
    assert empty.shape == (12,)


def test_some_of_the_models_have_their_own_statistics(mixed_problem):
    statistics = mixed_problem.statistics
    some = statistics.models(slice(1, 3))
    assert (statistics.n_models, some.n_models, some.n_features) == (3, 2, 12)
    assert_array_equal(some.density, statistics.density[1:])
