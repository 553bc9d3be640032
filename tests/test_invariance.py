"""What must not change the scores of either selector that is guided by blocks, BMGUFS or BlockModelSelector."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModelSelector, Descent
from made_fits import QUICK, fit, fit_paper
from references.problems import make_problem

small = st.integers(0, 500)
both = pytest.mark.parametrize("method", [BMGUFS, BlockModelSelector])


def scores_of(problem, method, Y=None, A=None, labels=None, smoothing=1e-6, **options):
    """Of given blocks: those that are found depend on the order of nodes through their random starts."""
    labels = problem.models[0].labels if labels is None else labels
    Y, A = problem.Y if Y is None else Y, problem.A if A is None else A
    if method is BMGUFS:
        options["solver"] = Descent(tol=0, max_iter=25, smoothing=smoothing)
    return method(1, block_model=labels, **options).fit(Y, adjacency=A).scores_


@both
@given(seed=small)
def test_scores_do_not_change_when_nodes_are_reordered(method, seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(len(problem.A))
    moved = scores_of(
        problem, method, problem.Y[order], problem.A[np.ix_(order, order)], problem.models[0].labels[order]
    )
    assert_allclose(moved, scores_of(problem, method), atol=1e-9)


@both
@given(seed=small)
def test_scores_move_along_when_features_are_reordered(method, seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(problem.Y.shape[1])
    assert_allclose(scores_of(problem, method, problem.Y[:, order]), scores_of(problem, method)[order], atol=1e-9)


@both
@given(seed=small)
def test_scores_do_not_change_when_blocks_are_renamed(method, seed):
    problem = make_problem(seed)
    renamed = scores_of(problem, method, labels=2 - problem.models[0].labels)
    assert_allclose(renamed, scores_of(problem, method), atol=1e-9)


@both
@given(seed=small, scale=st.sampled_from([0.25, 3.0, 1000.0]))
def test_scores_do_not_change_with_the_scale_of_features_or_weights_but_for_the_smoothing(method, seed, scale):
    problem = make_problem(seed)
    exact = {"smoothing": 1e-15} | ({"binarize": False} if method is BlockModelSelector else {})
    problem.A = problem.A + 0.1  # a block pair without any link is all smoothing
    plain = scores_of(problem, method, **exact)
    assert_allclose(scores_of(problem, method, scale * problem.Y, **exact), plain, atol=1e-6)
    assert_allclose(scores_of(problem, method, A=scale * problem.A, **exact), plain, atol=1e-6)


@both
@given(seed=small, layout=st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]))
def test_sparse_input_gives_the_scores_of_dense_input(method, seed, layout):
    problem = make_problem(seed)
    kind = sparse.csr_array if seed % 2 else sparse.csr_matrix
    again = scores_of(problem, method, kind(problem.Y).asformat(layout), kind(problem.A).asformat(layout))
    assert_allclose(again, scores_of(problem, method), atol=1e-9)


@given(seed=small)
def test_an_edge_table_gives_the_scores_of_its_matrix_even_with_edges_twice_or_turned(seed):
    problem = make_problem(seed)
    plain = scores_of(problem, BlockModelSelector)
    source, target = np.nonzero(np.triu(problem.A))
    edges = pd.DataFrame({"source": source, "target": target})
    turned = edges.rename(columns={"source": "target", "target": "source"})
    for table in (edges, pd.concat([edges, edges[:5]]), pd.concat([edges, turned])):
        assert_allclose(scores_of(problem, BlockModelSelector, A=table), plain, atol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_features_of_any_number_type_give_the_same_scores(network, dtype):
    binary = network.features.toarray() > 0
    plain, again = (
        BlockModelSelector(5, block_model=network.blocks).fit(features, adjacency=network.adjacency).scores_
        for features in (binary.astype(float), binary.astype(dtype))
    )
    assert_allclose(again, plain, atol=1e-6)


def test_single_precision_selects_almost_the_same(network):
    single, double = (
        fit_paper(network, block_model=network.blocks, solver=Descent(dtype=dtype, tol=0.0, gradient="paper"))
        for dtype in ("float32", "float64")
    )
    assert single.history_.profile.dtype == np.float32
    assert_allclose(single.scores_, double.scores_, atol=1e-2)
    assert np.count_nonzero(single.support_ != double.support_) <= 2


@both
def test_of_two_features_that_are_the_same_the_first_ranks_first(network, method):
    doubled = sparse.hstack([network.features, network.features]).tocsr()
    selector = method(5, block_model=network.blocks).fit(doubled, adjacency=network.adjacency)
    assert (selector.ranking_[:52] < selector.ranking_[52:]).all()


@pytest.mark.parametrize("fitted", [fit, fit_paper], ids=["default", "paper"])
def test_the_same_seed_gives_the_same_result_bit_by_bit_with_any_number_of_jobs(network, fitted):
    first, second = (fitted(network) for _ in range(2))
    with parallel_config(backend="threading"):
        third = fitted(network, n_jobs=3)
    for again in (second, third):
        assert_array_equal(again.scores_, first.scores_)
        assert_array_equal(again.labels_, first.labels_)


def test_the_scale_of_link_weights_changes_nothing_that_is_found(network):
    plain, scaled = (fit(network, adjacency=scale * network.adjacency, n_blocks="auto") for scale in (1, 8))
    assert_array_equal(scaled.labels_, plain.labels_)
    assert_allclose(scaled.candidates_table_["gain"], plain.candidates_table_["gain"], rtol=1e-9)
    assert_allclose(scaled.scores_, plain.scores_, rtol=1e-9)
    assert_array_equal(scaled.ranking_, plain.ranking_)


def test_the_order_of_features_changes_nothing_that_is_found(network):
    """Halves of the features were drawn by place, so that another order was like another seed."""
    order = np.random.default_rng(0).permutation(52)
    moved = BlockModelSelector(12, **QUICK).fit(network.features[:, order], adjacency=network.adjacency)
    plain = fit(network)
    assert_array_equal(moved.labels_, plain.labels_)
    assert_allclose(moved.scores_, plain.scores_[order], atol=1e-9)
    assert_array_equal(moved.support_, plain.support_[order])
