"""BlockModelSelector as an estimator of scikit-learn: contract, pipelines, names, and errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from blockselect import BMGUFS, BlockModelSelector, load_cora, selection_stability
from blockselect.utils.errors import ParameterError
from made_fits import QUICK, fit


def test_it_works_in_a_pipeline_with_metadata_routing(network):
    with config_context(enable_metadata_routing=True):
        selector = BlockModelSelector(12, **QUICK).set_fit_request(adjacency=True)
        pipeline = Pipeline([("scale", MaxAbsScaler()), ("select", selector)])
        small = pipeline.fit_transform(network.features, adjacency=network.adjacency)
    assert small.shape == (200, 12)
    assert sparse.issparse(small)


def test_names_and_pandas_output_go_through(network):
    names = [f"gene {i}" for i in range(52)]
    frame = pd.DataFrame(network.features.toarray(), columns=names)
    selector = BlockModelSelector(12, **QUICK).set_output(transform="pandas")
    small = selector.fit_transform(frame, adjacency=network.adjacency)
    assert list(small.columns) == list(selector.get_feature_names_out())
    assert set(small.columns) <= set(names)


def test_an_edge_table_speaks_of_the_rows_names(network, fitted):
    ids = [f"cell-{i}" for i in range(200)]
    frame = pd.DataFrame(network.features.toarray(), index=ids)
    frame.columns = frame.columns.astype(str)
    source, target = np.nonzero(sparse.triu(network.adjacency).toarray())
    table = pd.DataFrame({"source": np.array(ids)[source], "target": np.array(ids)[target]})
    named = BlockModelSelector(12, **QUICK).fit(frame, adjacency=table)
    assert_allclose(named.scores_, fitted.scores_, atol=1e-12)


def test_a_fitted_selector_survives_pickle_and_a_clone_is_unfitted(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.scores_, fitted.scores_)
    assert_array_equal(again.explained_, fitted.explained_)
    pd.testing.assert_frame_equal(again.candidates_table_, fitted.candidates_table_)
    assert again.block_model_.relative_error == fitted.block_model_.relative_error
    assert not hasattr(clone(fitted), "scores_")


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


def test_the_callers_arrays_are_not_changed(network):
    features, adjacency = network.features.copy(), network.adjacency.copy()
    fit(network)
    assert abs(features - network.features).sum() == 0
    assert abs(adjacency - network.adjacency).sum() == 0


def test_a_graph_of_neighbours_is_built_where_none_is_given(network, fitted):
    made = BlockModelSelector(12, **QUICK, n_neighbors=10).fit(network.features)
    assert (made.n_features_, made.graph_source_) == (12, "features")
    assert fitted.graph_source_ == "adjacency"


def test_a_pipeline_that_forgot_the_graph_is_warned(network):
    with config_context(enable_metadata_routing=True):
        selector = BlockModelSelector(12, **QUICK).set_fit_request(adjacency=True)
        pipeline = Pipeline([("scale", MaxAbsScaler()), ("select", selector)])
        with pytest.warns(UserWarning, match=r"no adjacency.*its 10 nearest.*set_fit_request.*set n_neighbors"):
            pipeline.fit(network.features)
    same = BlockModelSelector(12, **QUICK, n_neighbors=10).fit(MaxAbsScaler().fit_transform(network.features))
    assert_array_equal(pipeline["select"].scores_, same.scores_)


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_blocks_of_a_series_find_their_nodes_by_its_index(network, kind):
    ids = [f"cell-{i}" for i in range(200)]
    frame = pd.DataFrame(network.features.toarray(), index=ids)
    frame.columns = frame.columns.astype(str)
    blocks = pd.Series(network.blocks, index=ids)
    shuffled = blocks.sample(frac=1, random_state=0)
    ours = kind(12, block_model=shuffled, random_state=0).fit(frame, adjacency=network.adjacency)
    assert_array_equal(ours.labels_, network.blocks)
    with pytest.raises(
        ParameterError, match=r"is a Series that does not name each node of the features once.*'cell-0'"
    ):
        kind(12, block_model=shuffled.drop("cell-0")).fit(frame, adjacency=network.adjacency)


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
@pytest.mark.parametrize("form", ["dict", "communities", "igraph"])
def test_blocks_in_the_forms_of_network_libraries_find_their_nodes(network, kind, form):
    ids = [f"n{i}" for i in range(200)]
    frame = pd.DataFrame(network.features.toarray(), index=ids).rename(columns=str)
    blocks = dict(list(zip(ids, network.blocks.tolist(), strict=True))[::-1])
    if form == "communities":
        blocks = [{node for node, block in blocks.items() if block == one} for one in range(3)]
    elif form == "igraph":
        igraph = pytest.importorskip("igraph")
        graph = igraph.Graph(200, vertex_attrs={"name": list(blocks)})
        blocks = igraph.VertexClustering(graph, list(blocks.values()))
    selector = kind(12, block_model=blocks, random_state=0).fit(frame, adjacency=network.adjacency)
    assert_array_equal(selector.labels_, network.blocks)
    assert selection_stability(selector, frame, adjacency=network.adjacency, n_resamples=3).shape == (52,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_blocks": 201}, "n_blocks is 201 but the graph has 200 nodes"),
        ({"n_features_to_select": 53}, "n_features_to_select is 53 but there are 52 features"),
        ({"n_features_to_select": "all"}, "n_features_to_select"),
        ({"block_model": "spectrum"}, "block_model"),
        ({"refine": "sometimes"}, "'refine' parameter of BlockModelSelector must be"),
        ({"max_blocks": 1}, "'max_blocks' parameter of BlockModelSelector must be"),
        ({"binarize": "maybe"}, "'binarize' parameter of BlockModelSelector must be"),
    ],
)
def test_bad_parameters_are_named_before_any_work_and_leave_nothing_fitted(network, options, message):
    selector = BlockModelSelector(**options)
    with pytest.raises(ValueError, match=message):
        selector.fit(network.features, adjacency=network.adjacency)
    assert not hasattr(selector, "candidates_")


def test_the_selector_reads_no_classes():
    cora = load_cora()
    assert cora.classes is not None
    selector = BlockModelSelector(16, n_blocks=7, n_candidates=3, random_state=0)
    with_y = selector.fit(cora.features, cora.classes, adjacency=cora.adjacency).scores_
    without = clone(selector).fit(cora.features, adjacency=cora.adjacency).scores_
    assert_array_equal(with_y, without)


def test_the_table_has_every_feature_with_the_block_it_marks(network):
    names = [f"gene {i}" for i in range(52)]
    frame = pd.DataFrame(network.features.toarray(), columns=names)
    selector = BlockModelSelector(12, **QUICK).fit(frame, adjacency=network.adjacency)
    best_first = selector.table()
    assert best_first["rank"].tolist() == list(range(1, 53))
    table = best_first.sort_values("column", ignore_index=True)
    assert table["feature"].tolist() == names
    assert_array_equal(table["score"], selector.scores_)
    assert_array_equal(table["rank"], selector.ranking_)
    assert_array_equal(table["selected"], selector.support_)
    assert_array_equal(table["explained_more"], selector.explained_more_)
    assert_array_equal(table["explained_alone"], selector.explained_alone_)
    assert_allclose(table["prevalence"], (frame > 0).mean())
    marked = table.dropna(subset="marked_block")
    assert len(marked) > 2
    means = frame.groupby(selector.labels_).mean() / frame.mean()
    assert_allclose(marked["lift"], [means.loc[row.marked_block, row.feature] for row in marked.itertuples()])
