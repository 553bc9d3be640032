"""A block is described by its size, its links, the features that mark it, and typical nodes."""

from __future__ import annotations

import pickle

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest

from blockselect import BMGUFS, BlockModelSelector
from blockselect.blockmodels.description import lift_interval
from made_fits import fit


@pytest.fixture
def selector(fitted):
    return fitted


def test_links_are_shares_densities_and_ratios_to_random_links_with_the_same_degrees(network, selector):
    A, labels = network.adjacency.toarray(), selector.labels_
    degrees = A.sum(axis=1)
    for block in range(3):
        found = selector.describe_block(block)
        assert (found.block, found.size, found.n_nodes) == (block, np.count_nonzero(labels == block), 200)
        assert found.links["share"].is_monotonic_decreasing
        for row in found.links.to_dict("records"):
            inside, outside = labels == block, labels == row["block"]
            weight, ends = A[inside][:, outside].sum(), degrees[inside].sum()
            assert row["share"] == pytest.approx(weight / ends)
            assert row["density"] == pytest.approx(weight / (inside.sum() * outside.sum()))
            assert row["relative_density"] == pytest.approx(weight / (ends * degrees[outside].sum() / degrees.sum()))
        assert found.share_within == pytest.approx(A[labels == block][:, labels == block].sum() / ends)


def test_all_markers_are_named_with_their_lift_and_an_interval(selector):
    table = selector.table().set_index("column", drop=False)
    for block in range(3):
        markers = selector.describe_block(block).markers
        marking = table[table["marked_block"] == block]
        assert sorted(markers["column"]) == sorted(marking["column"])
        assert not markers["selected"].all()
        in_order = table.loc[markers["column"]]
        for column in ("feature", "rank", "selected", "lift", "prevalence"):
            assert_array_equal(markers[column], in_order[column])
        assert ((markers["lift_low"] < markers["lift"]) & (markers["lift"] < markers["lift_high"])).all()


@pytest.mark.parametrize(("inside", "holders"), [(1, 7), (3, 40), (40, 40), (12, 13)])
def test_the_interval_is_that_of_clopper_and_pearson(inside, holders):
    low, high = lift_interval(np.array([inside / holders / 0.25]), np.array([float(holders)]), share=0.25)
    slow = binomtest(inside, holders).proportion_ci(0.95, method="exact")
    assert_allclose([low[0], high[0]], [slow.low / 0.25, slow.high / 0.25], rtol=1e-9)


def test_typical_nodes_are_named_if_nodes_have_names(network, selector):
    A, labels = network.adjacency.toarray(), selector.labels_
    within = np.where(labels[:, None] == labels, A, 0).sum(axis=1)
    members = np.flatnonzero(labels == 1)
    most = members[np.argsort(-within[members], kind="stable")][:5].tolist()
    assert selector.describe_block(1).typical_nodes == most
    named = pd.DataFrame(network.features.toarray(), index=[f"node {i}" for i in range(200)])
    again = fit(network).fit(named, adjacency=network.adjacency)
    assert again.describe_block(1).typical_nodes == [f"node {i}" for i in most]


def test_text_and_html_say_the_same_and_escape_names(network):
    names = [f"<b>{i}" for i in range(52)]
    frame = pd.DataFrame(network.features.toarray(), columns=names)
    selector = BMGUFS(12, n_blocks=3, n_candidates=3, random_state=0).fit(frame, adjacency=network.adjacency)
    found = selector.describe_block(0)
    text, html = repr(found), found._repr_html_()
    first = found.markers["feature"][0]
    assert text.startswith(f"Block 0: {found.size} of 200 nodes (")
    assert f"Marked by {len(found.markers)} features, " in text
    assert f"{first}  " in text
    assert "Other links, and how many times as many as expected: " in text
    assert "Typical nodes: " in text
    assert first not in html
    assert first.replace("<", "&lt;").replace(">", "&gt;") in html
    assert "nodes (" in html


def test_a_block_without_links_or_markers_is_described():
    features, adjacency = np.eye(4)[:, :3] + [[1, 0, 0]] * 4, np.zeros((4, 4))
    adjacency[0, 1] = adjacency[1, 0] = 1
    selector = BMGUFS(1, block_model=[0, 0, 1, 2], random_state=0).fit(features, adjacency=adjacency)
    found = selector.describe_block(2)
    assert found.share_within is None
    assert found.links.empty
    assert repr(found) == "Block 2: 1 of 4 nodes (25 %); no links.\nNo feature marks it."
    assert "<table" not in found._repr_html_()


@pytest.mark.parametrize("block", [-1, 3, 1.0, "1"])
def test_a_block_that_is_not_there_is_refused(selector, block):
    with pytest.raises(ValueError, match=r"block is .*; expected a whole number, from 0 to 2\."):
        selector.describe_block(block)


def test_blocks_are_written_to_graphs_of_networkx_and_igraph(network, selector):
    labels = selector.labels_.tolist()
    graph = nx.from_scipy_sparse_array(network.adjacency)
    assert selector.annotate(graph) is graph
    assert [graph.nodes[node]["block"] for node in range(200)] == labels
    other = igraph.Graph.from_networkx(graph)
    assert selector.annotate(other, attribute="of").vs["of"] == labels
    bare = igraph.Graph(200, edges=list(graph.edges()))
    assert selector.annotate(bare).vs["block"] == labels


def test_nodes_are_matched_by_name_whatever_their_order(network):
    ids = [f"n{i}" for i in range(200)]
    graph = nx.relabel_nodes(nx.from_scipy_sparse_array(network.adjacency), dict(enumerate(ids)))
    shuffled = nx.Graph()
    shuffled.add_nodes_from(["further", *reversed(ids)])
    shuffled.add_edges_from(graph.edges())
    frame = pd.DataFrame(network.features.toarray(), index=ids)
    selector = BlockModelSelector(12, n_blocks=3, n_candidates=3, random_state=0).fit(frame, adjacency=graph)
    selector.annotate(shuffled)
    assert [shuffled.nodes[name]["block"] for name in ids] == selector.labels_.tolist()
    assert "block" not in shuffled.nodes["further"]
    other = selector.annotate(igraph.Graph.from_networkx(shuffled))
    assert other.vs["block"] == [None, *reversed(selector.labels_.tolist())]
    shuffled.remove_node("n3")
    with pytest.raises(ValueError, match=r"the rows of the fit include \['n3'\], which the graph does not have"):
        selector.annotate(shuffled)
    pickle.loads(pickle.dumps(selector)).annotate(graph)
    assert [graph.nodes[name]["block"] for name in ids] == selector.labels_.tolist()


def test_graphs_that_cannot_be_matched_or_annotated_are_refused(network, selector):
    named = nx.relabel_nodes(nx.from_scipy_sparse_array(network.adjacency), str)
    with pytest.raises(ValueError, match=r"rows of the fit are numbered 0, 1, …; name the node of each row"):
        selector.annotate(named)
    assert selector.annotate(named, nodes=list(named)).nodes["7"]["block"] == selector.labels_[7]
    with pytest.raises(ValueError, match=r"nodes has 2 entries for 200 nodes"):
        selector.annotate(named, nodes=["0", "1"])
    with pytest.raises(ValueError, match=r"graph is of type .*; expected a graph of networkx or igraph"):
        selector.annotate(network.adjacency)
