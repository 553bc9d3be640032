"""Tables as people have them: ids in any column, columns to leave out, and text that becomes indicators."""

from __future__ import annotations

import pandas as pd
import pytest

from blockselect.graphs import read_features

PEOPLE = "age,name,team,city\n31,ann,red,Rome\n47,bob,blue,\n28,cleo,red,Oslo\n"


@pytest.fixture(params=["csv", "parquet"])
def people(request, tmp_path):
    """The same table as a file of text and as a stored frame."""
    text = tmp_path / "people.csv"
    text.write_text(PEOPLE, encoding="utf-8")
    if request.param == "csv":
        return text
    pytest.importorskip("pyarrow")
    pd.read_csv(text).to_parquet(tmp_path / "people.parquet", index=False)
    return tmp_path / "people.parquet"


def test_ids_may_be_in_any_column(people):
    table = read_features(people, id_column="name", drop=["team", "city"])
    assert list(table.node_ids) == ["ann", "bob", "cleo"]
    assert list(table.feature_names) == ["age"]


def test_text_becomes_indicators_and_an_empty_cell_has_none(people):
    table = read_features(people, id_column="name", one_hot=True)
    assert list(table.feature_names) == ["age", "team=blue", "team=red", "city=Oslo", "city=Rome"]
    assert pd.DataFrame(table.matrix).to_numpy().tolist() == [[31, 0, 1, 0, 1], [47, 1, 0, 0, 0], [28, 0, 1, 1, 0]]


def test_ids_of_numbers_stay_as_they_are_written(tmp_path):
    (tmp_path / "f.csv").write_text("a,id\n1,007\n2,7\n", encoding="utf-8")
    assert read_features(tmp_path / "f.csv", id_column="id").node_ids.tolist() == ["007", "7"]


def test_row_numbers_that_pandas_wrote_are_no_feature(tmp_path):
    (tmp_path / "f.csv").write_text(",a,id\n0,1,x\n1,2,y\n", encoding="utf-8")
    assert read_features(tmp_path / "f.csv", id_column="id").feature_names.tolist() == ["a"]
    (tmp_path / "g.csv").write_text(",a\nx,1\ny,2\n", encoding="utf-8")
    assert read_features(tmp_path / "g.csv").node_ids.tolist() == ["x", "y"]


def test_an_index_that_pandas_stored_is_named_as_a_column_is(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="node")).to_parquet(tmp_path / "f.parquet")
    assert list(read_features(tmp_path / "f.parquet", id_column="node").node_ids) == ["x", "y"]


@pytest.mark.parametrize(("index", "column"), [("node", "node"), (None, "None")])
def test_a_stored_index_may_share_its_name_with_a_feature(tmp_path, index, column):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2], column: [3, 4]}, index=pd.Index(["x", "y"], name=index))
    file = tmp_path / "f.parquet"
    frame.to_parquet(file)
    table = read_features(file)
    assert list(table.node_ids) == ["x", "y"]
    assert list(table.feature_names) == ["a", column]
    assert pd.DataFrame(table.matrix).to_numpy().tolist() == [[1, 3], [2, 4]]
    assert list(read_features(file, drop=[column]).feature_names) == ["a"]


@pytest.mark.parametrize("settings", [{"id_column": "nam"}, {"id_column": "name", "drop": ["nam"]}])
def test_an_unknown_column_is_refused_with_a_guess(people, settings):
    with pytest.raises(ValueError, match=r"no column is called 'nam'; known are: age, name, .* Did you mean name\?"):
        read_features(people, **settings)


def test_the_ids_are_not_dropped_and_something_is_left(people):
    with pytest.raises(ValueError, match="'name' holds the ids of the nodes and cannot be dropped"):
        read_features(people, id_column="name", drop=["name"])
    with pytest.raises(ValueError, match="no column is left that could hold features"):
        read_features(people, id_column="name", drop=["age", "team", "city"])


def test_text_that_names_nodes_is_not_made_indicators(people):
    with pytest.raises(ValueError, match=r"'name' has 3 different texts in 3 rows.*--drop name.*--id-column name"):
        read_features(people, id_column="team", one_hot=True, drop=["city"])


def test_a_word_among_numbers_is_a_mistake_also_where_text_is_encoded(tmp_path):
    (tmp_path / "f.csv").write_text("id,a\nx,1\ny,2\nz,unknown\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"column 'a' holds 'unknown'.*fill in a number.*--drop a"):
        read_features(tmp_path / "f.csv", one_hot=True)


def test_an_error_about_text_names_the_cures(tmp_path):
    (tmp_path / "f.csv").write_text(PEOPLE, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"holds 'ann'.*--drop name, make .* with --one-hot, or.*ids.*--id-column name"
    ):
        read_features(tmp_path / "f.csv")


@pytest.mark.parametrize("settings", [{"id_column": "a"}, {"drop": ["a"]}, {"one_hot": True}])
def test_a_matrix_has_no_such_columns(tmp_path, settings):
    with pytest.raises(ValueError, match=rf"{next(iter(settings))} is for tables \(.csv"):
        read_features(tmp_path / "f.npy", **settings)


def test_indicators_are_not_made_of_a_transposed_table(people):
    with pytest.raises(ValueError, match="one_hot needs one column per feature"):
        read_features(people, one_hot=True, transpose=True)
