"""Files that would take all memory or end the process are refused; sound files near the limits are read."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from blockselect.graphs import read_features, read_graph, text_files
from error_cases.files import FILE_CASES


@pytest.mark.parametrize("case", [case for case in FILE_CASES if "10¹²" in case.title or "10⁹" in case.title
    or "declares too much" in case.title or "empty rows" in case.title], ids=lambda case: case.title)  # fmt: skip
def test_a_file_that_declares_more_than_it_holds_takes_no_memory(tmp_path, case):
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


BOMBS = {
    "f.csv.gz": lambda path: path.write_bytes(gzip.compress(b"id,a\n" + b"x,1\n" * 10**5)),
    "f.csv.zst": lambda path: path.write_bytes(pytest.importorskip("zstandard").compress(b"id,a\n" + b"x,1\n" * 10**6)),
    "f.npz": lambda path: np.savez_compressed(path, np.zeros((1000, 1000))),
    "f.mat": lambda path: io.savemat(path, {"X": np.zeros((1000, 1000))}, do_compression=True),
    "f.parquet": _null_table,
    "f.feather": _null_table,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_may_not_unpack_to_a_large_one(tmp_path, monkeypatch, name):
    monkeypatch.setattr(text_files, "UNPACKED_BYTES", 1000)
    BOMBS[name](tmp_path / name)
    with pytest.raises(
        ValueError, match=rf"{name}: its .* bytes unpack to .* or more, but at most .* store the matrix"
    ):
        read_features(tmp_path / name)


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
    """They would make pyarrow end the process."""
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
