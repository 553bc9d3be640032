"""Node attributes as features; attributes that could be misread are refused."""

from __future__ import annotations

import gc
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect import (
    BMGUFS,
    AttributedGraph,
    BlockModelSelector,
    check_attributed_graph,
    discover_features,
    make_selector,
)
from blockselect.rows.matrices import as_dense
from blockselect.utils.errors import ParameterError
from made_fits import QUICK, easy_network

networkx = pytest.importorskip("networkx")
igraph = pytest.importorskip("igraph")

PEOPLE = {
    "dan": {"age": 62, "member": True, "town": "Ulm", "plays": ["chess", "go", "go"]},
    "ann": {"age": 31.5, "member": False, "town": "Bonn", "plays": set()},
    "cleo": {"age": np.int64(40), "member": True, "town": "Ulm", "plays": ("go",)},
}
COLUMNS = ["age", "member", "town=Bonn", "town=Ulm", "plays=chess", "plays=go"]
ENCODED = [[62, 1, 0, 1, 1, 1], [31.5, 0, 1, 0, 0, 0], [40, 1, 0, 1, 0, 1]]


def people(**changes):
    graph = networkx.Graph()
    graph.add_nodes_from((name, {**known, **changes.get(name, {})}) for name, known in PEOPLE.items())
    graph.add_edge("cleo", "ann", weight=1.0, calls=7.0)
    graph.add_edge("dan", "cleo", weight=2.0, calls=5.0)
    return graph


def in_igraph(graph):
    return igraph.Graph.from_networkx(graph)


@pytest.mark.parametrize(
    "read",
    [
        lambda: AttributedGraph.from_networkx(people()),
        lambda: AttributedGraph.from_igraph(in_igraph(people())),
        lambda: check_attributed_graph(people()),
    ],
    ids=["networkx", "igraph", "the gate"],
)
def test_numbers_categories_and_words_become_columns(read):
    graph = read()
    assert graph.node_ids.tolist() == list(PEOPLE)
    assert graph.feature_names.tolist() == COLUMNS
    assert_array_equal(as_dense(graph.features), ENCODED)
    assert_array_equal(graph.adjacency.toarray(), [[0, 0, 2], [0, 0, 1], [2, 1, 0]])
    assert graph.encoding["attribute"].tolist() == ["age", "member", "town", "plays"]
    assert graph.encoding["kind"].tolist() == ["numbers", "numbers", "categories", "words"]
    assert graph.encoding["n_missing"].tolist() == [0, 0, 0, 0]
    assert graph.encoding["n_columns"].tolist() == [1, 1, 2, 2]
    assert list(chain(*graph.encoding["columns"])) == COLUMNS


def test_attributes_and_weight_can_be_chosen():
    graph = people()
    found = AttributedGraph.from_networkx(graph, attributes=["plays", "age"], weight="calls")
    assert found.feature_names.tolist() == ["plays=chess", "plays=go", "age"]
    assert found.adjacency.sum() == 2 * (5 + 7)
    assert isinstance(AttributedGraph.from_networkx(graph, attributes="age").features, np.ndarray)  # numbers alone
    with pytest.raises(ParameterError, match=r"attributes is \['wage'\], but nodes have \['age', 'me"):
        AttributedGraph.from_networkx(graph, attributes=["wage"])
    with pytest.raises(ParameterError, match=r"graph is of type Graph; expected a networkx graph"):
        AttributedGraph.from_networkx(in_igraph(graph))


def test_vertices_of_igraph_without_names_are_rows():
    graph = igraph.Graph([(0, 1), (1, 2)], vertex_attrs={"size": [3, 1, 2]})
    found = AttributedGraph.from_igraph(graph)
    assert found.node_ids is None
    assert_array_equal(found.features, [[3], [1], [2]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"ann": {"age": None}},
            r"1 of 3 nodes have no value for the attribute 'age', for example \['ann'\]; give each node a n.*fill=0",
        ),
        ({"ann": {"age": np.nan}}, r"have no value for the attribute 'age'"),
        ({"cleo": {"extra": 7}}, r"2 of 3 nodes have no value for the attribute 'extra'.*fill=0.*attributes=\["),
        ({"cleo": {"extra": None}}, r"no node has a value for the attribute 'extra'; leave this attribute out"),
        ({"cleo": {"extra": "x"}}, r"'extra' has a different text for each node, such as 'x'"),
        (
            {"ann": {"age": "31"}},
            r"'age' contains numbers and categories, for example 62 at node 'dan', '31' at node 'ann'",
        ),
        ({"ann": {"plays": "go"}}, r"'plays' contains words and categories"),
        (
            {"ann": {"town": b"Ulm"}},
            r"'town' contains .*a bytes, for example .*b'Ulm' at node 'ann'; expected only numbers, only texts",
        ),
        (
            {"ann": {"plays": [0.5, 1]}},
            r"'plays' contains .*a list of other values, for example .*\[0\.5, 1\] at node 'ann'; expected",
        ),
        ({"dan": {"town": "Jena"}}, r"'town' has a different text for each node, such as 'Jena', .*text\.split\(\)"),
        ({"ann": {"age": -1}}, r"negative"),
    ],
    ids=[
        "None",
        "NaN",
        "lacking",
        "nowhere",
        "once",
        "mixed",
        "word and words",
        "bytes",
        "vector",
        "names",
        "negative",
    ],
)
def test_values_that_cannot_be_encoded_are_refused(changes, message):
    for graph in (people(**changes), in_igraph(people(**changes))):
        with pytest.raises(ValueError, match=message):
            BlockModelSelector(1).fit(graph)


@pytest.mark.parametrize("convert", [lambda graph: graph, in_igraph], ids=["networkx", "igraph"])
def test_nodes_may_lack_categories_and_words_and_with_fill_numbers(convert):
    graph = people(ann={"age": None})
    del graph.nodes["ann"]["town"], graph.nodes["ann"]["member"], graph.nodes["cleo"]["plays"]
    kind = "networkx" if convert(graph) is graph else "igraph"
    read = getattr(AttributedGraph, f"from_{kind}")
    found = read(convert(graph), fill=5)
    assert found.feature_names.tolist() == ["age", "member", "town=Ulm", "plays=chess", "plays=go"]
    assert_array_equal(as_dense(found.features), [[62, 1, 1, 1, 1], [5, 5, 0, 0, 0], [40, 1, 1, 0, 0]])
    assert found.encoding["n_missing"].tolist() == [1, 1, 1, 1]
    texts = read(convert(graph), attributes=["town", "plays"])  # without numbers, fill is not needed
    assert_array_equal(as_dense(texts.features), [[1, 1, 1], [0, 0, 0], [1, 0, 0]])
    with pytest.raises(ParameterError, match=r"fill is nan; expected a finite number"):
        read(convert(graph), fill=np.nan)


def test_a_graph_without_attributes_has_no_features():
    with pytest.raises(ValueError, match=r"a graph; its nodes have no attributes, so pass the features first"):
        BlockModelSelector(1).fit(networkx.path_graph(5))


@pytest.fixture(scope="module")
def network():
    """A planted network as a networkx graph: each node has its words, and the nodes are in an order of their own."""
    planted = easy_network()
    graph = networkx.from_scipy_sparse_array(planted.adjacency)
    columns = [f"words=w{column:02}" for column in range(52)]
    frame = pd.DataFrame(as_dense(planted.features) > 0, columns=columns).astype(float)
    for node in graph:
        graph.nodes[node]["words"] = [name[6:] for name in frame.columns[frame.loc[node] > 0]]
    ordered = networkx.Graph()
    ordered.add_nodes_from(sorted(graph.nodes(data=True), key=lambda one: -one[0]))
    ordered.add_edges_from(graph.edges(data=True))
    return ordered, frame


@pytest.mark.parametrize("convert", [lambda graph: graph, in_igraph], ids=["networkx", "igraph"])
@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_a_fit_to_a_graph_is_that_to_its_features_and_links(network, kind, convert):
    given, frame = network
    graph = convert(given)
    ours = kind(12, **QUICK).fit(graph)
    rows = frame.loc[list(given)]
    same = kind(12, **QUICK).fit(rows, adjacency=given)
    assert_allclose(ours.scores_, same.scores_, rtol=1e-9, atol=1e-12)
    assert_array_equal(ours.labels_, same.labels_)
    assert list(ours.feature_names_in_) == list(frame.columns)
    assert ours.graph_source_ == "adjacency"
    assert ours.encoding_["kind"].tolist() == ["words"]
    assert same.encoding_ is None
    assert_array_equal(as_dense(ours.transform(graph)), rows.to_numpy()[:, ours.support_])
    gc.collect()
    pd.testing.assert_frame_equal(ours.table(), same.table())
    assert ours.show_report() is not None


def test_attributes_are_read_by_other_methods_and_by_discover_features(network):
    given, frame = network
    scores = make_selector("morans-i", 12).fit(given).scores_
    same = make_selector("morans-i", 12).fit(frame.loc[list(given)], adjacency=given)
    assert_allclose(scores, same.scores_, atol=1e-12)
    graph = AttributedGraph.from_networkx(given)
    by_graph = make_selector("morans-i", 12).fit(graph)
    assert_array_equal(by_graph.scores_, scores)
    assert by_graph.transform(graph).shape == (200, 12)
    found, same = (
        discover_features(*given, **kept, n_candidates=2, n_permutations=3, random_state=0)
        for given, kept in (([graph], {}), ([graph.features], {"adjacency": graph.adjacency}))
    )
    assert_array_equal(found.p_values, same.p_values)


@pytest.mark.parametrize("convert", [lambda graph: graph.copy(), in_igraph], ids=["networkx", "igraph"])
def test_blocks_written_by_annotate_are_not_read_as_features(network, convert):
    graph = convert(network[0])
    selector = BlockModelSelector(12, **QUICK).fit(graph)
    selector.annotate(graph)
    again = BlockModelSelector(12, **QUICK).fit(graph)
    assert list(again.feature_names_in_) == list(selector.feature_names_in_)
    assert selector.show_report() is not None  # which reads the graph again
    read = AttributedGraph.from_networkx if isinstance(graph, networkx.Graph) else AttributedGraph.from_igraph
    assert read(graph, attributes=["block"]).feature_names.tolist() == ["block"]  # if asked for


def test_transform_refuses_a_graph_with_other_columns(network):
    given, _ = network
    selector = make_selector("morans-i", 12).fit(given)
    other = given.copy()
    other.nodes[0]["words"] = ["new"]
    with pytest.raises(ValueError, match=r"the Graph does not have the features used in `fit`; .* graph with"):
        selector.transform(other)
