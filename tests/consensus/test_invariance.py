"""BlockModelSelector: what must not change its scores, by either guidance."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BlockModelSelector
from made_fits import easy_network, fit
from references.problems import make_problem

small = st.integers(0, 500)
both = pytest.mark.parametrize("guidance", ["consensus", "lowest_error"])


@pytest.fixture(scope="module")
def network():
    return easy_network()


def scores_of(problem, guidance, Y=None, A=None, labels=None, **options):
    """Of given blocks: those that are found depend on the order of nodes through their random starts."""
    labels = problem.models[0].labels if labels is None else labels
    Y, A = problem.Y if Y is None else Y, problem.A if A is None else A
    options = {"tol": 0, "max_iter": 60, "n_resamples": 0, "guidance": guidance, **options}
    return BlockModelSelector(1, block_model=labels, **options).fit(Y, adjacency=A).scores_


@both
@given(seed=small)
def test_scores_do_not_change_when_nodes_are_reordered(guidance, seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(len(problem.A))
    moved = scores_of(
        problem, guidance, problem.Y[order], problem.A[np.ix_(order, order)], problem.models[0].labels[order]
    )
    assert_allclose(moved, scores_of(problem, guidance), atol=1e-9)


@both
@given(seed=small)
def test_scores_move_along_when_features_are_reordered(guidance, seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(problem.Y.shape[1])
    assert_allclose(scores_of(problem, guidance, problem.Y[:, order]), scores_of(problem, guidance)[order], atol=1e-9)


@both
@given(seed=small)
def test_scores_do_not_change_when_blocks_are_renamed(guidance, seed):
    problem = make_problem(seed)
    assert_allclose(
        scores_of(problem, guidance, labels=2 - problem.models[0].labels), scores_of(problem, guidance), atol=1e-9
    )


@both
@given(seed=small, scale=st.sampled_from([0.25, 3.0, 1000.0]))
def test_scores_do_not_change_with_the_scale_of_features_or_weights_but_for_the_smoothing(guidance, seed, scale):
    problem = make_problem(seed)
    exact = {"smoothing": 1e-15, "binarize": False}
    problem.A = problem.A + 0.1  # a block pair without any link is all smoothing
    plain = scores_of(problem, guidance, **exact)
    assert_allclose(scores_of(problem, guidance, scale * problem.Y, **exact), plain, atol=1e-6)
    assert_allclose(scores_of(problem, guidance, A=scale * problem.A, **exact), plain, atol=1e-6)


@both
@given(seed=small, layout=st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]))
def test_sparse_input_gives_the_scores_of_dense_input(guidance, seed, layout):
    problem = make_problem(seed)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        again = scores_of(problem, guidance, kind(problem.Y).asformat(layout), kind(problem.A).asformat(layout))
        assert_allclose(again, scores_of(problem, guidance), atol=1e-9)


@both
@given(seed=small)
def test_an_edge_table_gives_the_scores_of_its_matrix_even_with_edges_twice_or_turned(guidance, seed):
    problem = make_problem(seed)
    source, target = np.nonzero(np.triu(problem.A))
    edges = pd.DataFrame({"source": source, "target": target})
    turned = edges.rename(columns={"source": "target", "target": "source"})
    for table in (edges, pd.concat([edges, edges[:5]]), pd.concat([edges, turned])):
        assert_allclose(scores_of(problem, guidance, A=table), scores_of(problem, guidance), atol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_features_of_any_number_type_give_the_same_scores(network, dtype):
    dense = network.features.toarray()
    plain = BlockModelSelector(5, block_model=network.blocks).fit(
        (dense > 0).astype(float), adjacency=network.adjacency
    )
    again = BlockModelSelector(5, block_model=network.blocks).fit(
        (dense > 0).astype(dtype), adjacency=network.adjacency
    )
    assert_allclose(again.scores_, plain.scores_, atol=1e-6)


@both
def test_single_precision_selects_almost_the_same(network, guidance):
    single, double = (fit(network, dtype=dtype, guidance=guidance) for dtype in ("float32", "float64"))
    assert single.history_.profile.dtype == np.float32
    assert_allclose(single.scores_, double.scores_, atol=1e-2)
    assert np.count_nonzero(single.support_ != double.support_) <= 2


def test_torch_gives_the_scores_and_the_stability_of_numpy(network):
    pytest.importorskip("torch")
    ours, theirs = (fit(network, n_resamples=3, device=device) for device in ("cpu", "cpu:0"))
    assert isinstance(theirs.scores_, np.ndarray)
    assert_allclose(theirs.scores_, ours.scores_, atol=1e-8)
    assert_allclose(theirs.stability_, ours.stability_, atol=1e-6)


def test_of_two_features_that_are_the_same_the_first_ranks_first(network):
    doubled = sparse.hstack([network.features, network.features]).tocsr()
    selector = BlockModelSelector(5, block_model=network.blocks).fit(doubled, adjacency=network.adjacency)
    assert (selector.ranking_[:52] < selector.ranking_[52:]).all()


def test_the_same_seed_gives_the_same_result_bit_by_bit_with_any_number_of_jobs(network):
    first, second = (fit(network, n_resamples=3) for _ in range(2))
    with parallel_config(backend="threading"):
        third = fit(network, n_resamples=3, n_jobs=3)
    for again in (second, third):
        assert_array_equal(again.scores_, first.scores_)
        assert_array_equal(again.stability_, first.stability_)
        assert again.criteria_.equals(first.criteria_)


def test_the_scale_of_link_weights_changes_nothing_that_is_found(network):
    plain = fit(network, n_blocks="auto", n_resamples=3)
    scaled = BlockModelSelector(12, n_candidates=6, n_resamples=3, random_state=0)
    scaled.fit(network.features, adjacency=network.adjacency * 8)
    assert_array_equal(scaled.block_model_.labels, plain.block_model_.labels)
    assert_allclose(scaled.criteria_["evidence"], plain.criteria_["evidence"], rtol=1e-9)
    assert_allclose(scaled.scores_, plain.scores_, atol=1e-4)  # but for the smoothing
    assert_allclose(scaled.stability_, plain.stability_, atol=1e-2)


def test_dense_features_give_the_result_of_sparse_ones(network):
    of_sparse = fit(network, n_resamples=3)
    of_dense = BlockModelSelector(12, n_blocks=3, n_candidates=6, n_resamples=3, random_state=0)
    of_dense.fit(network.features.toarray(), adjacency=network.adjacency.toarray())
    assert_allclose(of_dense.scores_, of_sparse.scores_, atol=1e-9)
    assert_allclose(of_dense.stability_, of_sparse.stability_, atol=1e-6)
