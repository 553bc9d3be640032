"""Small files that declare large matrices are refused by their headers; what is declared and there is read."""

from __future__ import annotations

import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest
from scipy import sparse

from blockselect.graphs import read_features
from blockselect.graphs.io import declared_sizes
from blockselect.graphs.io.declared_sizes import check_sparse_shape, check_unpacked_size, read_array_header

MTX = "%%MatrixMarket matrix"


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_rows_of_nothing_are_counted_before_they_are_made(tmp_path, monkeypatch, name):
    pyarrow = pytest.importorskip("pyarrow")
    module = pytest.importorskip("pyarrow.parquet" if name == "t.parquet" else "pyarrow.feather")
    write = module.write_table if name == "t.parquet" else module.write_feather
    write(pyarrow.table({"a": pyarrow.nulls(10**7)}), tmp_path / name)
    monkeypatch.setattr(declared_sizes, "UNPACKED_BYTES", 10**6)
    with pytest.raises(ValueError, match=r"unpack to 80,000,000, more than 200 for each"):
        read_features(tmp_path / name)


def npy_header(shape):
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": "<f8"})
    return file.getvalue()


def npz_of(**members):
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def sparse_npz(shape, form):
    file = BytesIO()
    matrix = sparse.coo_array((np.ones(2), ([0, 1], [1, shape[1] - 1])), shape=shape)
    sparse.save_npz(file, matrix.asformat(form))
    return file.getvalue()


LIARS = {
    "empty columns": ("f.npz", sparse_npz((40, 10**7), "csr"), r"declares 40 × 10,000,000 but stores 2 entries"),
    "coo with empty rows": ("f.npz", sparse_npz((10**9, 10**9), "coo"), r"nearly all of its rows or columns are empty"),
    "npy": ("f.npy", npy_header((10**6, 10**6)), r"declares the shape \(1000000, 1000000\), 8,000,000,000,000 bytes"),
    "npy of negative size": ("f.npy", npy_header((-1, 5)), r"shape \(-1, 5\)"),
    "npz": ("f.npz", npz_of(a=npy_header((10**6, 10**6))), r"but only 128 are there"),
    "mtx": ("f.mtx", f"{MTX} coordinate real general\n1000000000 1000000000 1\n1 1 1\n".encode(), r"stores 1 entries"),
    "mtx of many entries": ("f.mtx", f"{MTX} coordinate real general\n9 9 1000000000000\n1 1 1\n".encode(),
        r"declares 1,000,000,000,000 entries, for which the file is too short"),
    "full mtx": ("f.mtx", f"{MTX} array real general\n1000000 1000000\n1\n".encode(), r"the file is too short"),
}  # fmt: skip


@pytest.mark.parametrize("case", LIARS)
def test_a_file_that_declares_more_than_it_holds_is_refused_without_the_memory(tmp_path, case):
    name, content, message = LIARS[case]
    (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            read_features(tmp_path / name)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**24


def test_a_zip_that_unpacks_to_far_more_is_refused():
    check_unpacked_size(2**30, 1000)
    check_unpacked_size(200 * 10**9, 10**9)
    with pytest.raises(ValueError, match=r"its 1,000 bytes unpack to 1,073,741,825, more than 200 for each; store it"):
        check_unpacked_size(2**30 + 1, 1000)


def test_empty_rows_and_columns_within_reason_are_read(tmp_path):
    for shape, n_stored in (((3, 100_000), 0), ((100, 10**7), 10**5), ((0, 0), 0)):
        check_sparse_shape(shape, n_stored)
    sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(([1.0], ([0], [5])), shape=(2, 90_000)))
    assert read_features(tmp_path / "f.npz").matrix.shape == (2, 90_000)


@pytest.mark.parametrize("kind", ["array real symmetric", "array integer general", "array real skew-symmetric"])
def test_the_shortest_full_matrix_market_file_is_read(tmp_path, kind):
    size = 12
    n_values = {"general": size**2, "symmetric": size * (size + 1) // 2, "skew-symmetric": size * (size - 1) // 2}
    values = "0\n" * n_values[kind.split()[-1]]
    (tmp_path / "f.mtx").write_text(f"{MTX} {kind}\n{size} {size}\n{values}")
    assert read_features(tmp_path / "f.mtx").matrix.shape == (size, size)


def test_headers_of_both_versions_are_read():
    for version in ((1, 0), (2, 0)):
        file = BytesIO()
        np.lib.format.write_array(file, np.zeros((2, 3)), version=version)
        file.seek(0)
        assert read_array_header(file) == ((2, 3), np.dtype("f8"))


def test_a_negative_shape_is_refused(tmp_path):
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": (2, -3), "fortran_order": False, "descr": "<f8"})
    (tmp_path / "f.npy").write_bytes(file.getvalue() + bytes(48))
    with pytest.raises(ValueError, match=r"f\.npy could not be read: its array declares the shape \(2, -3\)"):
        read_features(tmp_path / "f.npy")


def test_other_files_in_an_archive_are_no_arrays(tmp_path):
    np.savez(tmp_path / "f.npz", np.eye(3))
    with zipfile.ZipFile(tmp_path / "f.npz", "a") as archive:
        archive.writestr("readme.txt", "made by hand")
    with pytest.raises(ValueError, match=r"it holds 2 arrays .*readme\.txt.* exactly one can be the matrix"):
        read_features(tmp_path / "f.npz")


def test_an_array_of_another_version_is_refused(tmp_path):
    """Version 3 is for names in any alphabet, which no matrix has."""
    with (tmp_path / "f.npy").open("wb") as file:
        np.lib.format.write_array(file, np.eye(3), version=(3, 0))
    with pytest.raises(
        ValueError, match=r"its array is of the \.npy version \(3, 0\), which no matrix of numbers needs"
    ):
        read_features(tmp_path / "f.npy")
