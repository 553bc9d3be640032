"""Files that would exhaust the memory or crash the process are refused; valid files near the limits are read."""

from __future__ import annotations

import gzip
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from blockselect.inputs import read_features, read_graph, text_files
from error_cases.files import FILE_CASES


@pytest.fixture
def allow_unpacked(monkeypatch):
    """Lower the number of bytes to which a file may unpack."""

    def allow(n_bytes):
        monkeypatch.setattr(text_files, "UNPACKED_BYTES", n_bytes)
        monkeypatch.setattr(text_files, "UNPACKED_RATIO", 1)

    return allow


@pytest.mark.parametrize("case", [case for case in FILE_CASES if "10¹²" in case.title or "10⁹" in case.title
    or "declares too much" in case.title or "empty rows" in case.title], ids=lambda case: case.title)  # fmt: skip
def test_a_file_that_declares_more_than_it_contains_takes_no_memory(tmp_path, case):
    for name, content in case.files:
        (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(case.error):
            case.call(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**24


def _null_table(path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = path.suffix == ".parquet"
    module = pytest.importorskip("pyarrow.parquet" if parquet else "pyarrow.feather")
    (module.write_table if parquet else module.write_feather)(pyarrow.table({"a": pyarrow.nulls(10**6)}), path)


def _zip_of_zeros(path):
    pytest.importorskip("openpyxl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(10**6))


BOMBS = {
    "f.csv.gz": lambda path: path.write_bytes(gzip.compress(b"id,a\n" + b"x,1\n" * 10**5)),
    "f.xlsx": lambda path: _zip_of_zeros(path),
    "f.npz": lambda path: np.savez_compressed(path, np.zeros((1000, 1000))),
    "f.mat": lambda path: io.savemat(path, {"X": np.zeros((1000, 1000))}, do_compression=True),
    "f.parquet": _null_table,
    "f.feather": _null_table,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_may_not_unpack_to_a_large_one(tmp_path, allow_unpacked, name):
    allow_unpacked(1000)
    BOMBS[name](tmp_path / name)
    with pytest.raises(
        ValueError, match=rf"{name}: its .* bytes unpack to .* or more, but at most .* store the matrix"
    ):
        read_features(tmp_path / name)


LONG = "x" * 10**6


def _repeated(n):
    """One long text in n rows, stored once."""
    pyarrow = pytest.importorskip("pyarrow")
    ids = pyarrow.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int32), [LONG])
    return pyarrow.table({"id": ids, "a": np.zeros(n)})


def _shared_views(n):
    """One long text in n rows, each of which refers to the same buffer."""
    pyarrow = pytest.importorskip("pyarrow", minversion="20")
    views = np.tile(np.array([len(LONG), int.from_bytes(b"xxxx", "little"), 0, 0], dtype="<i4"), n)
    buffers = [None, pyarrow.py_buffer(views), pyarrow.py_buffer(LONG.encode())]
    return pyarrow.table({"id": pyarrow.Array.from_buffers(pyarrow.string_view(), n, buffers), "a": np.zeros(n)})


def _text_schema():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.schema({"id": pyarrow.string(), "a": pyarrow.float64()})


def _zeros(n):
    return pytest.importorskip("pyarrow").table({"a": np.zeros(n), "b": np.zeros(n)})


TABLE_BOMBS = {
    "a repeated text": ("f.parquet", lambda: _repeated(100), {}),
    "a text that shares its beginning with the one before": (
        "f.parquet",
        lambda: _repeated(100).cast(_text_schema()),
        {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}},
    ),
    "a repeated text in Feather": ("f.feather", lambda: _repeated(100), {}),
    "a shared text in Feather": ("f.feather", lambda: _shared_views(100), {}),
    "long texts in Feather": ("f.feather", lambda: _repeated(100).cast(_text_schema()), {}),
    "zeros in Parquet": ("f.parquet", lambda: _zeros(10**7), {}),
    "zeros in Feather": ("f.feather", lambda: _zeros(10**7), {"chunksize": 10**7}),
}


@pytest.mark.parametrize("bomb", TABLE_BOMBS)
@pytest.mark.parametrize("read", [read_graph, read_features])
def test_a_small_table_that_unpacks_to_a_large_one_takes_no_memory(tmp_path, allow_unpacked, bomb, read):
    pyarrow = pytest.importorskip("pyarrow")
    name, make, options = TABLE_BOMBS[bomb]
    module = pytest.importorskip(f"pyarrow.{name[2:]}")
    write = module.write_table if name == "f.parquet" else module.write_feather
    write(make(), tmp_path / name, compression="zstd", **options)
    allow_unpacked(10**7)
    usual, pool = pyarrow.default_memory_pool(), pyarrow.proxy_memory_pool(pyarrow.system_memory_pool())
    pyarrow.set_memory_pool(pool)
    try:
        with pytest.raises(ValueError, match=rf"{name}: its .* bytes unpack to .* or more, but at most"):
            read(tmp_path / name)
    finally:
        pyarrow.set_memory_pool(usual)
    assert pool.max_memory() < 3e7  # the content takes 1e8 bytes or more


def test_tables_with_long_and_many_texts_are_read(tmp_path, allow_unpacked):
    """By its metadata, each text could be as long as all of them together, so their sizes must be measured."""
    pytest.importorskip("pyarrow")
    allow_unpacked(10**6)
    ids = [f"node {node}" for node in range(9999)]
    frame = pd.DataFrame({"id": ids, "a": np.arange(9999) % 7})
    for write in (frame.to_parquet, frame.to_feather):
        path = tmp_path / f"f.{write.__name__[3:]}"
        write(path)
        assert list(read_features(path).node_ids) == ids


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_column_of_lists_is_refused_before_it_is_read(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    getattr(pd.DataFrame({"id": ["x", "y"], "a": [[1, 2], [3]]}), f"to_{suffix}")(tmp_path / f"f.{suffix}")
    for read in (read_features, read_graph):
        with pytest.raises(ValueError, match=r"f\..*: column 'a' is of type list.*write the file without this column"):
            read(tmp_path / f"f.{suffix}")


def test_an_h5ad_file_of_chunks_that_were_never_written_takes_no_memory(tmp_path, allow_unpacked):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    path = tmp_path / "f.h5ad"
    anndata.AnnData(sparse.csr_matrix((900, 1000), dtype=np.float32)).write_h5ad(path)
    with h5py.File(path, "a") as file:
        del file["X"]
        file.create_dataset("X", (900, 1000), dtype="f4", chunks=(10, 10)).attrs.update(
            {"encoding-type": "array", "encoding-version": "0.2.0"}
        )
    assert read_features(path).matrix.shape == (900, 1000)
    allow_unpacked(10**6)
    tracemalloc.start()
    try:
        for read in (read_features, read_graph):
            with pytest.raises(ValueError, match=r"f\.h5ad: its .* bytes unpack to .* or more, but at most"):
                read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10**6


@pytest.mark.parametrize(
    ("first", "message"),
    [("a,b", "needs the columns source, target and optionally weight"), ("source,target", "it has 2,002 columns")],
)
def test_a_wide_table_is_refused_as_a_graph_by_its_header(tmp_path, first, message):
    header = ",".join([first, *(f"c{column}" for column in range(2000))])
    (tmp_path / "g.csv").write_text(f"{header}\na row that is too short\n")
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / "g.csv")


def test_empty_columns_within_reason_are_read(tmp_path):
    sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(([1.0], ([0], [5])), shape=(2, 90_000)))
    assert read_features(tmp_path / "f.npz").matrix.shape == (2, 90_000)


@pytest.mark.parametrize(
    ("kind", "n_values"), [("real symmetric", 66 + 12), ("integer general", 144), ("real skew-symmetric", 66)]
)
def test_the_shortest_full_matrix_market_file_is_read(tmp_path, kind, n_values):
    (tmp_path / "f.mtx").write_text(f"%%MatrixMarket matrix array {kind}\n12 12\n" + "0\n" * n_values)
    assert read_features(tmp_path / "f.mtx").matrix.shape == (12, 12)


@pytest.mark.parametrize("read", [read_graph, read_features])
def test_cells_that_point_outside_of_a_feather_file_are_refused(tmp_path, read):
    """They would crash pyarrow."""
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


@pytest.mark.parametrize("error", [MemoryError(), KeyError("a"), EOFError("it ends.\nMore of it.")])
def test_any_error_of_a_parser_names_the_file_and_the_cure(tmp_path, error):
    path = tmp_path / "f.npy"
    path.write_bytes(b"any")
    message = r"f\.npy could not be read: (MemoryError|'a'|it ends); save a matrix of numbers with numpy\.save"
    with pytest.raises(ValueError, match=message) as caught, text_files.reading(path):
        raise error
    assert caught.value.__cause__ is error
