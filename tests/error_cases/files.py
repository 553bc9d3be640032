"""Files that cannot be read: features, graphs, and both together, in every format."""

from __future__ import annotations

import gzip
import struct
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
from scipy import io, sparse

from blockselect.inputs import read_attributed_graph, read_features, read_graph
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
    """A sparse .npz file of shape (2, 2) with the given indices, valid or not."""
    data = np.ones(len(indices))
    return _npz(format=np.array(form.encode()), shape=[2, 2], data=data, indices=np.array(indices, int), indptr=indptr)


class Unsafe:
    def __reduce__(self) -> tuple[Any, ...]:
        return exit, ("a pickled object was loaded",)


_npy, _npz = partial(_written, np.save), partial(_written, np.savez)
MAT = _written(io.savemat, {"X": NUMBERS})
TAG = MAT.index(NUMBERS.T.tobytes()) - 8  # where the type and size of the numbers are stored
DEEP = b""
for _ in range(3000):
    DEEP = struct.pack("<II", 14, len(DEEP)) + DEEP

BAD_FEATURES: tuple[tuple[str, str, str | bytes, tuple[str, ...]], ...] = (
    # what is wrong, file, content, words
    ("an unknown suffix", "f.pkl", "x", ("'.pkl'", "expected one of .csv, .tsv", ".h5ad")),
    ("a compressed matrix", "f.npz.gz", "x", ("compressed, which is not supported for .npz", "unpack it")),
    ("one column", "f.csv", "id\nx\n", ("f.csv: the header has only one column", "expected ids and then features")),
    ("no header", "f.csv", "1,2\n3,4\n", ("f.csv: the first line ['1', '2'] looks like data", "Add it")),
    ("a row without an id", "f.csv", "id,a\nx,1\n,2\n", ("f.csv: row 2 has no id", "give it one")),
    ("long rows", "f.csv", "id,a\nx,1,2\ny,1,2\n", ("line 2 has 3 cell(s)",)),
    ("mixed separators", "f.csv", "id;a;b\nx,1,2\n", ("line 2 has 1 cell(s)", "';' between them as in the first line")),
    ("a word among numbers", "f.csv", "id,a,b\nx,1,2\ny,1,many\n", ("f.csv: row 2 ('y'), column 'b' contains 'many'",)),
    ("an empty cell", "f.csv", "id,a,b\nx,1,2\ny,,2\n", ("row 2 ('y'), column 'a' is empty", "give fill=0")),
    ("a decimal comma", "f.csv", "id;a\nx;1,5\ny;2\n", ("'1,5'", "give decimal=','")),
    ("a number of 310 digits", "f.csv", f"id,a\nx,1\ny,{'9' * 310}\n", ("row 2 ('y')", f"'{'9' * 40}…'", "1.8e308")),
    ("a number of 5,000 digits", "f.csv", f"id,a\nx,1\ny,{'9' * 5000}\n", ("row 2 ('y')", f"'{'9' * 40}…'")),
    ("a quote that is not closed", "f.csv", 'id,a\n"x,1\ny,2\n', ("f.csv could not be read", "export it again")),
    ("not UTF-8", "f.csv", "id,größe\nx,1\n".encode("latin-1"), ("f.csv could not be read", "as UTF-8")),
    ("a zero byte", "f.csv", b"id,a\nx,1\x002\ny,3\n", ("f.csv: line 2 contains a NUL byte", "save it again as UTF-8")),
    ("a truncated .gz", "f.csv.gz", gzip.compress(TABLE)[:-9], ("f.csv.gz could not be read: Compressed file", "gzip")),
    ("a truncated npy", "f.npy", _npy(np.ones((9, 9)))[:-8], ("f.npy could not be read", "file size")),
    ("an npy that declares too large a shape", "f.npy", _header((10**6, 10**6)), ("file size",)),
    ("an npy of negative size", "f.npy", _header((-1, 3)), ("negative dimensions",)),
    ("a header of 60,000 bytes", "f.npy", b"\x93NUMPY\x01\x00\x60\xea" + b"(" * 60000, ("not be safe to load",)),
    ("pickled objects", "f.npy", _npy(np.array([[Unsafe()]], dtype=object)), ("pickled objects", "numpy.save")),
    ("pickled objects", "f.npz", _npz(a=np.array([[Unsafe()]], dtype=object)), ("pickled objects", "save_npz")),
    ("a sparse npz of empty rows", "f.npz", _written(sparse.save_npz, sparse.coo_array(([1.0], ([0], [7])),
        shape=(10**9, 10**9))), ("1,000,000,000 × 1,000,000,000",)),
    ("invalid indices in CSR", "f.npz", _sparse("csr", [10**8], [0, 1, 1]), ("not a valid sparse matrix", "save_npz")),
    ("a truncated mtx", "f.mtx", f"{MTX}2 2 3\n1 1 1.0\n1 2 1.0\n", ("f.mtx could not be read: Truncated",)),
    ("an mtx with invalid indices", "f.mtx", f"{MTX}2 2 1\n9 9 1.0\n", ("could not be read", "out of bounds")),
    ("an mtx of 10⁹ × 10⁹", "f.mtx", f"{MTX}1000000000 1000000000 1\n1 1 1\n", ("1,000,000,000", "1 entries")),
    ("an mtx of 10¹² entries", "f.mtx", f"{MTX}9 9 1000000000000\n1 1 1\n", ("too short",)),
    ("a full mtx of 10¹² entries", "f.mtx", f"{FULL_MTX}1000000 1000000\n1\n", ("1,000,000,000,000", "too short")),
    ("a short mat", "f.mat", MAT[:-8], ("f.mat could not be read: an element states the type 14", "save one matrix")),
    *(
        (f"a mat with numbers of type {kind}", "f.mat", MAT[:TAG] + struct.pack("<I", kind) + MAT[TAG + 4 :],
         (f"an element states the type {kind} and 96 bytes",))
        for kind in (8, 0x70B5)
    ),
    ("a mat of cells within cells", "f.mat", MAT[:128] + DEEP, ("recursion",)),
    ("a mat of MATLAB 7.3", "f.mat", MAT[:124] + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n", ("HDF", "'-v7'")),
    ("invalid Parquet", "f.parquet", TABLE, ("f.parquet could not be read", "write it again")),
)  # fmt: skip

BAD_GRAPHS: tuple[tuple[str, str, str | bytes, tuple[str, ...]], ...] = (
    ("text", "g.npy", _npy(np.array([["a", "b"]])), ("g.npy contains 'a' at row 0, column 0", "encode it as a number")),
    ("invalid GraphML", "g.graphml", "<graphml>", ("g.graphml could not be read", "export it again")),
    (
        "entities",
        "g.graphml",
        '<!DOCTYPE g [<!ENTITY a "aa">]><graphml/>',
        ("declares entities", "export it without"),
    ),
    ("a short line", "g.edgelist", "a b 1\nb c\n", ("g.edgelist: line 2 has 2 cell(s)", "one cell per column")),
    ("only comments", "g.edgelist", "# a b\n", ("g.edgelist: it contains no edge", "write one per line")),
)

BAD_PAIRS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # what is wrong, the edges, words
    ("a header that names two nodes", "n0,n1\nn1,n2\n", ("names two nodes", "source,target")),
    ("an unknown node", "source,target\nn0,stranger\n", ("stranger", "drop these")),
    ("a negative weight", "source,target,weight\nn0,n1,-2\n", ("'n0'", "'n1'", "'-2'", "correct these weights")),
    ("only weights of zero", "source,target,weight\nn0,n1,0\n", ("no link", "check how")),
)


def _read_pair(folder: Any) -> Any:
    return read_attributed_graph(folder / "features.csv", folder / "edges.csv")


def _cases() -> list[Case]:
    table, edges = feature_table().rename_axis("id").to_csv().encode(), edge_table().to_csv(index=False).encode()
    cases = [
        Case(f"{name}: {what}", words, lambda folder, r=read, n=name: r(folder / n), files=((name, content),))
        for read, rows in ((read_features, BAD_FEATURES), (read_graph, BAD_GRAPHS))
        for what, name, text, words in rows
        for content in [text.encode() if isinstance(text, str) else text]
    ]
    for what, lines, words in BAD_PAIRS:
        files = (("features.csv", table), ("edges.csv", lines.encode()))
        cases.append(Case(f"edges.csv: {what}", words, _read_pair, files=files))
    for what, spoiled, words in (
        ("a negative value", table.replace(b"\nn3,", b"\nn3,-5", 1), ("'n3'", "'f0'")),
        ("two nodes of the same id", table.replace(b"\nn3,", b"\nn2,"), ("n2",)),
        ("two features of the same name", table.replace(b",f1,", b",f0,"), ("f0",)),
    ):
        files = (("features.csv", spoiled), ("edges.csv", edges))
        cases.append(Case(f"features.csv: {what}", words, _read_pair, files=files))
    for read, name in ((read_features, "nowhere.csv"), (read_graph, "folder.csv")):
        words = (f"{name} does not exist or is not a file", "check the path")
        call = partial(lambda r, n, folder: r(folder / n), read, name)
        cases.append(Case(f"{read.__name__}: {name}", words, call, error=OSError, files=(("folder.csv/x", b""),)))
    return cases


FILE_CASES = tuple(_cases())
