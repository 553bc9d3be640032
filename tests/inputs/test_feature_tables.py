"""Tables of users: ids in any column, columns to drop, and text that becomes indicators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blockselect import RowChunks
from blockselect.inputs import read_attributed_graph, read_features

PEOPLE = "age,name,team,city\n31,ann,red,Rome\n47,bob,blue,\n28,cleo,red,Oslo\n"


@pytest.fixture(params=["csv", "parquet"])
def people(request, tmp_path):
    """The same table as CSV and as Parquet."""
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


def test_row_numbers_that_pandas_wrote_are_not_a_feature(tmp_path):
    (tmp_path / "f.csv").write_text(",a,id\n0,1,x\n1,2,y\n", encoding="utf-8")
    assert read_features(tmp_path / "f.csv", id_column="id").feature_names.tolist() == ["a"]
    (tmp_path / "g.csv").write_text(",a\nx,1\ny,2\n", encoding="utf-8")
    assert read_features(tmp_path / "g.csv").node_ids.tolist() == ["x", "y"]


def test_an_index_that_pandas_stored_can_be_named_as_id_column(tmp_path):
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
def test_an_unknown_column_is_refused_with_a_suggestion(people, settings):
    with pytest.raises(
        ValueError, match=r"no column is called 'nam'; choose one of: age, name, .* Did you mean name\?"
    ):
        read_features(people, **settings)


def test_ids_cannot_be_dropped_nor_all_features(people):
    with pytest.raises(ValueError, match="'name' contains the ids of the nodes and cannot be dropped"):
        read_features(people, id_column="name", drop=["name"])
    with pytest.raises(ValueError, match="no column is left for features"):
        read_features(people, id_column="name", drop=["age", "team", "city"])


def test_text_that_names_nodes_does_not_become_indicators(people):
    with pytest.raises(ValueError, match=r"'name' has 3 different texts in 3 rows.*drop=\[.name.\].*id_column=.name."):
        read_features(people, id_column="team", one_hot=True, drop=["city"])


def test_a_word_among_numbers_is_an_error_even_with_one_hot(tmp_path):
    (tmp_path / "f.csv").write_text("id,a\nx,1\ny,2\nz,unknown\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"column 'a' contains 'unknown'.*fill in a number.*drop=\[.a.\]"):
        read_features(tmp_path / "f.csv", one_hot=True)


def test_an_error_about_text_names_the_remedies(tmp_path):
    (tmp_path / "f.csv").write_text(PEOPLE, encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"contains 'ann'.*drop=\['name'\], turn .* with one_hot=True, or.*ids.*id_column='name'"
    ):
        read_features(tmp_path / "f.csv")


@pytest.mark.parametrize("settings", [{"id_column": "a"}, {"drop": ["a"]}, {"one_hot": True}])
def test_parameters_of_tables_are_refused_for_matrices(tmp_path, settings):
    with pytest.raises(ValueError, match=rf"{next(iter(settings))} is for tables \(.csv"):
        read_features(tmp_path / "f.npy", **settings)


def test_one_hot_is_refused_for_a_transposed_table(people):
    with pytest.raises(ValueError, match="one_hot needs one column per feature"):
        read_features(people, one_hot=True, transpose=True)


STORED = ["parquet", "feather"]
NUMBERED = pd.DataFrame({"id": [2, 0, 1], "red": [5.0, 0.5, 3.0], "blue": [0.0, 2.0, 1.0]})


def stored(frame, path):
    """Write a table of pandas or Arrow, with its index."""
    pyarrow = pytest.importorskip("pyarrow")
    table = frame if isinstance(frame, pyarrow.Table) else pyarrow.Table.from_pandas(frame)
    module = pytest.importorskip(f"pyarrow.{path.suffix[1:]}")
    (module.write_table if path.suffix == ".parquet" else module.write_feather)(table, path)
    return path


@pytest.mark.parametrize("suffix", STORED)
def test_a_stored_range_that_does_not_count_the_rows_names_the_nodes(tmp_path, suffix):
    frame = NUMBERED.drop(columns="id")
    assert list(read_features(stored(frame[::-1], tmp_path / f"f.{suffix}")).node_ids) == ["2", "1", "0"]
    assert list(read_features(stored(frame[1:], tmp_path / f"f.{suffix}")).node_ids) == ["1", "2"]
    assert read_features(stored(frame, tmp_path / f"f.{suffix}")).node_ids is None


@pytest.mark.parametrize("suffix", ["csv", *STORED])
@pytest.mark.parametrize("kind", ["int64", "uint8", "Int64", "category", str])
@pytest.mark.parametrize("name", ["id", "ID"])
def test_a_first_column_called_id_names_the_nodes_in_every_format(tmp_path, suffix, kind, name):
    frame = NUMBERED.astype({"id": kind}).rename(columns={"id": name})
    path = tmp_path / f"f.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        stored(frame, path)
    (tmp_path / "e.csv").write_text("source,target\n2,0\n")
    graph = read_attributed_graph(path, tmp_path / "e.csv")
    assert list(graph.node_ids) == ["2", "0", "1"]
    assert list(graph.feature_names) == ["red", "blue"]
    assert graph.adjacency.toarray()[0, 1] == 1


@pytest.mark.parametrize("suffix", STORED)
@pytest.mark.parametrize("kind", ["int64", "float64", "Int64", "category"])
def test_a_first_column_of_whole_numbers_must_be_named_or_dropped(tmp_path, suffix, kind):
    frame = NUMBERED.astype({"id": kind}).rename(columns={"id": "paper"})
    path = stored(frame, tmp_path / f"f.{suffix}")
    with pytest.raises(ValueError, match=r"'paper' contains a different whole number.*id_column='paper';"):
        read_features(path)
    assert [float(one) for one in read_features(path, id_column="paper").node_ids] == [2, 0, 1]
    assert read_features(path, drop=["paper"]).node_ids is None
    table = read_features(stored(frame.rename_axis("id"), path))
    assert list(table.node_ids) == ["0", "1", "2"]
    assert list(table.feature_names) == ["paper", "red", "blue"]


def test_dictionary_encoded_numbers_may_be_ids(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    numbers = pyarrow.array([2, 0, 1]).dictionary_encode()
    table = pyarrow.table({"id": numbers, "red": [1.0, 2.0, 0.5]})
    assert list(read_features(stored(table, tmp_path / "f.feather")).node_ids) == ["2", "0", "1"]
    with pytest.raises(ValueError, match="id_column='node'"):
        read_features(stored(table.rename_columns(["node", "red"]), tmp_path / "f.feather"))


def test_chunks_of_a_table_with_a_column_of_ids_are_refused(tmp_path):
    path = stored(NUMBERED, tmp_path / "f.parquet")
    with pytest.raises(ValueError, match=r"'id' of .*f\.parquet is called id.*frame\.set_index\('id'\)\.to_parquet"):
        RowChunks.from_parquet(path)
    assert RowChunks.from_parquet(stored(NUMBERED.set_index("id"), path)).node_ids.tolist() == [2, 0, 1]
    as_features = RowChunks.from_parquet(stored(NUMBERED.rename_axis("row"), path))
    assert as_features.node_ids.tolist() == [0, 1, 2]
    assert np.array_equal(next(iter(as_features)).toarray(), NUMBERED)


@pytest.mark.parametrize("suffix", STORED)
@pytest.mark.parametrize("ids", [["a", None, "b"], [7, None, 9]])
@pytest.mark.parametrize("in_index", [True, False])
def test_a_missing_id_is_refused(tmp_path, suffix, ids, in_index):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": ids, "red": [1.0, 2.0, 0.5]})
    frame = table.to_pandas().set_index("id") if in_index else table
    with pytest.raises(ValueError, match=r"row 2 has no id in the column 'id'; give it one"):
        read_features(stored(frame, tmp_path / f"f.{suffix}"))
