"""BlockModelSelector: the whole way from a graph and features to a selection."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from blockselect import PAPER, BlockModel, BlockModelSelector, load_cora, make_attributed_blocks
from references import bmgufs
from references.problems import make_problem


@parametrize_with_checks([BlockModelSelector(random_state=0), BlockModelSelector(random_state=0, **PAPER)])
def test_scikit_learns_estimator_checks_hold(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer non-zero scores than asked for: an answer
        check(estimator)


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0)


def fit(network, n=12, **options):
    options = {"n_blocks": 3, "random_state": 0, **options}
    return BlockModelSelector(n, **options).fit(network.features, adjacency=network.adjacency)


@pytest.mark.parametrize("options", [{}, PAPER], ids=["default", "paper"])
def test_planted_features_are_found(options):
    network = make_attributed_blocks(
        400, 3, mean_degree=40, n_informative=15, n_redundant=0, n_noise=85, random_state=1
    )
    selector = fit(network, 15, **options)
    assert network.is_informative[selector.get_support()].mean() >= 0.8  # chance: 0.15


def test_paper_settings_give_the_papers_scores(network):
    selector = fit(network, 12, **PAPER)
    model = selector.block_model_
    slow = bmgufs.solve(
        np.asarray(network.features.todense()),
        bmgufs.one_hot(model.labels),
        model.density,
        profile_ratio=0.6,
        sparsity=selector.sparsity_,
        published=True,
        start=np.full(52, 52**-0.5),
    )
    assert_allclose(selector.scores_, slow, atol=1e-10)


def test_the_lowest_error_guides_unless_another_is_named(network):
    lowest, third = fit(network, block_model="onmtf"), fit(network, block_model="onmtf", guidance=2)
    errors = [model.relative_error for model in lowest.candidates_]
    assert lowest.block_model_.relative_error == min(errors)
    assert third.block_model_ is third.candidates_[2]
    with pytest.raises(ValueError, match="guidance is 10 but there are 10 candidates; choose 0 to 9"):
        fit(network, guidance=10)


def test_blocks_of_ones_own_are_used_as_labels_or_as_a_model(network):
    by_labels = fit(network, block_model=network.blocks)
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_model = fit(network, block_model=model)
    assert by_model.block_model_ is model
    assert_allclose(by_labels.scores_, by_model.scores_, atol=1e-12)
    with pytest.raises(ValueError, match=r"adjacency has 200 nodes but.* 3 "):
        fit(network, block_model=[0, 1, 2])


def test_automatic_sparsity_is_the_strongest_that_keeps_enough(network):
    chosen = fit(network, 12, sparsity="auto")
    grid = [0.5 * i for i in range(11)]
    counts = {γ: np.count_nonzero(fit(network, 1, sparsity=γ).scores_) for γ in grid}
    assert chosen.sparsity_ == max(γ for γ in grid if counts[γ] >= 12)
    assert_allclose(chosen.scores_, fit(network, 1, sparsity=chosen.sparsity_).scores_, atol=1e-10)


def test_too_few_nonzero_scores_are_reported_not_padded(network):
    with pytest.warns(ConvergenceWarning, match=r"only \d+ of the 52 features.*sparsity 20 .γ. drives.*lower it"):
        selector = fit(network, 52, sparsity=20)
    assert selector.n_features_ == np.count_nonzero(selector.scores_) < 52
    assert selector.transform(network.features).shape[1] == selector.n_features_


def test_an_empty_column_scores_zero(network):
    features = network.features.tolil()
    features[:, 5] = 0
    selector = BlockModelSelector(5, n_blocks=3, random_state=0).fit(features, adjacency=network.adjacency)
    assert selector.scores_[5] == 0
    assert np.count_nonzero(selector.scores_) > 1


def test_a_missing_feature_is_told_from_a_penalty(network):
    features = network.features.tolil()
    features[:, 5] = 0
    with pytest.warns(ConvergenceWarning, match="1 of them since no node has the feature.$"):
        BlockModelSelector(52, block_model=network.blocks).fit(features, adjacency=network.adjacency)


def test_a_graph_passed_by_position_is_not_taken_for_a_target(network):
    for graph in (network.adjacency, network.adjacency.toarray()):
        with pytest.raises(ValueError, match=r"pass it by name: fit\(X, adjacency=graph\)"):
            BlockModelSelector(5, n_blocks=3).fit(network.features, graph)


def test_of_two_features_that_are_the_same_the_first_ranks_first(network):
    doubled = sparse.hstack([network.features, network.features]).tocsr()
    selector = BlockModelSelector(5, block_model=network.blocks).fit(doubled, adjacency=network.adjacency)
    assert (selector.ranking_[:52] < selector.ranking_[52:]).all()


def test_a_damaged_sparse_matrix_is_refused_not_read(network):
    damaged = sparse.csc_array(network.features)
    damaged.indices = damaged.indices.copy()
    damaged.indices[0] = 10**8
    with pytest.raises(ValueError, match="ind"):
        BlockModelSelector(5, n_blocks=3).fit(damaged, adjacency=network.adjacency)


def test_a_value_that_is_not_a_number_is_named_by_node_and_feature(network):
    frame = pd.DataFrame(network.features.toarray(), index=[f"n{i}" for i in range(200)])
    frame.columns = [f"w{i}" for i in range(52)]
    frame.iloc[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity, first at node 'n3', feature 'w2'"):
        BlockModelSelector(5, n_blocks=3).fit(frame, adjacency=network.adjacency)


def test_a_failed_fit_leaves_nothing_fitted(network):
    selector = BlockModelSelector(5, n_blocks=3, memory_limit=10)
    with pytest.raises(ValueError, match="memory_limit"):
        selector.fit(network.features, adjacency=network.adjacency)
    assert not hasattr(selector, "candidates_")


def test_blocks_that_link_to_others_lead_it_astray():
    """What docs/method.md says the method cannot see."""
    network = make_attributed_blocks(
        300, 3, structure="disassortative", mean_degree=30, n_informative=15, n_redundant=0, n_noise=85, random_state=0
    )
    assert network.is_informative[fit(network, 15).get_support()].mean() <= 0.15  # chance


def test_each_loss_falls_where_it_alone_is_followed(network):
    profile, reconstruction = fit(network, profile_ratio=1.0), fit(network, profile_ratio=0.0)
    assert profile.history_.profile[-1] < 0.9 * profile.history_.profile[0]
    assert reconstruction.history_.reconstruction[-1] < 0.99 * reconstruction.history_.reconstruction[0]
    assert len(profile.history_.profile) == len(profile.history_.reconstruction) == profile.n_iter_ + 1


def test_the_same_seed_gives_the_same_scores_bit_by_bit(network):
    for block_model in ("spectral", "onmtf"):
        first, second = (fit(network, block_model=block_model).scores_ for _ in range(2))
        assert_array_equal(first, second)


def test_a_graph_of_neighbours_is_built_where_none_is_given(network):
    selector = BlockModelSelector(12, n_blocks=3, random_state=0).fit(network.features)
    assert selector.n_features_ == 12


def test_the_callers_arrays_are_not_changed(network):
    features, adjacency = network.features.copy(), network.adjacency.copy()
    fit(network)
    assert abs(features - network.features).sum() == 0
    assert abs(adjacency - network.adjacency).sum() == 0


small = st.integers(0, 500)


def scores_of(problem, Y=None, A=None, labels=None, **options):
    labels = problem.models[0].labels if labels is None else labels
    Y, A = problem.Y if Y is None else Y, problem.A if A is None else A
    return BlockModelSelector(1, block_model=labels, tol=0, max_iter=60, **options).fit(Y, adjacency=A).scores_


@given(seed=small)
def test_scores_do_not_change_when_nodes_are_reordered(seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(len(problem.A))
    moved = scores_of(problem, problem.Y[order], problem.A[np.ix_(order, order)], problem.models[0].labels[order])
    assert_allclose(moved, scores_of(problem), atol=1e-9)


@given(seed=small)
def test_scores_move_along_when_features_are_reordered(seed):
    problem = make_problem(seed)
    order = np.random.default_rng(seed).permutation(problem.Y.shape[1])
    assert_allclose(scores_of(problem, problem.Y[:, order]), scores_of(problem)[order], atol=1e-9)


@given(seed=small)
def test_scores_do_not_change_when_blocks_are_renamed(seed):
    problem = make_problem(seed)
    assert_allclose(scores_of(problem, labels=2 - problem.models[0].labels), scores_of(problem), atol=1e-9)


@given(seed=small, scale=st.sampled_from([0.25, 3.0, 1000.0]))
def test_scores_do_not_change_with_the_scale_of_features_or_weights_but_for_the_smoothing(seed, scale):
    problem = make_problem(seed)
    problem.A = problem.A + 0.1  # a block pair without any link is all smoothing
    plain = scores_of(problem, smoothing=1e-15)
    assert_allclose(scores_of(problem, scale * problem.Y, smoothing=1e-15), plain, atol=1e-6)
    assert_allclose(scores_of(problem, A=scale * problem.A, smoothing=1e-15), plain, atol=1e-6)


@given(seed=small, layout=st.sampled_from(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]))
def test_sparse_input_gives_the_scores_of_dense_input(seed, layout):
    problem = make_problem(seed)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        again = scores_of(problem, kind(problem.Y).asformat(layout), kind(problem.A).asformat(layout))
        assert_allclose(again, scores_of(problem), atol=1e-9)


@given(seed=small)
def test_an_edge_table_gives_the_scores_of_its_matrix_even_with_edges_twice_or_turned(seed):
    problem = make_problem(seed)
    source, target = np.nonzero(np.triu(problem.A))
    edges = pd.DataFrame({"source": source, "target": target})
    turned = edges.rename(columns={"source": "target", "target": "source"})
    for table in (edges, pd.concat([edges, edges[:5]]), pd.concat([edges, turned])):
        assert_allclose(scores_of(problem, A=table), scores_of(problem), atol=1e-12)


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


def test_single_precision_selects_almost_the_same(network):
    single, double = fit(network, dtype="float32"), fit(network)
    assert single.scores_.dtype == np.float32
    assert_allclose(single.scores_, double.scores_, atol=1e-2)


def test_a_device_that_is_not_there_is_named(network):
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"device is 'nonsense'.*'cuda'"):
        fit(network, device="nonsense")
    with pytest.raises(ValueError, match=r"no CUDA device.*device='cpu'"):
        fit(network, device="cuda:7")


def test_it_works_in_a_pipeline_with_metadata_routing(network):
    with config_context(enable_metadata_routing=True):
        selector = BlockModelSelector(12, n_blocks=3, random_state=0).set_fit_request(adjacency=True)
        pipeline = Pipeline([("scale", MaxAbsScaler()), ("select", selector)])
        small = pipeline.fit_transform(network.features, adjacency=network.adjacency)
    assert small.shape == (200, 12)
    assert sparse.issparse(small)


def test_names_and_pandas_output_go_through(network):
    names = [f"gene {i}" for i in range(52)]
    frame = pd.DataFrame(network.features.toarray(), columns=names)
    selector = BlockModelSelector(12, n_blocks=3, random_state=0).set_output(transform="pandas")
    small = selector.fit_transform(frame, adjacency=network.adjacency)
    assert list(small.columns) == list(selector.get_feature_names_out())
    assert set(small.columns) <= set(names)


def test_an_edge_table_speaks_of_the_rows_names(network):
    ids = [f"cell-{i}" for i in range(200)]
    frame = pd.DataFrame(network.features.toarray(), index=ids)
    frame.columns = frame.columns.astype(str)
    source, target = np.nonzero(sparse.triu(network.adjacency).toarray())
    table = pd.DataFrame({"source": np.array(ids)[source], "target": np.array(ids)[target]})
    named = BlockModelSelector(12, n_blocks=3, random_state=0).fit(frame, adjacency=table)
    assert_allclose(named.scores_, fit(network).scores_, atol=1e-12)


def test_a_fitted_selector_survives_pickle_and_a_clone_is_unfitted(network):
    selector = fit(network)
    again = pickle.loads(pickle.dumps(selector))
    assert_array_equal(again.scores_, selector.scores_)
    assert again.block_model_.relative_error == selector.block_model_.relative_error
    assert not hasattr(clone(selector), "scores_")


def test_cross_validation_over_a_graph_says_what_to_do_instead(network):
    with config_context(enable_metadata_routing=True):
        selector = BlockModelSelector(12, n_blocks=3).set_fit_request(adjacency=True)
        search = GridSearchCV(selector, {"n_blocks": [2, 3]}, scoring=lambda *_: 0.0, cv=2, error_score="raise")
        with pytest.raises(ValueError, match=r"square.*GridSearchCV.*ParameterGrid"):
            search.fit(network.features, adjacency=network.adjacency)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_blocks": 201}, "n_blocks is 201 but the graph has 200 nodes"),
        ({"n_features_to_select": 53}, "n_features_to_select is 53 but there are 52 features"),
        ({"initial_scores": np.ones(3)}, r"initial_scores has shape \(3,\) but there are 52"),
        ({"initial_scores": np.zeros(52)}, "not all zero"),
        ({"initial_scores": np.full(52, 1e40), "dtype": "float32"}, "too large for float32"),
        ({"profile_ratio": 1.5}, "profile_ratio"),
        ({"block_model": "spectrum"}, "block_model"),
        ({"sparsity": -1}, "sparsity"),
        ({"memory_limit": 10}, "memory_limit"),
    ],
)
def test_bad_parameters_are_named_before_any_work(network, options, message):
    with pytest.raises(ValueError, match=message):
        BlockModelSelector(**options).fit(network.features, adjacency=network.adjacency)


def test_the_selector_reads_no_classes():
    cora = load_cora()
    assert cora.classes is not None
    selector = BlockModelSelector(16, n_blocks=7, n_candidates=2, max_iter=20, random_state=0)
    with_y = selector.fit(cora.features, cora.classes, adjacency=cora.adjacency).scores_
    without = clone(selector).fit(cora.features, adjacency=cora.adjacency).scores_
    assert_array_equal(with_y, without)
