"""Labels of nodes: one per node, none missing, in the order of the nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from blockselect.inputs.edges import object_array
from blockselect.inputs.labels import encode_labels, labels_by_id
from blockselect.utils.errors import ParameterError


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        [7, 3, 7],
        [2.5, -1.0, 2.5],
        pd.Categorical(["b", "a", "b"]),
        pd.array([7, 3, 7], dtype="Int64"),
        np.ma.masked_array([7, 3, 7]),
        pd.to_datetime(["2021", "2020", "2021"]),
    ],
)
def test_labels_of_any_sortable_type_become_numbers(labels):
    assert_array_equal(encode_labels(labels), [1, 0, 1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.0, np.nan, 2.0], r"classes contain NaN, None or masked values for 1 node\(s\), first node 1; give each"),
        (["a", None, None], "for 2 node"),
        (pd.array([None, 1], dtype="Int64"), "first node 0"),
        (np.ma.masked_array([1, 2, 3], mask=[False, False, True]), "first node 2"),
        ([[0, 1], [1, 0]], r"classes have shape \(2, 2\); give one label per node"),
        ("abc", r"shape \(\)"),
        (np.array([1, "a"], dtype=object), r"cannot be sorted \(int, str\); make them all text"),
    ],
)
def test_labels_that_are_missing_or_have_no_order_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(labels, "classes")


@pytest.mark.parametrize(
    ("index", "ids", "expected"),
    [
        (["b", "a"], ["a", "b"], [2, 1]),
        ([1, 0], [0, 1], [2, 1]),
        ([0, 1], ["a", "b"], [1, 2]),
        ([0, 1], None, [1, 2]),
    ],
    ids=["by name", "by number", "counted: in order", "row numbers"],
)
def test_labels_of_a_series_are_put_in_the_order_of_the_nodes(index, ids, expected):
    labels = pd.Series([1, 2], index=index)
    assert list(labels_by_id(labels, None if ids is None else np.array(ids, dtype=object))) == expected


@pytest.mark.parametrize(
    ("index", "ids", "message"),
    [
        ([1, 0], None, r"not 0, 1, …, but .*labels\.to_numpy\(\)"),
        (["a", "b"], None, r"not 0, 1, …, but .*labels\.to_numpy\(\)"),
        (["a", "c"], ["a", "b"], r"2 node\(s\).*\['b', 'c'\]"),
        (["a", "a"], ["a", "b"], r"1 node\(s\) are missing, unknown or repeated"),
        ([1, 2], [0, 1], r"\[0, 2\]"),
    ],
)
def test_labels_that_could_be_misread_are_refused(index, ids, message):
    ids = None if ids is None else np.array(ids, dtype=object)
    with pytest.raises(ParameterError, match=f"block_model is a Series.*{message}"):
        labels_by_id(pd.Series([1, 2], index=index), ids)


IDS = np.array(["ann", "bob", "cleo", "dan"], dtype=object)


def clustering(names=None):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (2, 3)])
    if names is not None:
        graph.vs["name"] = names
    return igraph.VertexClustering(graph, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("labels", "ids", "expected"),
    [
        ({"dan": "y", "cleo": "x", "bob": "y", "ann": "x"}, IDS, ["x", "y", "x", "y"]),
        ({3: 1, 2: 0, 1: 1, 0: 0}, None, [0, 1, 0, 1]),
        ([{"ann", "cleo"}, frozenset({"dan", "bob"})], IDS, [0, 1, 0, 1]),
        ({1: {"cleo", "ann"}, 2: {"bob", "dan"}}.values(), IDS, [0, 1, 0, 1]),
        ([{0, 2}, {1, 3}], None, [0, 1, 0, 1]),
        ([{(0, 0), (1, 0)}, {(0, 1)}], [(0, 0), (0, 1), (1, 0)], [0, 1, 0]),
    ],
    ids=["dict", "dict, row numbers", "communities", "values", "communities, row numbers", "tuples"],
)
def test_blocks_of_a_dict_or_of_communities_are_put_in_the_order_of_the_nodes(labels, ids, expected):
    assert list(labels_by_id(labels, None if ids is None else object_array(ids))) == expected


def test_blocks_of_an_igraph_clustering_are_matched_by_name_or_row():
    assert list(labels_by_id(clustering(["dan", "ann", "bob", "cleo"]), IDS)) == [0, 1, 1, 0]
    assert list(labels_by_id(clustering(), IDS)) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("labels", "ids", "message"),
    [
        ({"ann": 0, "bob": 1}, IDS, r"is a dict that does not name each node .*: 2 node\(s\).*\['cleo', 'dan'\]"),
        ({0: 0, 1: 0, 2: 1, 3: 1}, IDS, r"is a dict that does not name each node .*: 8 node\(s\)"),
        ({"ann": 0, "bob": 1}, None, r"names nodes such as \['ann', 'bob'\].*have no ids.*pass .* a DataFrame"),
        ([{"ann", "bob"}, {"cleo"}], IDS, r"is a list that does not name each node .*: 1 node\(s\).*\['dan'\]"),
        ([{"ann", "bob"}, {"cleo"}, {"bob", "dan"}], IDS, r"overlap: node 'bob' is in the communities 0 and 2; give"),
    ],
    ids=["not all", "numbers", "no ids", "not all in communities", "overlap"],
)
def test_blocks_that_do_not_cover_the_nodes_once_are_refused(labels, ids, message):
    with pytest.raises(ParameterError, match=f"block_model .*{message}"):
        labels_by_id(labels, ids)


def test_igraph_results_that_are_not_a_partition_are_refused():
    graph = clustering(IDS.tolist()).graph
    with pytest.raises(ParameterError, match=r"is an igraph VertexDendrogram.*dendrogram\.as_clustering\(\)"):
        labels_by_id(graph.community_walktrap(), IDS)
    cover = type(clustering().as_cover())(graph, [[0, 1, 2], [2, 3]])
    with pytest.raises(ParameterError, match=r"is an igraph VertexCover.*graph\.community_multilevel\(\)"):
        labels_by_id(cover, IDS)
