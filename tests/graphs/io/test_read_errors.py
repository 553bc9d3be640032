"""A bad file is named in the error, with what is wrong in it and what to do."""

from __future__ import annotations

import pickle
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from blockselect.graphs import read_attributed_graph, read_features, read_graph

MATRIX = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.25], [0.0, 0.0, 3.0]])
FEATURES = "id,red,blue\n007,1,0\nx,0.5,2\nNA,0,3\n"


def _write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _npz(**arrays_by_name: object) -> bytes:
    file = BytesIO()
    np.savez(file, **arrays_by_name)
    return file.getvalue()


def _stray_npz(form: str) -> bytes:
    """A sparse file whose indices point outside of the matrix."""
    return _npz(
        format=np.array(form.encode()), shape=np.array([2, 2]), data=np.ones(1), indices=np.array([10**8]),
        indptr=np.array([0, 1, 1]),
    )  # fmt: skip


class Unsafe:
    def __reduce__(self):
        return (pytest.fail, ("a pickled object was loaded",))


MTX = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.0\n1 2 1.0\n"
BAD_FILES = {
    "suffix": ("f.xlsx", "x", r"suffix '\.xlsx'", r"expected one of \.csv, \.tsv, .*\.h5ad"),
    "empty csv": ("f.csv", "", r"f\.csv is empty", r"check how it was written"),
    "empty mtx": ("f.mtx", "", r"f\.mtx is empty", r"check how it was written"),
    "header alone": ("f.csv", "id,a\n", r"f\.csv has a header but no row", r"add one row"),
    "ids alone": ("f.csv", "id\nx\ny\n",
        r"f\.csv has a header of one column", r"expected ids and then features"),
    "spaces between": ("f.csv", "id a\nx 1\n", r"header of one column", r"commas, semicolons or tabs"),
    "no header": ("f.csv", "1,2,3\n4,5,6\n", r"first line \['1', '2', '3'\] looks like data", r"Add it"),
    "no header, ids of text": ("f.csv", "x,0.5,3\ny,5,6\n",
        r"first line .* looks like data", r"expected a header"),
    "no header, counts": ("f.csv", "x,0,0\ny,5,6\n", r"first line .* looks like data", r"expected a header"),
    "column without name": ("f.csv", "id,a,\nx,1,\n", r"column 3 has no name", r"name it in the header"),
    "row without id": ("f.csv", "id,a\nx,1\n,2\n", r"row 2 has no id", r"give it one"),
    "310 digits": ("f.csv", f"id,a\nx,1\ny,{'9' * 310}\n",
        r"row 2 \('y'\), column 'a' holds '9{40}… \(310 characters\)', which is not a number", r"fill in a number"),
    "short row": ("f.csv", "id,a,b\nx,1,2\ny,1\n",
        r"line 3: 2 cell\(s\).*header has 3", r"one cell a column"),
    "short first row": ("f.csv", "id,a,b\nx,1\ny,1,2\n", r"line 2: 2 cell\(s\)", r"one cell a column"),
    "long row": ("f.csv", "id,a\nx,1\ny,1,2\n", r"line 3: 3 cell\(s\).*header has 2", r"one cell a column"),
    "long rows": ("f.csv", "id,a\nx,1,2\ny,1,2\n",
        r"line 2: 3 cell\(s\).*header has 2", r"one cell a column"),
    "mixed separators": ("f.csv", "id;a;b\nx,1,2\n",
        r"line 2: 1 cell\(s\)", r"';' between them as in the header"),
    "word in a cell": ("f.csv", "id,a,b\nx,1,2\ny,1,red\n",
        r"row 2 \('y'\), column 'b' holds 'red'", r"fill in"),
    "empty cell": ("f.csv", "id,a,b\nx,,2\ny,1,2\n", r"row 1 \('x'\), column 'a' holds ''", r"fill in"),
    "nan in a cell": ("f.csv", "id,a,b\nx,nan,2\n", r"row 1 \('x'\), column 'a' holds 'nan'", r"fill in"),
    "decimal comma": ("f.csv", "id;a\nx;1,5\n", r"column 'a' holds '1,5'", r"with a decimal point"),
    "open quote": ("f.csv", 'id,a\nx,"1\n', r"no readable CSV", r"correct it or export it again"),
    "not utf-8": ("f.csv", "id,é\nx,1\n".encode("latin-1"), r"not UTF-8", r"save it as UTF-8"),
    "several arrays": ("f.npz", _npz(a=MATRIX, b=MATRIX), r"2 arrays \['a', 'b'\]", r"save_npz"),
    "no array": ("f.npz", _npz(), r"0 arrays", r"save_npz"),
    "one-dimensional": ("f.npz", _npz(a=np.ones(3)), r"shape \(3,\)", r"save_npz"),
    "pickled array": ("f.npz", _npz(a=np.array([[Unsafe()]], dtype=object)), r"pickled objects", r"save_npz"),
    "pickle as npz": ("f.npz", pickle.dumps(Unsafe()), r"pickled objects", r"save_npz"),
    "pickle as npy": ("f.npy", pickle.dumps(Unsafe()), r"pickled objects", r"numpy\.save"),
    "truncated npz": ("f.npz", _npz(a=MATRIX)[:-40], r"f\.npz could not be read", r"save_npz"),
    "sparse npz without indices": ("f.npz", _npz(format=np.array(b"csr"), shape=[1, 1]),
        r"not be read", r"save_npz"),
    "stray csr": ("f.npz", _stray_npz("csr"), r"broken sparse matrix", r"save_npz"),
    "stray csc": ("f.npz", _stray_npz("csc"), r"broken sparse matrix", r"save_npz"),
    "truncated mtx": ("f.mtx", MTX, r"f\.mtx could not be read: Truncated.*1 line", r"mmwrite"),
    "stray mtx": ("f.mtx", MTX + "9 9 1.0\n", r"f\.mtx could not be read.*out of bounds", r"mmwrite"),
    "mtx without banner": ("f.mtx", "1 2 3\n", r"f\.mtx could not be read", r"mmwrite"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "problem", "fix"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_features_file_is_named_with_problem_and_fix(tmp_path, name, content, problem, fix):
    path = _write(tmp_path / name, content)
    with pytest.raises(ValueError, match=rf"(?s){name}.*{fix}") as caught:
        read_features(path)
    assert caught.match(problem)


BAD_EDGES = {
    "no header": ("0,1\n1,2\n", r"first line \['0', '1'\] looks like an edge", r"add the line source,target"),
    "no header, ids of text": (
        "007,x\nx,NA\n",
        r"\['007', 'x'\] names two nodes",
        r"add the line source,target",
    ),
    "unknown id": (
        "source,target\n7,x\n8,x\n",
        r"2 node\(s\).*\['7', '8'\]",
        r"\['007', 'x', 'NA'\].*drop these",
    ),
    "short row": ("source,target\n007,x\nx\n", r"line 3: 1 cell\(s\)", r"one cell a column"),
    "empty end": ("source,target\n,x\n", r"edge 0, counted from 0, has no source", r"fill it in"),
    "weight of text": ("source,target,weight\n007,x,two\n", r"'weight' is 'two'", r"correct these weights"),
    "negative weight": ("source,target,weight\n007,x,-2\n", r"'weight' is '-2'", r"correct these weights"),
    "four columns": ("a,b,c,d\n007,x,1,1\n", r"needs the columns source, target", r"Name them so"),
    "one column": ("source\n007\n", r"header of one column", r"source and target, with commas"),
    "mixed separators": ("source;target\n007,x\n", r"line 2: 1 cell", r"';' between them"),
    "weights of zero": ("source,target,weight\n007,x,0\n", r"no link", r"check how"),
}


@pytest.mark.parametrize(("content", "problem", "fix"), BAD_EDGES.values(), ids=BAD_EDGES.keys())
def test_a_bad_edge_list_is_named_with_problem_and_fix(tmp_path, content, problem, fix):
    features = _write(tmp_path / "features.csv", FEATURES)
    edges = _write(tmp_path / "edges.csv", content)
    with pytest.raises(ValueError, match=rf"edges\.csv.*{problem}.*{fix}"):
        read_attributed_graph(features, edges)


def test_sizes_that_differ_name_both_files(tmp_path):
    features = _write(tmp_path / "features.csv", FEATURES)
    np.save(tmp_path / "graph.npy", np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"features\.csv with .*graph\.npy: adjacency has 4 nodes but features has 3"):
        read_attributed_graph(features, tmp_path / "graph.npy")


def test_text_in_an_adjacency_file_is_refused(tmp_path):
    np.save(tmp_path / "graph.npy", MATRIX.astype(str))
    with pytest.raises(ValueError, match=r"graph\.npy is of type <U.*encode it as numbers"):
        read_graph(tmp_path / "graph.npy")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv does not exist.*check the path"):
        read_features(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_table_that_is_no_list_of_edges_is_named(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    for columns in ({}, {"only": [1.0, 2.0]}):
        path = tmp_path / f"table.{suffix}"
        getattr(pd.DataFrame(columns), f"to_{suffix}")(path)
        with pytest.raises(ValueError, match=rf"table\.{suffix} is no list of edges: .*source, target.*; write a row"):
            read_graph(path)


@pytest.mark.parametrize("read", [read_graph, read_features])
def test_cells_that_point_outside_of_a_feather_file_are_refused(tmp_path, read):
    """Of which pyarrow would end the process."""
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "edges.feather"
    edges = pd.DataFrame({"source": ["ann", "bob"], "target": ["bobby", "cleo"]})
    feather.write_feather(edges, path, compression="uncompressed")
    starts, content = np.array([0, 3, 6]), path.read_bytes()
    wide = next(kind for kind in (np.int64, np.int32) if starts.astype(kind).tobytes() in content)
    damaged = np.array([0, 3, 2**30], dtype=wide).tobytes()
    path.write_bytes(content.replace(starts.astype(wide).tobytes(), damaged))
    with pytest.raises(ValueError, match=r"edges\.feather could not be read: .*; write it again"):
        read(path)
