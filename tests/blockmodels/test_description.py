"""A block is described by its size, its links, the features that mark it, and typical nodes."""

from __future__ import annotations

import pickle

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect import BMGUFS, BlockModelSelector
from blockselect.blockmodels.markers import block_markers
from blockselect.utils.wording import count
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


def test_all_markers_are_listed_by_evidence_with_intervals_above_one(network, selector):
    table, markers = selector.table().set_index("column", drop=False), block_markers(network.features, selector.labels_)
    for block in range(3):
        found = selector.describe_block(block).markers
        assert_array_equal(found["column"], markers.features_of(block))
        assert found["evidence"].is_monotonic_decreasing
        in_order = table.loc[found["column"]]
        for column in ("feature", "rank", "selected", "prevalence"):
            assert_array_equal(found[column], in_order[column])
        assert_allclose(found["lift"], markers.lift[block, found["column"]])
        assert (found["lift_low"] > 1).all()
        assert ((found["lift_low"] < found["lift"]) & (found["lift"] < found["lift_high"])).all()


def test_the_table_counts_all_blocks_that_a_feature_marks(network, selector):
    table = selector.table().sort_values("column")
    marks = block_markers(network.features, selector.labels_).marks
    assert_array_equal(table["n_marked_blocks"], marks.sum(axis=0))
    assert_array_equal(table["marked_block"].isna(), ~marks.any(axis=0))
    named = table.dropna(subset="marked_block")
    assert_array_equal(named["block_name"], selector.blocks_["name"].loc[named["marked_block"]])


def test_blocks_are_listed_with_what_each_of_them_is(network, selector):
    blocks = selector.blocks_
    assert blocks.index.tolist() == [0, 1, 2]
    assert blocks["name"].is_unique
    assert blocks["size"].tolist() == selector.block_model_.block_sizes.tolist()
    for block, row in blocks.iterrows():
        found = selector.describe_block(row["name"])
        assert found.block == block
        assert row["share_within"] == found.share_within
        assert row["markers"] == ", ".join(found.markers.query("selected")["feature"].head(5))
        assert row["other_markers"] == ", ".join(found.markers.query("not selected")["feature"].head(5))
        others = found.links.query("block != @block")
        assert row["linked_to"] == ", ".join(blocks["name"].loc[others["block"]][:3])
        assert row["typical_nodes"] == ", ".join(map(str, found.typical_nodes))
        assert row["stability"] == found.stability or np.isnan(row["stability"])


def test_blocks_that_were_given_by_name_keep_their_names(network, selector):
    given = np.array(["T cells", "B cells", "NK"])[selector.labels_]
    by_name = BlockModelSelector(12, block_model=given).fit(network.features, adjacency=network.adjacency)
    assert by_name.blocks_["name"].tolist() == ["B cells", "NK", "T cells"]
    assert by_name.describe_block("NK").size == np.count_nonzero(given == "NK")
    by_number = BlockModelSelector(12, block_model=selector.labels_).fit(network.features, adjacency=network.adjacency)
    assert set(by_number.blocks_["name"]) <= set(by_number.table()["feature"])


def test_predicted_blocks_may_be_names(network, selector):
    by_number, by_name = (selector.predict(network.features[:30], as_names=names) for names in (False, True))
    assert_array_equal(by_name, selector.blocks_["name"].loc[by_number])


def test_typical_nodes_are_named_if_nodes_have_names(network, selector):
    typical = selector.describe_block(1).typical_nodes
    assert (selector.labels_[typical] == 1).all()
    named = pd.DataFrame(network.features.toarray(), index=[f"node {i}" for i in range(200)])
    again = fit(network).fit(named, adjacency=network.adjacency)
    assert again.describe_block(1).typical_nodes == [f"node {i}" for i in typical]


def test_text_and_html_say_the_same_and_escape_names(network):
    names = [f"<b>{i}" for i in range(52)]
    frame = pd.DataFrame(network.features.toarray(), columns=names)
    selector = fit(network).fit(frame, adjacency=network.adjacency)
    found = selector.describe_block(selector.table()["marked_block"].dropna().iloc[0])
    text, html = repr(found), found._repr_html_()
    first = found.markers["feature"][0]
    assert text.startswith(f"Block {found.block}, {found.name}: {found.size} of 200 nodes (")
    assert f"Marked by {count(len(found.markers), 'feature')}, " in text
    assert f"{first}  " in text
    assert "Links to other blocks, with the ratio to random links: " in text
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
    assert repr(found) == "Block 2, block 2: 1 of 4 nodes (25 %); no links.\nNo feature marks it.\nTypical nodes: 3."
    assert "<table" not in found._repr_html_()


def test_an_unknown_name_is_refused_with_a_near_one(selector):
    name = selector.blocks_["name"][1]
    with pytest.raises(ValueError, match=f"not a name in blocks_; did you mean .*'{name}'"):
        selector.describe_block(f"{name} ")


@pytest.mark.parametrize("block", [-1, 3, 1.0])
def test_a_block_that_is_not_there_is_refused(selector, block):
    with pytest.raises(ValueError, match=r"block is .*; expected a whole number, from 0 to 2\."):
        selector.describe_block(block)


def test_blocks_are_written_to_graphs_of_networkx_and_igraph(network, selector):
    labels = selector.labels_.tolist()
    graph = nx.from_scipy_sparse_array(network.adjacency)
    assert selector.annotate(graph) is graph
    assert [graph.nodes[node]["block"] for node in range(200)] == labels
    names = selector.blocks_["name"].loc[labels].tolist()
    assert [graph.nodes[node]["block_name"] for node in range(200)] == names
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
    with pytest.raises(ValueError, match=r"graph is of type .*; expected a networkx or igraph graph"):
        selector.annotate(network.adjacency)
