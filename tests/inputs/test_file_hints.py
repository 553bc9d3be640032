"""Two files that do not fit together: the error names the parameter that helps."""

from __future__ import annotations

import pytest

from blockselect.inputs import read_attributed_graph

FEATURES = "id,a,b,c\nann,1,0,2\nbob,0,1,2\ncleo,1,1,0\n"
EDGES = "source,target\nann,bob\nbob,cleo\n"


@pytest.fixture
def message(tmp_path):
    """The error of reading these two texts as files."""

    def read(features, edges, *, names=("features.csv", "edges.csv"), **settings):
        paths = [tmp_path / name for name in names]
        for path, text in zip(paths, (features, edges), strict=True):
            path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError) as caught:  # noqa: PT011  (the message is returned)
            read_attributed_graph(*paths, **settings)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return read


def test_unknown_nodes_can_be_dropped(message):
    text = message(FEATURES, EDGES + "cleo,dan\n")
    assert "1 node(s) of the edge table have no row in features, for example ['dan']" in text
    assert text.endswith("To leave out the links of nodes without features, give unknown_nodes='drop'.")


def test_links_of_nodes_that_are_all_unknown_are_not_dropped(message):
    assert "unknown_nodes" not in message(FEATURES, "source,target\nx,y\n")


@pytest.mark.parametrize("weight", ["", ",weight"])
def test_swapped_files_are_recognised(message, weight):
    edges = EDGES.replace("target", f"target{weight}").replace("bob\n", "bob,1\n" if weight else "bob\n")
    edges = edges.replace("cleo\n", "cleo,2\n" if weight else "cleo\n")
    assert message(edges, FEATURES, names=("edges.csv", "features.csv")) == (
        "edges.csv contains links and features.csv contains features, so the two files are swapped; read features.csv "
        "as the features and edges.csv as the graph."
    )


def test_swapped_files_are_recognised_if_nodes_are_numbers(message):
    features = "id,a,b,c\n0,1,0,2\n1,0,1,2\n2,1,1,0\n"
    edges = "from,to\n0,1\n1,2\n"
    assert "are swapped" in message(edges, features, names=("edges.csv", "features.csv"))


def test_a_graph_format_in_place_of_features_is_recognised_as_swapped(message):
    assert "are swapped" in message("ann bob\n", FEATURES, names=("edges.edgelist", "features.csv"))


def test_other_mistakes_are_not_called_swapped(message):
    assert "swapped" not in message("id,a\n0,1\n1,0\n", "from,to,since\n0,1,2020\n1,0,2021\n")
    assert "swapped" not in message("id,a\n0,1\n1,0\n", "source,target\n0,1\n1,7\n")
    assert "swapped" not in message("id,a\n0,x\n1,0\n", "a,b\n0,1\n1,0\n")


@pytest.mark.parametrize("second", [40, 1], ids=["no row number is an end", "a row number is an end"])
def test_ids_in_another_column_are_found(message, second):
    text = message(f"row,paper,a\n0,1000035,1\n1,{second},0\n2,77,1\n", f"source,target\n1000035,{second}\n77,77\n")
    assert text.endswith("The links name the nodes by the column 'paper' of the features; give id_column='paper'.")


def test_a_column_with_duplicates_does_not_contain_ids(message):
    assert "give id_column" not in message("name,n,a\nx,1,1\ny,1,0\nz,2,1\n", "source,target\n1,2\n")
    text = message("team,a,b\nred,1,0\nred,0,1\nblue,1,1\n", "source,target\nred,blue\nred,green\n")
    assert "If another column of the features contains the ids of the nodes, name it with id_column; if none" in text


def test_a_table_with_nodes_in_columns_is_found(message):
    text = message("gene,ann,bob,cleo\na,1,0,1\nb,0,1,1\n", EDGES)
    assert text.endswith("The graph fits the columns of the features; if nodes are in columns, give transpose=True.")
