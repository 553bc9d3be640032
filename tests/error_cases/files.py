"""Files that cannot be read: features, graphs, and both together, in every format."""

from __future__ import annotations

import gzip
import pickle
import struct
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import zstandard
from scipy import io, sparse

from blockselect.graphs import read_attributed_graph, read_features, read_graph
from error_cases.case import Case, edge_table, feature_table

TABLE = b"id,a\n" + b"".join(b"n%d,%d\n" % (node, node) for node in range(999))
MTX, FULL_MTX = "%%MatrixMarket matrix coordinate real general\n", "%%MatrixMarket matrix array real general\n"
NUMBERS = np.arange(12.0).reshape(3, 4)


def _written(save: Any, *arguments: Any, **options: Any) -> bytes:
    file = BytesIO()
    save(file, *arguments, **options)
    return file.getvalue()


def _header(shape: tuple[int, ...]) -> bytes:
    return _written(np.lib.format.write_array_header_1_0, {"shape": shape, "fortran_order": False, "descr": "<f8"})


def _sparse(form: str, indices: list[int], indptr: list[int]) -> bytes:
    """A sparse .npz file of shape (2, 2) with any indices."""
    data = np.ones(len(indices))
    return _npz(format=np.array(form.encode()), shape=[2, 2], data=data, indices=np.array(indices, int), indptr=indptr)


def _zstd(content: bytes) -> bytes:
    """Two frames, as parallel packers write them."""
    return zstandard.compress(content[:1000]) + zstandard.compress(content[1000:])


class Unsafe:
    def __reduce__(self) -> tuple[Any, ...]:
        return exit, ("a pickled object was loaded",)


_npy, _npz = partial(_written, np.save), partial(_written, np.savez)
MAT = _written(io.savemat, {"X": NUMBERS})
TAG = MAT.index(NUMBERS.T.tobytes()) - 8  # of the numbers: their type and size
DEEP = b""
for _ in range(3000):
    DEEP = struct.pack("<II", 14, len(DEEP)) + DEEP

BAD_FEATURES: tuple[tuple[str, str, str | bytes, tuple[str, ...]], ...] = (
    # what is wrong, file, content, words
    ("an unknown suffix", "f.pkl", "x", ("'.pkl'", "expected one of .csv, .tsv", ".h5ad")),
    ("no suffix", "f", "x", ("''", "expected")),
    ("a graph", "f.graphml", "<graphml/>", ("'.graphml'", "expected one of .csv")),
    ("a packed matrix", "f.npz.gz", "x", ("packed, which .npz files must not be", "unpack it")),
    ("an empty file", "f.csv", "", ("f.csv is empty", "check how it was written")),
    ("a header alone", "f.csv", "id,a\n", ("f.csv: there is no row below the header", "add one row per node")),
    ("one column", "f.csv", "id\nx\n", ("f.csv: the header has one column", "expected ids and then features")),
    ("blanks between cells", "f.csv", "id a\nx 1\n", ("one column", "commas, semicolons or tabs")),
    ("no header", "f.csv", "1,2\n3,4\n", ("f.csv: the first line ['1', '2'] looks like data", "Add it")),
    ("no header, with ids of text", "f.csv", "x,0.5,0.1\ny,1,2\n", ("looks like data", "expected a header")),
    ("no header, with counts", "f.csv", "x,0,0\ny,5,6\n", ("looks like data", "expected a header")),
    ("a column without a name", "f.csv", "id,a,\nx,1,2\n", ("f.csv: column 3 has no name", "name it in the header")),
    ("a row without an id", "f.csv", "id,a\nx,1\n,2\n", ("f.csv: row 2 has no id", "give it one")),
    ("a short row", "f.csv", "id,a,b\nx,1,2\ny,1\n", ("f.csv: line 3 has 2 cell(s)", "header has 3", "one cell per")),
    ("a short first row", "f.csv", "id,a,b\nx,1\ny,1,2\n", ("line 2 has 2 cell(s)",)),
    ("a long row", "f.csv", "id,a\nx,1\ny,1,2\n", ("line 3 has 3 cell(s)", "header has 2")),
    ("long rows", "f.csv", "id,a\nx,1,2\ny,1,2\n", ("line 2 has 3 cell(s)",)),
    ("mixed separators", "f.csv", "id;a;b\nx,1,2\n", ("line 2 has 1 cell(s)", "';' between them as in the header")),
    ("a word among numbers", "f.csv", "id,a,b\nx,1,2\ny,1,many\n", ("f.csv: row 2 ('y'), column 'b' holds 'many'",)),
    ("an empty cell", "f.csv", "id,a,b\nx,1,2\ny,,2\n", ("row 2 ('y'), column 'a' holds ''", "fill in a number")),
    ("NA", "f.csv", "id,a\nx,1\ny,NA\n", ("row 2 ('y')", "'NA'")),
    ("nan", "f.csv", "id,a\nx,1\ny,nan\n", ("row 2 ('y')", "'nan'")),
    ("a decimal comma", "f.csv", "id;a\nx;1,5\ny;2\n", ("'1,5'", "decimal point")),
    ("infinity", "f.csv", "id,a\nx,1.5\ny,-inf\n", ("row 2 ('y'), column 'a' holds '-inf'", "finite number")),
    ("a number of 310 digits", "f.csv", f"id,a\nx,1\ny,{'9' * 310}\n", ("row 2 ('y')", f"'{'9' * 40}…'", "1.8e308")),
    ("310 digits below a point", "f.csv", f"id,a\nx,1.5\ny,{'9' * 310}\n", ("row 2 ('y'), column 'a'", "1.8e308")),
    ("a number of 5,000 digits", "f.csv", f"id,a\nx,1\ny,{'9' * 5000}\n", ("row 2 ('y')", f"'{'9' * 40}…'")),
    ("a quote that is not closed", "f.csv", 'id,a\n"x,1\ny,2\n', ("f.csv could not be read", "export it again")),
    ("other than UTF-8", "f.csv", "id,größe\nx,1\n".encode("latin-1"), ("f.csv could not be read", "as UTF-8")),
    ("UTF-16", "f.csv", "id,a\nx,1\n".encode("utf-16"), ("f.csv", "UTF-8")),
    ("a zero byte", "f.csv", b"id,a\nx,1\x002\ny,3\n", ("f.csv: line 2 holds a NUL byte", "save it again as UTF-8")),
    ("a zero byte", "f.tsv.gz", gzip.compress(b"id\ta\nx\t1\ny\t1\x002\n"), ("line 3 holds a NUL byte",)),
    ("a zero byte", "f.csv.zst", _zstd(b"id,a\nx,1\x002\n"), ("line 2 holds a NUL byte",)),
    ("a cut .gz", "f.csv.gz", gzip.compress(TABLE)[:-9], ("f.csv.gz could not be read: it ends", "with gzip or zstd")),
    ("a wrong sum", "f.csv.gz", gzip.compress(TABLE)[:-8] + bytes(8), ("incorrect data check", "with gzip or zstd")),
    ("no .gz", "f.csv.gz", TABLE, ("f.csv.gz could not be read", "with gzip or zstd")),
    ("a cut .zst", "f.csv.zst", _zstd(TABLE)[:-9], ("f.csv.zst could not be read: it ends before its data do",)),
    ("no .zst", "f.csv.zst", "hello", ("f.csv.zst could not be read", "with gzip or zstd")),
    ("no npy", "f.npy", "hello", ("f.npy could not be read", "numpy.save")),
    ("a cut npy", "f.npy", _npy(np.ones((9, 9)))[:-8], ("f.npy could not be read", "file size")),
    ("an npy that declares too much", "f.npy", _header((10**6, 10**6)), ("file size",)),
    ("an npy of negative size", "f.npy", _header((-1, 3)), ("negative dimensions",)),
    ("an npy of no column", "f.npy", _header((10**18, 0)), ("no matrix with rows and columns",)),
    ("a header of 60,000 bytes", "f.npy", b"\x93NUMPY\x01\x00\x60\xea" + b"(" * 60000, ("not be safe to load",)),
    ("an npy of one dimension", "f.npy", _npy(np.ones(9)), ("(9,)", "no matrix")),
    ("an npy of three dimensions", "f.npy", _npy(np.ones((2, 2, 2))), ("(2, 2, 2)",)),
    ("pickled objects", "f.npy", _npy(np.array([[Unsafe()]], dtype=object)), ("pickled objects", "numpy.save")),
    ("a bare pickle", "f.npy", pickle.dumps(Unsafe()), ("could not be read",)),
    ("an npz of two arrays", "f.npz", _npz(a=NUMBERS, b=NUMBERS), ("2 arrays ['a', 'b']", "save_npz")),
    ("an npz of no array", "f.npz", _npz(), ("0 arrays",)),
    ("an npz of one dimension", "f.npz", _npz(a=np.ones(3)), ("shape (3,)",)),
    ("no npz", "f.npz", "hello", ("f.npz could not be read", "save_npz")),
    ("a cut npz", "f.npz", _npz(a=NUMBERS)[:-30], ("could not be read",)),
    ("pickled objects", "f.npz", _npz(a=np.array([[Unsafe()]], dtype=object)), ("pickled objects", "save_npz")),
    ("a bare pickle", "f.npz", pickle.dumps(Unsafe()), ("could not be read",)),
    ("a sparse npz of empty columns", "f.npz", _written(sparse.save_npz, sparse.csr_array(([1.0], ([0], [7])),
        shape=(40, 10**7))), ("f.npz: it declares 40 × 10,000,000 but stores 1 entries", "leave out empty rows")),
    ("a sparse npz of empty rows", "f.npz", _written(sparse.save_npz, sparse.coo_array(([1.0], ([0], [7])),
        shape=(10**9, 10**9))), ("1,000,000,000 × 1,000,000,000",)),
    ("stray indices in CSR", "f.npz", _sparse("csr", [10**8], [0, 1, 1]), ("broken sparse matrix", "save_npz")),
    ("stray indices in CSC", "f.npz", _sparse("csc", [10**8], [0, 1, 1]), ("broken sparse matrix",)),
    ("index pointers that decrease", "f.npz", _sparse("csc", [], [0, 3, 0]), ("its index pointers decrease",)),
    ("an unknown form", "f.npz", _npz(format=np.array(b"xyz"), shape=[2, 2], data=np.ones(1)), ("could not be read",)),
    ("a form without indices", "f.npz", _npz(format=np.array(b"csr"), shape=[1, 1]), ("could not be read",)),
    ("no mtx", "f.mtx", "hello", ("f.mtx could not be read", "mmwrite")),
    ("a cut mtx", "f.mtx", f"{MTX}2 2 3\n1 1 1.0\n1 2 1.0\n", ("f.mtx could not be read: Truncated",)),
    ("an mtx with stray indices", "f.mtx", f"{MTX}2 2 1\n9 9 1.0\n", ("could not be read", "out of bounds")),
    ("an mtx with a zero byte", "f.mtx", f"{MTX}2 2 1\n1 1 1.\0", ("line 3 holds a NUL byte",)),
    ("an mtx with a word", "f.mtx", f"{MTX}2 2 1\n1 1 two\n", ("Line 3: Invalid floating-point value",)),
    ("an mtx of 10⁹ × 10⁹", "f.mtx", f"{MTX}1000000000 1000000000 1\n1 1 1\n", ("1,000,000,000", "1 entries")),
    ("an mtx of 10¹² entries", "f.mtx", f"{MTX}9 9 1000000000000\n1 1 1\n", ("too short",)),
    ("a full mtx of 10¹² entries", "f.mtx", f"{FULL_MTX}1000000 1000000\n1\n", ("1,000,000,000,000", "too short")),
    ("an mtx of no row and column", "f.mtx", f"{MTX}0 0 0\n", ("shape (0, 0)", "no matrix with rows and columns")),
    ("a full mtx of no row", "f.mtx", f"{FULL_MTX}0 3\n", ("shape (0, 3)",)),
    ("a full mtx of no column", "f.mtx", f"{FULL_MTX}3 0\n", ("shape (3, 0)",)),
    ("no mat", "f.mat", "nothing of MATLAB" * 20, ("f.mat could not be read", "save one matrix")),
    ("a cut mat", "f.mat", MAT[:-8], ("f.mat could not be read: an element states the type 14", "save one matrix")),
    ("a mat with a few bytes more", "f.mat", MAT + b"123", ("f.mat could not be read",)),
    *(
        (f"a mat with numbers of type {kind}", "f.mat", MAT[:TAG] + struct.pack("<I", kind) + MAT[TAG + 4 :],
         (f"an element states the type {kind} and 96 bytes",))
        for kind in (0, 8, 10, 15, 19, 0x70B5)
    ),
    ("a mat of cells within cells", "f.mat", MAT[:128] + DEEP, ("recursion",)),
    ("a mat of MATLAB 7.3", "f.mat", MAT[:124] + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n", ("HDF", "'-v7'")),
    ("a mat of several matrices", "f.mat", _written(io.savemat, {"one": NUMBERS, "two": NUMBERS}),
        ("holds the matrices ['one', 'two'], none of which is called features, Attributes",)),
    ("no parquet", "f.parquet", TABLE, ("f.parquet could not be read", "write it again")),
    ("no feather", "f.feather", TABLE, ("f.feather could not be read", "write it again")),
)  # fmt: skip

BAD_GRAPHS: tuple[tuple[str, str, str | bytes, tuple[str, ...]], ...] = (
    ("an unknown suffix", "g.xlsx", "x", ("'.xlsx'", "expected one of", ".edgelist")),
    ("a header alone", "g.csv", "source,target\n", ("no row",)),
    ("one column", "g.csv", "source\nn1\n", ("one column", "source and target, with commas")),
    ("a zero byte", "g.csv", "source,target\nn1\x002,n3\n", ("line 2 holds a NUL byte", "as UTF-8")),
    ("no header, numbers", "g.csv", "0,1\n1,2\n", ("['0', '1'] looks like an edge", "add the line source,target")),
    ("a short row", "g.csv", "source,target,weight\nn0,n1,1\nn0\n", ("line 3 has 1 cell(s)",)),
    ("a long row", "g.csv", "source,target\nn0,n1,n2\n", ("line 2",)),
    ("mixed separators", "g.csv", "source;target\nn0,n1\n", ("line 2 has 1 cell", "';' between them")),
    ("text", "g.npy", _npy(np.array([["a", "b"]])), ("g.npy holds 'a' at row 0, column 0", "encode it as a number")),
    ("no graphml", "g.graphml", "<graphml>", ("g.graphml could not be read", "export it again")),
    ("entities", "g.graphml", '<!DOCTYPE g [<!ENTITY a "aa">]><graphml/>', ("declares entities", "export it again")),
    ("no gml", "g.gml", "graph [ node", ("g.gml could not be read",)),
    ("other than UTF-8", "g.gml", b"graph [ \xfc ]", ("g.gml could not be read", "UTF-8")),
    ("a short line", "g.edgelist", "a b 1\nb c\n", ("g.edgelist: line 2 has 2 cell(s)", "weight on every line")),
    ("attributes", "g.edgelist", "a b {'weight': 1}\n", ("line 1 has 4 cell(s)", "without attributes in braces")),
    ("empty attributes", "g.edgelist", "a b {}\n", ("line 1", "'{}'", "write_weighted_edgelist")),
    ("comments alone", "g.edgelist", "# a b\n", ("g.edgelist: it holds no edge", "write one per line")),
    ("other than UTF-8", "g.edgelist", b"a \xfc\n", ("g.edgelist could not be read", "UTF-8")),
)

BAD_PAIRS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # what is wrong, the edges, words
    ("a header that names two nodes", "n0,n1\nn1,n2\n", ("names two nodes", "source,target")),
    ("an unknown node", "source,target\nn0,stranger\n", ("stranger", "drop these")),
    ("a missing target", "source,target\nn0,n1\nn2,\n", ("edge 1, counted from 0, has no target", "fill it in")),
    ("a missing source", "source,target\n,n1\nn2,n3\n", ("source",)),
    ("a negative weight", "source,target,weight\nn0,n1,-2\n", ("'n0'", "'n1'", "'-2'", "correct these weights")),
    ("a weight of text", "source,target,weight\nn0,n1,heavy\n", ("'heavy'",)),
    ("an infinite weight", "source,target,weight\nn0,n1,inf\n", ("'inf'",)),
    ("a weight of 310 digits", f"source,target,weight\nn0,n1,{'9' * 310}\n", ("'n0'",)),
    ("weights of zero alone", "source,target,weight\nn0,n1,0\n", ("no link", "check how")),
    ("four columns of other names", "a,b,c,d\nn0,n1,1,1\n", ("source, target", "Name them so")),
)


def _read_pair(folder: Any) -> Any:
    return read_attributed_graph(folder / "features.csv", folder / "edges.csv")


def _cases() -> list[Case]:
    table, edges = feature_table().rename_axis("id").to_csv().encode(), edge_table().to_csv(index=False).encode()
    cases = [
        Case(area, f"{name}: {what}", words, lambda folder, r=read, n=name: r(folder / n), files=((name, content),))
        for area, read, rows in (
            ("Files of features", read_features, BAD_FEATURES),
            ("Files of links", read_graph, BAD_GRAPHS),
        )
        for what, name, text, words in rows
        for content in [text.encode() if isinstance(text, str) else text]
    ]
    for what, lines, words in BAD_PAIRS:
        files = (("features.csv", table), ("edges.csv", lines.encode()))
        cases.append(Case("Files of links", f"edges.csv: {what}", words, _read_pair, files=files))
    for what, spoiled, words in (
        ("a negative value", table.replace(b"\nn3,", b"\nn3,-5", 1), ("'n3'", "'f0'")),
        ("two nodes of the same id", table.replace(b"\nn3,", b"\nn2,"), ("n2",)),
        ("two features of the same name", table.replace(b",f1,", b",f0,"), ("f0",)),
    ):
        files = (("features.csv", spoiled), ("edges.csv", edges))
        cases.append(Case("Files of features", f"features.csv: {what}", words, _read_pair, files=files))
    for read in (read_features, read_graph):
        for what, name in (("a file that is not there", "nowhere.csv"), ("a folder", "folder.csv")):
            cases.append(
                Case(
                    "Files of features",
                    f"{read.__name__}: {what}",
                    (f"{name} does not exist or is no file", "check the path"),
                    lambda folder, r=read, n=name: r(folder / n),
                    error=OSError,
                    files=(("folder.csv/x", b""),),
                )
            )
    return cases


FILE_CASES = tuple(_cases())
