"""Files: what is written is what is read, and nodes meet by name."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import io, sparse

from blockselect.graphs import read_attributed_graph, read_features, read_graph

MATRIX = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.25], [0.0, 0.0, 3.0]])
FEATURES = "id,red,blue\n007,1,0\nx,0.5,2\nNA,0,3\n"
WRITERS = {
    "dense.npz": lambda path: np.savez(path, MATRIX),
    "sparse.npz": lambda path: sparse.save_npz(path, sparse.csr_array(MATRIX)),
    "csc.npz": lambda path: sparse.save_npz(path, sparse.csc_matrix(MATRIX)),
    "coo.npz": lambda path: sparse.save_npz(path, sparse.coo_array(MATRIX)),
    "plain.npy": lambda path: np.save(path, MATRIX),
    "sparse.mtx": lambda path: io.mmwrite(path, sparse.coo_array(MATRIX)),
    "dense.mtx": lambda path: io.mmwrite(path, MATRIX),
    "LOUD.MTX": lambda path: path.write_bytes(_mtx(sparse.coo_array(MATRIX))),
}


def _mtx(matrix: object) -> bytes:
    file = BytesIO()
    io.mmwrite(file, matrix)
    return file.getvalue()


def _write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("name", WRITERS)
def test_matrix_files_give_back_what_was_written(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    table = read_features(path)
    assert sparse.issparse(table.matrix) == (not name.startswith(("dense", "plain")))
    assert_array_equal(table.matrix.toarray() if sparse.issparse(table.matrix) else table.matrix, MATRIX)
    assert table.node_ids is None
    assert table.feature_names is None
    assert_array_equal(read_graph(path).toarray(), MATRIX)


@given(matrix=arrays(np.float64, (3, 4), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_a_feature_csv_gives_back_what_pandas_wrote(tmp_path_factory, matrix):
    path = tmp_path_factory.mktemp("csv") / "features.csv"
    pd.DataFrame(matrix, index=["a", "b", "c"]).to_csv(path)
    table = read_features(str(path))
    np.testing.assert_allclose(table.matrix, matrix, rtol=1e-14)
    assert table.node_ids.tolist() == ["a", "b", "c"]
    assert table.feature_names.tolist() == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    "text",
    [
        FEATURES,
        FEATURES.replace(",", ";"),
        FEATURES.replace(",", "\t"),
        FEATURES.replace("\n", "\r\n"),
        "\ufeff" + FEATURES,
        FEATURES.replace(",", " , "),
        FEATURES.replace("x,", "\n\nx,").rstrip(),
        '"id", "red","blue"\n"007",1,0\n"x", "0.5",2\n"NA",0,3\n',
        FEATURES.replace("id", '"id, of a node; any"'),
    ],
    ids=[
        "comma",
        "semicolon",
        "tab",
        "windows",
        "byte-order mark",
        "spaces",
        "blank lines",
        "quotes",
        "quoted id",
    ],
)
def test_csv_dialects_read_the_same(tmp_path, text):
    table = read_features(_write(tmp_path / "features.csv", text))
    assert_array_equal(table.matrix, [[1, 0], [0.5, 2], [0, 3]])
    assert table.node_ids.tolist() == ["007", "x", "NA"]
    assert table.feature_names.tolist() == ["red", "blue"]


def test_true_and_false_are_numbers_in_a_csv(tmp_path):
    table = read_features(_write(tmp_path / "features.csv", "id,a\nx,True\ny,False\n"))
    assert_array_equal(table.matrix, [[1], [0]])


def test_edges_find_their_nodes_by_name(tmp_path):
    features = _write(tmp_path / "features.csv", FEATURES)
    edges = _write(tmp_path / "edges.csv", "\ufefftarget,source,note,weight\nNA,007,,2\nx, NA ,,1.5\nNA,007,,3\n")
    graph = read_attributed_graph(features, edges)
    assert_array_equal(graph.adjacency.toarray(), [[0, 0, 5], [0, 0, 1.5], [5, 1.5, 0]])
    assert graph.node_ids.tolist() == ["007", "x", "NA"]
    assert graph.feature_names.tolist() == ["red", "blue"]


def test_numbers_as_ids_in_both_tables_are_the_same_text(tmp_path):
    features = _write(tmp_path / "features.csv", "id,a\n10,1\n2,2\n3,0\n")
    edges = _write(tmp_path / "edges.csv", "from,to\n2,10\n")
    assert_array_equal(read_attributed_graph(features, edges).adjacency.toarray()[0], [0, 1, 0])


def test_edges_speak_of_row_numbers_where_features_have_no_ids(tmp_path):
    np.save(tmp_path / "features.npy", MATRIX)
    edges = _write(tmp_path / "edges.csv", "source,target\n0,2\n")
    graph = read_attributed_graph(tmp_path / "features.npy", edges)
    assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_an_adjacency_file_has_its_nodes_in_the_order_of_the_rows(tmp_path):
    features = _write(tmp_path / "features.csv", FEATURES)
    sparse.save_npz(tmp_path / "graph.npz", sparse.csr_array(MATRIX))
    graph = read_attributed_graph(features, tmp_path / "graph.npz")
    assert_array_equal(graph.adjacency.toarray(), np.maximum(MATRIX, MATRIX.T))
    assert graph.node_ids.tolist() == ["007", "x", "NA"]


def test_nodes_named_source_and_target_are_no_missing_header(tmp_path):
    features = _write(tmp_path / "features.csv", "id,a\nsource,1\ntarget,2\n")
    edges = _write(tmp_path / "edges.csv", "source,target\nsource,target\n")
    assert read_attributed_graph(features, edges).n_links == 1
