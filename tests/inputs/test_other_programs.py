"""Files written by other programs: networkx, igraph, pandas, Excel (with openpyxl), SNAP and Gephi."""

from __future__ import annotations

import gzip
import json
import logging
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from blockselect import AttributedGraph
from blockselect.inputs import read_attributed_graph, read_features, read_graph
from blockselect.inputs.files import read_label_column

networkx = pytest.importorskip("networkx")

KARATE = networkx.karate_club_graph()
networkx.set_node_attributes(KARATE, {node: float(len(KARATE[node])) for node in KARATE}, "friends")
WRITTEN_BY_NETWORKX = {
    "karate.graphml": networkx.write_graphml,
    "karate.graphml.gz": networkx.write_graphml,
    "karate.gexf": networkx.write_gexf,
    "karate.gml": networkx.write_gml,
    "links.json": lambda graph, path: path.write_text(json.dumps(networkx.node_link_data(graph, edges="links"))),
    "edges.json": lambda graph, path: path.write_text(json.dumps(networkx.node_link_data(graph, edges="edges"))),
}
SNAP = (
    "# Directed graph (each unordered pair of nodes is saved once): p2p-Gnutella08.txt \n"
    "# Directed Gnutella P2P network from August 8 2002\n"
    "# Nodes: 4 Edges: 3\n"
    "# FromNodeId\tToNodeId\n"
    "0\t1\n0\t2\n2\t3\n"
)
FOUR = "id,a,b\n0,1,0\n1,0,2\n2,3,1\n3,0,1\n"


@pytest.fixture
def notes(caplog):
    """The messages of the readers."""
    caplog.set_level(logging.INFO, "blockselect.files")
    return lambda: [record.getMessage() for record in caplog.records]


def written(path, content):
    path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", WRITTEN_BY_NETWORKX)
def test_one_file_of_networkx_is_read_as_the_graph_in_memory(tmp_path, name, notes):
    WRITTEN_BY_NETWORKX[name](KARATE, tmp_path / name)
    read, expected = read_attributed_graph(tmp_path / name), AttributedGraph.from_networkx(KARATE)
    assert_array_equal(read.adjacency.toarray(), expected.adjacency.toarray())
    assert read.node_ids.tolist() == [str(node) for node in KARATE]
    order = [read.feature_names.tolist().index(one) for one in expected.feature_names]
    assert_array_equal(read.features[:, order].toarray(), expected.features.toarray())
    assert set(read.encoding["attribute"]) == {"club", "friends"}
    named = "; left out, as it names the nodes: 'label'" if name.endswith("gexf") else ""
    assert notes() == [f"read 34 nodes from {name}, 2 attributes{named}"]


@pytest.mark.parametrize("name", WRITTEN_BY_NETWORKX)
def test_attributes_can_be_dropped_or_read_as_labels(tmp_path, name, notes):
    WRITTEN_BY_NETWORKX[name](KARATE, tmp_path / name)
    read = read_attributed_graph(tmp_path / name, drop=["club"], one_hot=True)
    assert read.feature_names.tolist() == ["friends"]
    assert f"read 34 nodes from {name}, 1 attribute, 1 dropped" in notes()[0]
    labels = read_label_column(tmp_path / name, "club")
    assert labels.to_dict() == {str(node): club for node, club in KARATE.nodes(data="club")}


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_names_that_igraph_stores_in_an_attribute_are_read(tmp_path, suffix, notes):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(edges=[(0, 1), (1, 2)])
    graph.vs["name"] = ["ann", "bob", "cleo"]
    graph.vs["age"] = [31.0, 35.0, 62.0]
    graph.save(str(tmp_path / f"people.{suffix}"))
    read = read_attributed_graph(tmp_path / f"people.{suffix}")
    assert read.node_ids.tolist() == ["ann", "bob", "cleo"]
    assert_array_equal(read.frame, pd.DataFrame({"age": graph.vs["age"]}))
    assert_array_equal(read.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert ("nodes of people.graphml are identified by their attribute 'name', as in igraph" in notes()) == (
        suffix == "graphml"
    )


def test_attributes_are_left_out_if_there_is_a_feature_file(tmp_path, notes):
    networkx.write_gexf(KARATE, tmp_path / "karate.gexf")
    pd.DataFrame({"a": 1.0}, index=pd.Index(range(34), name="id")).to_csv(tmp_path / "f.csv")
    assert read_attributed_graph(tmp_path / "f.csv", tmp_path / "karate.gexf").feature_names.tolist() == ["a"]
    assert notes() == [
        "left out attributes of nodes in karate.gexf, because the features come from another file: 'club', 'friends'"
    ]


def test_numeric_ids_are_kept_if_nodes_also_have_names(tmp_path):
    graph = networkx.path_graph(2)
    networkx.set_node_attributes(graph, {0: "ann", 1: "bob"}, "name")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    assert list(read_graph(tmp_path / "g.graphml")) == ["0", "1"]


GEPHI = """<?xml version='1.0' encoding='UTF-8'?>
<gexf xmlns="http://gexf.net/1.3" version="1.3" xmlns:viz="http://gexf.net/1.3/viz">
  <graph defaultedgetype="directed">
    <attributes class="node"><attribute id="age" title="age" type="integer"/></attributes>
    <nodes>
      <node id="a" label="Ann"><attvalues><attvalue for="age" value="31"/></attvalues><viz:size value="10.0"/></node>
      <node id="b" label="Bob"><attvalues><attvalue for="age" value="35"/></attvalues><viz:size value="10.0"/></node>
    </nodes>
    <edges><edge id="0" source="a" target="b" weight="2.0"/></edges>
  </graph>
</gexf>
"""


def test_drawing_settings_of_gephi_are_not_features(tmp_path, notes):
    read = read_attributed_graph(written(tmp_path / "g.gexf", GEPHI))
    assert (read.feature_names.tolist(), read.node_ids.tolist()) == (["age"], ["a", "b"])
    assert read.adjacency[0, 1] == 2
    assert notes()[0] == "links of g.gexf have directions, which are ignored"
    assert read_attributed_graph(tmp_path / "g.gexf", id_column="label").node_ids.tolist() == ["Ann", "Bob"]


def test_missing_numbers_of_nodes_are_filled_on_request(tmp_path, notes):
    graph = networkx.path_graph(3)
    graph.nodes[0]["age"], graph.nodes[2]["age"] = 5, 6
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(
        ValueError, match=r"1 of 3 nodes have no value for the attribute 'age', .* fill=0, or .*drop=\[NAME\]"
    ):
        read_attributed_graph(tmp_path / "g.graphml")
    assert read_attributed_graph(tmp_path / "g.graphml", fill=2).features[:, 0].tolist() == [5, 2, 6]
    assert "filled 'age' of 1 node with 2" in notes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"drop": ["club", "friends"]}, "no attributes other than club, friends to use as features"),
        ({"drop": ["clubs"]}, r"no column is called 'clubs'.*Did you mean club\?"),
        ({"id_column": "club"}, "'club' does not identify the nodes"),
        ({"transpose": True}, "transpose is for matrices and tables"),
    ],
)
def test_settings_that_do_not_fit_the_attributes_are_refused(tmp_path, settings, message):
    networkx.write_graphml(KARATE, tmp_path / "karate.graphml")
    with pytest.raises(ValueError, match=message):
        read_attributed_graph(tmp_path / "karate.graphml", **settings)


def test_an_attribute_that_cannot_be_encoded_can_be_dropped(tmp_path):
    graph = networkx.path_graph(3)
    networkx.set_node_attributes(graph, {0: 1, 1: "x", 2: "x"}, "mixed")
    path = written(tmp_path / "g.json", json.dumps(networkx.node_link_data(graph)))
    with pytest.raises(ValueError, match=r"g\.json: the attribute 'mixed' contains .*leave this attribute out: drop="):
        read_attributed_graph(path)


def test_a_file_without_links_is_not_enough(tmp_path):
    with pytest.raises(ValueError, match=r"f\.csv has the suffix '\.csv'; expected one of \.graphml, \.gexf"):
        read_attributed_graph(written(tmp_path / "f.csv", FOUR))
    with pytest.raises(ValueError, match=r"g\.json: it has no lists named nodes and links"):
        read_graph(written(tmp_path / "g.json", '{"a": 1}'))


@pytest.mark.parametrize("name", ["p2p.txt", "p2p.txt.gz", "p2p.csv", "p2p.edgelist"])
def test_edges_of_snap_are_recognised(tmp_path, name, notes):
    path = written(tmp_path / name, gzip.compress(SNAP.encode()) if name.endswith("gz") else SNAP)
    graph = read_attributed_graph(written(tmp_path / "f.csv", FOUR), path)
    assert_array_equal(graph.adjacency.toarray(), [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]])
    said = f"read {name} as edges without a header: source and target, tabs between them, below 4 lines of comments"
    assert notes() == ([] if name.endswith("edgelist") else [said])


@pytest.mark.parametrize(
    "lines", ["0,1\n2,3\n", "0 1\n2 3\n", "% bip unweighted\n0 1\n2 3\n", "0;1\n2;3\n", "\n0\t1\n2\t3"]
)
def test_numbers_are_not_a_header_of_edges(tmp_path, lines):
    edges = read_graph(written(tmp_path / "e.txt", lines))
    assert edges.to_dict("list") == {"source": ["0", "2"], "target": ["1", "3"]}


def test_names_are_a_header_of_edges_unless_separated_by_blanks_or_header_is_false(tmp_path):
    path = written(tmp_path / "e.csv", "ann,bob\nbob,C#\n")
    assert read_graph(path).columns.tolist() == ["ann", "bob"]
    assert read_graph(path, header=False)["target"].tolist() == ["bob", "C#"]
    assert read_graph(written(path, "source,target\nann,bob\n"), header=False).shape == (1, 2)
    assert read_graph(written(path, "ann bob\nbob C#\n"))["target"].tolist() == ["bob", "C#"]


def test_a_third_column_without_a_name_is_a_weight_only_on_request(tmp_path):
    features, edges = written(tmp_path / "f.csv", FOUR), written(tmp_path / "e.txt", "0 1 1082040961\n2 3 1082155839\n")
    with pytest.raises(ValueError, match=r"edge column '2' contains numbers but is not called weight.*weight='2'"):
        read_attributed_graph(features, edges)
    assert read_attributed_graph(features, edges, weight=False).n_links == 2
    assert read_attributed_graph(features, edges, weight="2").adjacency[0, 1] == 1082040961


def test_the_edges_that_networkx_writes_with_attributes_are_read(tmp_path):
    networkx.write_edgelist(KARATE, tmp_path / "karate.edgelist")
    assert networkx.utils.edges_equal(
        read_graph(tmp_path / "karate.edgelist").edges, [(str(u), str(v)) for u, v in KARATE.edges]
    )


FRAME = pd.DataFrame({"id": ["007", "NA", "x"], "red": [1.5, 0.0, 2.0], "blue": [0, 3, 4]})


def test_excel_is_read_as_pandas_wrote_it(tmp_path, notes):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "f.xlsx") as book:
        FRAME.to_excel(book, sheet_name="words", index=False)
        FRAME.to_excel(book, sheet_name="more", index=False)
    table = read_features(tmp_path / "f.xlsx")
    assert list(table.node_ids) == ["007", "NA", "x"]
    assert_array_equal(table.matrix, FRAME[["red", "blue"]])
    assert notes() == ["read the first of 2 sheets of f.xlsx, 'words'"]


def test_excel_is_read_as_openpyxl_wrote_it(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    for name, rows in {
        "f.xlsx": [["id", "a", "kind"], [1, 2.5, "x"], [2, None, "x"], [3, 4, "y"], [None, None, None]],
        "e.xlsx": [["from", "to"], [1, 2], [3, 1]],
    }.items():
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / name)
    with pytest.raises(
        ValueError, match=r"f\.xlsx: row 2 \('2'\), column 'a' is empty \(1 empty cell in total\); give fill=0"
    ):
        read_features(tmp_path / "f.xlsx", one_hot=True)
    graph = read_attributed_graph(tmp_path / "f.xlsx", tmp_path / "e.xlsx", one_hot=True, fill=0)
    assert graph.node_ids.tolist() == ["1", "2", "3"]
    assert_array_equal(graph.features, [[2.5, 1, 0], [0, 1, 0], [4, 0, 1]])
    assert_array_equal(graph.adjacency.toarray()[0], [0, 1, 1])


@pytest.mark.parametrize(("first", "header"), [([1, 2], True), ([1, 2], False), (["Source", "Target"], False)])
def test_the_first_row_of_excel_may_be_an_edge(tmp_path, first, header):
    pytest.importorskip("openpyxl")
    pd.DataFrame([first, [3, 1]]).to_excel(tmp_path / "e.xlsx", index=False, header=False)
    assert len(read_graph(tmp_path / "e.xlsx", header=header)) == (2 if first == [1, 2] else 1)


def test_excel_keeps_fifteen_digits_and_may_name_columns_twice(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    for rows, message in (
        ([["id", "a"], [1234567890123456000, 1], [2, 2]], "more than 15 digits.*format the id column as text"),
        ([["id", "a", "a"], ["x", 1, 2]], r"'a' \(features 1, 2\); rename all but one .* drop=\['a'\]"),
        ([["id"], ["x"]], "has no table"),
    ):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "f.xlsx")
        with pytest.raises(ValueError, match=message):
            read_features(tmp_path / "f.xlsx")


def test_excel_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"an \.xlsx file needs openpyxl; .*'blockselect\[excel\]'"):
        read_features(written(tmp_path / "f.xlsx", "any"))


def test_pandas_writes_decimal_commas_empty_cells_and_no_header(tmp_path, notes):
    frame = FRAME.assign(red=[1.5, np.nan, 2.0])
    frame.to_csv(tmp_path / "f.csv", sep=";", decimal=",", index=False, header=False)
    table = read_features(tmp_path / "f.csv", decimal=",", header=False, fill=7)
    assert list(table.node_ids) == ["007", "NA", "x"]
    assert list(table.feature_names) == ["1", "2"]
    assert_array_equal(table.matrix, [[1.5, 0], [7, 3], [2, 4]])
    assert notes() == [
        "read f.csv without a header: ids in column 0; features are named by their column number, from 0",
        "filled 1 empty cell with 7",
    ]
    with pytest.raises(ValueError, match=r"column '1' contains '1,5'.*give decimal=',' if commas are"):
        read_features(tmp_path / "f.csv", header=False)
    pd.DataFrame({"source": ["x"], "target": ["NA"], "weight": [2.5]}).to_csv(
        tmp_path / "e.csv", sep=";", decimal=",", index=False
    )
    assert read_graph(tmp_path / "e.csv", decimal=",")["weight"].tolist() == ["2.5"]


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "null"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_missing_numbers_are_named_or_filled(tmp_path, missing, suffix):
    frame = pd.DataFrame({"id": ["x", "y"], "a": [1.0, np.nan], "b": [2, 3]})
    path = tmp_path / f"f.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False, na_rep=missing)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    with pytest.raises(ValueError, match=r"row 2 \('y'\), column 'a' is empty .*; give fill=0 to read"):
        read_features(path)
    assert_array_equal(read_features(path, fill=0).matrix, [[1, 2], [0, 3]])


def test_a_table_without_a_header_has_ids_only_on_request(tmp_path):
    np.savetxt(tmp_path / "f.csv", [[0.5, 1], [2, 0]], delimiter=",")
    with pytest.raises(ValueError, match=r"looks like data.*give header=False"):
        read_features(tmp_path / "f.csv")
    table = read_features(tmp_path / "f.csv", header=False)
    assert table.node_ids is None
    assert_array_equal(table.matrix, [[0.5, 1], [2, 0]])
    path = written(tmp_path / "g.csv", "07,1\n8,0\n")
    with pytest.raises(ValueError, match=r"the first column '0' contains a different whole number.*id_column='0'"):
        read_features(path, header=False)
    assert list(read_features(path, header=False, id_column="0").node_ids) == ["07", "8"]


def test_short_rows_are_refused_even_with_fill(tmp_path):
    with pytest.raises(ValueError, match=r"line 3 has 2 cell\(s\), but the first line has 3"):
        read_features(written(tmp_path / "f.csv", "id,a,b\nx,1,\ny,1\n"), fill=0)


def test_columns_of_one_name_are_refused_unless_dropped(tmp_path):
    path = written(tmp_path / "f.csv", "id,a,b,a\nx,1,2,3\ny,4,5,6\n")
    with pytest.raises(ValueError, match=r"2 columns are called 'a' \(features 1, 3\); rename .*drop=\['a'\]"):
        read_features(path)
    assert list(read_features(path, drop=["a"]).feature_names) == ["b"]


@pytest.mark.parametrize(
    ("settings", "message"), [({"decimal": ";"}, "decimal is ';'"), ({"fill": np.nan}, "fill is nan")]
)
def test_invalid_settings_are_refused(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        read_features(written(tmp_path / "f.csv", FOUR), **settings)


@pytest.mark.parametrize("name", ["A.csv", "A.tsv", "A.csv.gz"])
def test_an_adjacency_of_pandas_names_its_nodes(tmp_path, name, notes):
    nodes = [*KARATE][::-1]
    adjacency = networkx.to_pandas_adjacency(KARATE, nodelist=nodes).rename(index="n{}".format, columns="n{}".format)
    adjacency.to_csv(tmp_path / name, sep="\t" if "tsv" in name else ",")
    pd.DataFrame({"a": 1.0}, index=[f"n{node}" for node in KARATE]).to_csv(tmp_path / "f.csv")
    read = read_attributed_graph(tmp_path / "f.csv", tmp_path / name)
    assert_array_equal(read.adjacency.toarray(), networkx.to_numpy_array(KARATE))  # matched by name
    assert notes() == [f"read {name} as an adjacency matrix of 34 nodes"]


@pytest.mark.parametrize("mark", [",", " ", ";"])
def test_an_adjacency_of_numpy_has_the_order_of_the_features(tmp_path, mark, notes):
    matrix = networkx.to_numpy_array(KARATE) / 2
    decimal = "," if mark == ";" else "."
    lines = (mark.join(f"{cell:g}".replace(".", decimal) for cell in row) for row in matrix)
    path = written(tmp_path / "A.txt", "\n".join(["# friends", *lines, ""]))
    assert_array_equal(read_graph(path, decimal=decimal).toarray(), matrix)
    assert notes() == ["read A.txt as an adjacency matrix without names: nodes are in the order of the features"]


def test_a_square_table_whose_rows_and_columns_differ_is_not_an_adjacency(tmp_path):
    with pytest.raises(ValueError, match=r"an edge table needs the columns source, target"):
        read_graph(written(tmp_path / "A.csv", ",a,b,c\na,0,1,0\nc,0,1,0\nb,1,0,1\n"))
    pd.DataFrame({"f": 1}, index=[*"abc"]).to_csv(tmp_path / "f.csv")
    path = written(tmp_path / "A.csv", ",a,b,c\na,0,,0\nb,0,1,0\nc,1,0,1\n")
    with pytest.raises(ValueError, match=r"weight that is not a finite number"):
        read_attributed_graph(tmp_path / "f.csv", path)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_row_numbers_of_pandas_are_not_weights(tmp_path, suffix, notes):
    edges = pd.DataFrame({"source": ["0", "2"], "target": ["1", "3"]})
    getattr(edges, {"csv": "to_csv", "xlsx": "to_excel"}[suffix])(tmp_path / f"e.{suffix}")
    assert read_graph(tmp_path / f"e.{suffix}").to_dict("list") == edges.to_dict("list")
    assert notes() == [f"left out the first column of e.{suffix}, which has no name"]


@pytest.mark.parametrize("lines", ["source,target,weight\n0,1,0.5\n", "source;target;weight\n0;1;0,5\n", "0 1 0,5\n"])
def test_decimal_commas_do_not_change_what_separates_the_cells_of_links(tmp_path, lines):
    assert read_graph(written(tmp_path / "e.csv", lines), decimal=",").iloc[0].tolist() == ["0", "1", "0.5"]


def test_arrays_of_numpy_in_one_file_are_chosen_by_name(tmp_path):
    np.savez(tmp_path / "n.npz", y=np.zeros(3), A=np.ones((3, 3)), X=np.eye(3))
    assert_array_equal(read_features(tmp_path / "n.npz").matrix, np.eye(3))
    assert_array_equal(read_graph(tmp_path / "n.npz").toarray(), np.ones((3, 3)))
    np.savez(tmp_path / "n.npz", one=np.eye(3), two=np.eye(3))
    with pytest.raises(ValueError, match=r"it contains the matrices \['one', 'two'\], but none called features"):
        read_features(tmp_path / "n.npz")


def test_the_error_suggests_numbering_rows_without_ids(tmp_path):
    table = written(tmp_path / "f.csv", "a,b\n0,1\n1,0\n0,1\n")
    with pytest.raises(ValueError, match=r"name it with id_column; if none does, number the rows in a first column"):
        read_attributed_graph(table, written(tmp_path / "e.csv", "source,target\n0,1\n1,2\n"))
