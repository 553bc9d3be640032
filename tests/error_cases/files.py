"""Files that cannot be read: features, graphs, and both together, in every format."""

from __future__ import annotations

import gzip
import pickle
from io import BytesIO
from typing import Any

import numpy as np
import zstandard
from scipy import sparse

from blockselect.graphs import read_attributed_graph, read_features, read_graph
from error_cases.case import Case, edge_table, feature_table

TABLE = b"id,a\n" + b"".join(b"n%d,%d\n" % (node, node) for node in range(999))
MTX = "%%MatrixMarket matrix coordinate real general\n"


def _npy(array: Any, **options: Any) -> bytes:
    file = BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def _npz(**arrays: Any) -> bytes:
    file = BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _sparse(matrix: Any) -> bytes:
    file = BytesIO()
    sparse.save_npz(file, matrix)
    return file.getvalue()


def _zstd(content: bytes) -> bytes:
    """Two frames, as parallel packers write them."""
    return zstandard.compress(content[:1000]) + zstandard.compress(content[1000:])


def _header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": kind})
    return file.getvalue()


BAD_FEATURES: tuple[tuple[str, str, str | bytes, tuple[str, ...]], ...] = (
    # what is wrong, file, content, words
    ("an unknown suffix", "f.pkl", "x", (".pkl", "expected")),
    ("no suffix", "f", "x", ("''", "expected")),
    ("an empty file", "f.csv", "", ("f.csv is empty",)),
    ("a header alone", "f.csv", "id,a\n", ("no row",)),
    ("one column", "f.csv", "id\nx\n", ("one column",)),
    ("no header", "f.csv", "1,2\n3,4\n", ("looks like data",)),
    ("no header, with ids of text", "f.csv", "x,0.5,0.1\ny,1,2\n", ("looks like data",)),
    ("a column without a name", "f.csv", "id,a,\nx,1,2\n", ("column 3 has no name",)),
    ("a row without an id", "f.csv", "id,a\nx,1\n,2\n", ("row 2 has no id",)),
    ("a short row", "f.csv", "id,a,b\nx,1,2\ny,1\n", ("line 3", "2 cell")),
    ("a long row", "f.csv", "id,a\nx,1\ny,1,2\n", ("line 3", "3 cell")),
    ("a word among numbers", "f.csv", "id,a,b\nx,1,2\ny,1,many\n", ("row 2 ('y')", "column 'b'", "'many'")),
    ("an empty cell", "f.csv", "id,a,b\nx,1,2\ny,,2\n", ("row 2 ('y')", "column 'a'", "''")),
    ("NA", "f.csv", "id,a\nx,1\ny,NA\n", ("row 2 ('y')", "'NA'")),
    ("a decimal comma", "f.csv", "id;a\nx;1,5\ny;2\n", ("'1,5'", "decimal point")),
    ("a number of 310 digits", "f.csv", f"id,a\nx,1\ny,{'9' * 310}\n", ("row 2 ('y')", "310 characters")),
    (
        "a number of 310 digits beside one with a point",
        "f.csv",
        f"id,a\nx,1.5\ny,{'9' * 310}\n",
        ("row 2 ('y')", "column 'a'", "the largest is 1.8e308"),
    ),
    ("infinity", "f.csv", "id,a\nx,1.5\ny,-inf\n", ("row 2 ('y')", "column 'a'", "holds infinity")),
    ("a number of 5,000 digits", "f.csv", f"id,a\nx,1\ny,{'9' * 5000}\n", ("row 2 ('y')", "5000 characters")),
    ("a quote that is not closed", "f.csv", 'id,a\n"x,1\ny,2\n', ("f.csv",)),
    ("other than UTF-8", "f.csv", "id,grö\u00dfe\nx,1\n".encode("latin-1"), ("UTF-8",)),
    ("a zero byte", "f.csv", b"id,a\nx,\x00\n", ("f.csv, line 2 holds a NUL byte",)),
    ("a zero byte within a number", "f.csv", b"id,a\nx,1\x002\ny,3\n", ("line 2 holds a NUL byte", "as UTF-8")),
    ("a zero byte, packed", "f.tsv.gz", gzip.compress(b"id\ta\nx\t1\ny\t1\x002\n"), ("line 3 holds a NUL byte",)),
    ("a zero byte, packed by Zstandard", "f.csv.zst", _zstd(b"id,a\nx,1\x002\n"), ("line 2 holds a NUL byte",)),
    ("UTF-16", "f.csv", "id,a\nx,1\n".encode("utf-16"), ("UTF-8",)),
    ("a cut .gz", "f.csv.gz", gzip.compress(TABLE)[:-9], ("f.csv.gz could not be unpacked", "pack it again")),
    ("a cut .zst", "f.csv.zst", _zstd(TABLE)[:-9], ("f.csv.zst could not be unpacked", "ends before its data do")),
    ("no .zst", "f.csv.zst", "hello", ("f.csv.zst could not be unpacked", "pack it again")),
    ("an empty npy", "f.npy", "", ("empty",)),
    ("no npy", "f.npy", "hello", ("f.npy could not be read", "numpy.save")),
    ("a cut npy", "f.npy", _npy(np.ones((9, 9)))[:-8], ("f.npy could not be read",)),
    ("an npy that declares too much", "f.npy", _header((10**6, 10**6)), ("declares the shape", "bytes")),
    ("an npy of negative size", "f.npy", _header((-1, 3)), ("(-1, 3)",)),
    ("an npy of no column", "f.npy", _header((10**18, 0)), ("× 0", "holds nothing")),
    ("an npy with a header of 60,000 bytes", "f.npy", b"\x93NUMPY\x01\x00\x60\xea" + b"(" * 60000, ("is damaged",)),
    ("an npy of one dimension", "f.npy", _npy(np.ones(9)), ("(9,)", "no matrix")),
    ("an npy of three dimensions", "f.npy", _npy(np.ones((2, 2, 2))), ("(2, 2, 2)",)),
    ("pickled objects", "f.npy", _npy(np.array([[{}]], dtype=object), allow_pickle=True), ("pickled objects",)),
    ("a bare pickle", "f.npy", pickle.dumps([1, 2]), ("could not be read",)),
    ("an npz of two arrays", "f.npz", _npz(a=np.ones((2, 2)), b=np.ones((2, 2))), ("2 arrays", "exactly one")),
    ("an npz of no array", "f.npz", _npz(), ("0 arrays",)),
    ("no npz", "f.npz", "hello", ("f.npz could not be read", "save_npz")),
    ("a cut npz", "f.npz", _npz(a=np.ones((9, 9)))[:-30], ("could not be read",)),
    ("an npz with pickled objects", "f.npz", _npz(a=np.array([[{}]], dtype=object)), ("pickled objects",)),
    (
        "a sparse npz of nearly nothing but empty columns",
        "f.npz",
        _sparse(sparse.csr_array(([1.0], ([0], [7])), shape=(40, 10**7))),
        ("40 × 10,000,000", "1 entries"),
    ),
    (
        "a sparse npz with stray indices",
        "f.npz",
        _npz(
            format=np.array(b"csr"),
            shape=np.array([2, 2]),
            data=np.ones(1),
            indices=np.array([9**8]),
            indptr=np.array([0, 1, 1]),
        ),
        ("could not be read",),
    ),
    (
        "a sparse npz of an unknown form",
        "f.npz",
        _npz(format=np.array(b"xyz"), shape=np.array([2, 2]), data=np.ones(1)),
        ("could not be read",),
    ),
    ("no mtx", "f.mtx", "hello", ("f.mtx could not be read", "mmwrite")),
    ("a cut mtx", "f.mtx", f"{MTX}2 2 3\n1 1 1.0\n1 2 1.0\n", ("could not be read",)),
    ("an mtx with stray indices", "f.mtx", f"{MTX}2 2 1\n9 9 1.0\n", ("could not be read",)),
    ("an mtx with a zero byte", "f.mtx", f"{MTX}2 2 1\n1 1 1.\0", ("b'\\x00'", "numbers are expected")),
    ("an mtx with a word", "f.mtx", f"{MTX}2 2 1\n1 1 two\n", ("b't'",)),
    ("an mtx of 10⁹ × 10⁹", "f.mtx", f"{MTX}1000000000 1000000000 1\n1 1 1\n", ("1,000,000,000", "1 entries")),
    ("an mtx of a million million entries", "f.mtx", f"{MTX}9 9 1000000000000\n1 1 1\n", ("too short",)),
    (
        "a full mtx of a million million entries",
        "f.mtx",
        "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n",
        ("too short",),
    ),
    ("an mtx of no row and column", "f.mtx", f"{MTX}0 0 0\n", ("0 × 0", "holds nothing")),
    ("a full mtx of no row", "f.mtx", "%%MatrixMarket matrix array real general\n0 3\n", ("0 × 3", "holds nothing")),
    ("a full mtx of no column", "f.mtx", "%%MatrixMarket matrix array real general\n3 0\n", ("3 × 0", "holds nothing")),
)

BAD_GRAPHS: tuple[tuple[str, str, str | bytes, tuple[str, ...]], ...] = (
    ("an unknown suffix", "g.xlsx", "x", (".xlsx",)),
    ("an empty file", "g.csv", "", ("g.csv is empty",)),
    ("a header alone", "g.csv", "source,target\n", ("no row",)),
    ("one column", "g.csv", "source\nn1\n", ("one column",)),
    ("a zero byte within an id", "g.csv", "source,target\nn1\x002,n3\n", ("line 2 holds a NUL byte", "as UTF-8")),
    ("no header, numbers", "g.csv", "0,1\n1,2\n", ("looks like an edge",)),
    ("a short row", "g.csv", "source,target,weight\nn0,n1,1\nn0\n", ("line 3",)),
    ("a long row", "g.csv", "source,target\nn0,n1,n2\n", ("line 2",)),
    ("no npy", "g.npy", "hello", ("g.npy could not be read",)),
    ("text", "g.npy", _npy(np.array([["a", "b"]])), ("g.npy",)),
    ("pickled objects", "g.npy", _npy(np.array([[{}]], dtype=object), allow_pickle=True), ("pickled objects",)),
    ("no mtx", "g.mtx", "hello", ("g.mtx could not be read",)),
    ("an mtx of 10⁹ × 10⁹", "g.mtx", f"{MTX}1000000000 1000000000 1\n1 1 1\n", ("1,000,000,000",)),
    ("no npz", "g.npz", b"PK\x03\x04", ("g.npz could not be read",)),
)

BAD_PAIRS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # what is wrong, the edges, words
    ("a header that names two nodes", "n0,n1\nn1,n2\n", ("names two nodes", "source,target")),
    ("an unknown node", "source,target\nn0,stranger\n", ("stranger",)),
    ("a missing target", "source,target\nn0,n1\nn2,\n", ("target",)),
    ("a missing source", "source,target\n,n1\nn2,n3\n", ("source",)),
    ("a negative weight", "source,target,weight\nn0,n1,-2\n", ("'n0'", "'n1'", "'-2'")),
    ("a weight of text", "source,target,weight\nn0,n1,heavy\n", ("'heavy'",)),
    ("an infinite weight", "source,target,weight\nn0,n1,inf\n", ("'inf'",)),
    ("a weight of 310 digits", f"source,target,weight\nn0,n1,{'9' * 310}\n", ("'n0'",)),
    ("weights of zero alone", "source,target,weight\nn0,n1,0\n", ("no link",)),
    ("four columns of other names", "a,b,c,d\nn0,n1,1,1\n", ("source, target",)),
)


def _as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _cases() -> list[Case]:
    cases = [
        Case(
            "Files of features",
            f"{name}: {what}",
            words,
            lambda folder, n=name: read_features(folder / n),
            files=((name, _as_bytes(content)),),
        )
        for what, name, content, words in BAD_FEATURES
    ]
    cases += [
        Case(
            "Files of links",
            f"{name}: {what}",
            words,
            lambda folder, n=name: read_graph(folder / n),
            files=((name, _as_bytes(content)),),
        )
        for what, name, content, words in BAD_GRAPHS
    ]
    table = feature_table().rename_axis("id").to_csv().encode()
    cases += [
        Case(
            "Files of links",
            f"edges.csv: {what}",
            words,
            lambda folder: read_attributed_graph(folder / "features.csv", folder / "edges.csv"),
            files=(("features.csv", table), ("edges.csv", edges.encode())),
        )
        for what, edges, words in BAD_PAIRS
    ]
    edges = edge_table().to_csv(index=False).encode()
    for what, lines, words in (
        ("a negative value", table.replace(b"\nn3,", b"\nn3,-5", 1), ("'n3'", "'f0'")),
        ("two nodes of the same id", table.replace(b"\nn3,", b"\nn2,"), ("n2",)),
        ("two features of the same name", table.replace(b",f1,", b",f0,"), ("f0",)),
    ):
        cases.append(
            Case(
                "Files of features",
                f"features.csv: {what}",
                words,
                lambda folder: read_attributed_graph(folder / "features.csv", folder / "edges.csv"),
                files=(("features.csv", lines), ("edges.csv", edges)),
            )
        )
    for name, read in (("read_features", read_features), ("read_graph", read_graph)):
        cases.append(
            Case(
                "Files of features",
                f"{name}: a file that is not there",
                ("nowhere.csv", "check the path"),
                lambda folder, r=read: r(folder / "nowhere.csv"),
                error=OSError,
            )
        )
        cases.append(
            Case(
                "Files of features",
                f"{name}: a folder",
                ("folder.csv",),
                lambda folder, r=read: r(folder / "folder.csv"),
                error=OSError,
                files=(("folder.csv/x", b""),),
            )
        )
    return cases


FILE_CASES = tuple(_cases())
