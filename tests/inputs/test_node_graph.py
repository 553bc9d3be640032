"""NodeGraph: a graph that is subset together with the rows of the features, especially in cross-validation."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from blockselect import BlockModelSelector, NodeGraph, as_adjacency, make_attributed_blocks, make_selector

QUICK = {"n_blocks": 3, "n_candidates": 2, "random_state": 0}
IDS = [f"node {i}" for i in range(120)]
BACKWARDS = IDS[::-1]


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(120, 3, random_state=0)


@pytest.fixture(scope="module")
def named(planted):
    """The features with ids, and a networkx graph with these names in a different order."""
    features = pd.DataFrame(planted.features.toarray(), index=IDS).rename(columns=str)
    graph = nx.Graph()
    graph.add_nodes_from(BACKWARDS)
    source, target = planted.adjacency.nonzero()
    graph.add_edges_from((IDS[i], IDS[j]) for i, j in zip(source, target, strict=True))
    return features, graph


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


def pipeline(**settings):
    selector = BlockModelSelector(20, **{**QUICK, **settings}).set_fit_request(adjacency=True)
    return Pipeline([("scale", MaxAbsScaler()), ("select", selector), ("classify", LogisticRegression())])


def scores_by_hand(features, blocks, adjacency):
    """Accuracy on each of three folds, with the subgraph of the other nodes taken explicitly."""
    scores = []
    for train, test in KFold(3).split(features):
        fitted = pipeline().fit(features[train], blocks[train], adjacency=adjacency[train][:, train])
        scores.append(fitted.score(features[test], blocks[test]))
    return scores


def test_cross_val_score_subsets_the_graph_with_the_rows(planted):
    scores = cross_val_score(
        pipeline(),
        planted.features,
        planted.blocks,
        cv=KFold(3),
        params={"adjacency": NodeGraph(planted.adjacency)},
        error_score="raise",
    )
    assert_array_equal(scores, scores_by_hand(planted.features, planted.blocks, planted.adjacency))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, np.asarray])
def test_cross_validation_with_a_plain_matrix_suggests_node_graph(planted, form):
    given = form(planted.adjacency if form is not np.asarray else planted.adjacency.toarray())
    with pytest.raises(ValueError, match=r"adjacency has shape \(80, 120\).*adjacency=NodeGraph\(graph\)"):
        cross_val_score(
            pipeline(),
            planted.features,
            planted.blocks,
            cv=KFold(3),
            params={"adjacency": given},
            error_score="raise",
        )


@pytest.mark.parametrize("form", ["matrix", "networkx", "square frame", "edges", "features without ids"])
def test_a_grid_search_takes_every_kind_of_graph(planted, named, form):
    features, graph = named
    frame = nx.to_pandas_adjacency(graph)
    X, given = {
        "matrix": (planted.features, NodeGraph(planted.adjacency)),
        "networkx": (features, NodeGraph(graph, nodes=IDS)),
        "square frame": (features, NodeGraph(frame, nodes=IDS)),
        "edges": (features, NodeGraph(list(graph.edges), nodes=features.index)),
        "features without ids": (planted.features, NodeGraph(graph, nodes=IDS)),
    }[form]
    search = GridSearchCV(pipeline(), {"select__n_features_to_select": [3, 20]}, cv=KFold(3), error_score="raise")
    search.fit(X, planted.blocks, adjacency=given)
    by_hand = scores_by_hand(planted.features, planted.blocks, planted.adjacency)
    assert [search.cv_results_[f"split{fold}_test_score"][1] for fold in range(3)] == by_hand
    assert search.best_params_ == {"select__n_features_to_select": 20}


@pytest.mark.parametrize("name", ["variance", "morans-i"])
def test_other_methods_take_a_node_graph(planted, name):
    selector = make_selector(name, 10)
    whole = selector.fit(planted.features, adjacency=planted.adjacency).scores_
    assert_array_equal(selector.fit(planted.features, adjacency=NodeGraph(planted.adjacency)).scores_, whole)


def test_a_subgraph_in_a_different_order_from_the_rows_is_refused(named):
    features, graph = named
    whole = NodeGraph(graph)
    assert_array_equal(as_adjacency(whole, nodes=IDS).toarray(), as_adjacency(graph, nodes=IDS).toarray())
    with pytest.raises(
        ValueError, match=r"only one of features and adjacency.*NodeGraph\(graph, nodes=features.index\)"
    ):
        BlockModelSelector(5, **QUICK).fit(features.iloc[:60], adjacency=whole[:60])


def test_names_in_the_order_of_the_rows_are_matched_by_id(named):
    features, graph = named
    whole = NodeGraph(nx.to_pandas_adjacency(graph).loc[IDS])
    selector = BlockModelSelector(5, **QUICK)
    by_id = selector.fit(features.iloc[:60], adjacency=whole[:60]).scores_
    assert_array_equal(by_id, selector.fit(features.iloc[:60], adjacency=graph.subgraph(IDS[:60])).scores_)


def test_names_without_ids_in_the_features_are_refused(planted, named):
    with pytest.raises(ValueError, match="the rows of the features have no ids"):
        BlockModelSelector(5, **QUICK).fit(planted.features, adjacency=NodeGraph(named[1]))


def test_indexing_returns_the_induced_subgraph(planted):
    graph, weights = NodeGraph(planted.adjacency, nodes=IDS), planted.adjacency.toarray()
    assert (graph.shape, len(graph), repr(graph)) == ((120, 120), 120, "NodeGraph(120 nodes)")
    mask = np.arange(120) % 7 == 0
    for rows in (slice(10, 40), [3, 99, 5], mask, np.array([7]), (np.array([4, 8]), ...)):
        part = graph[rows]
        at = np.arange(120)[rows[0] if isinstance(rows, tuple) else rows]
        assert_array_equal(part.matrix.toarray(), weights[np.ix_(at, at)])
        assert list(part.node_ids) == [IDS[node] for node in at]
    assert_array_equal(pickle.loads(pickle.dumps(graph))[mask].matrix.toarray(), weights[np.ix_(mask, mask)])
    with pytest.raises(IndexError, match=r"not by rows and columns; use graph\[rows\]"):
        graph[[0, 1], [2, 3]]
