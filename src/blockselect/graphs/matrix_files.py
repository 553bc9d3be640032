"""Matrices and tables from binary files and Matrix Market files; pickled objects are never loaded."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import io, sparse
from scipy.io.matlab import matfile_version

from blockselect.extras import needed
from blockselect.graphs.features import as_float_matrix
from blockselect.graphs.text_files import BadFileError, check_unpacked, format_of, most_unpacked, text_bytes

EMPTY_LINES = 100_000  # a sparse matrix may always have this many rows or columns,
LINES_PER_ENTRY = 100  # and a large one this many per stored entry
MAT_HEADER = 128  # bytes
MAT_MATRIX, MAT_COMPRESSED = 14, 15
MAT_TYPES = {*range(1, 8), 9, 12, 13, MAT_MATRIX, MAT_COMPRESSED, 16, 17, 18}


def read_matrix(path: Path, variables: tuple[str, ...]) -> Any:
    """The only matrix of an .npy, .npz, .mtx or .mat file: a NumPy array, or CSR if the file is sparse.

    Parameters
    ----------
    path : path
    variables : tuple of str
        The names by which a variable is chosen if a .mat file holds several matrices.
    """
    suffix = format_of(path)
    matrix = _read_mat(path, variables) if suffix == ".mat" else MATRIX_READERS[suffix](path)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"its array of shape {matrix.shape} is no matrix with rows and columns")
    if not sparse.issparse(matrix):
        return matrix
    # Converting it to CSR takes memory for each row, be it empty or not.
    if max(matrix.shape) > max(EMPTY_LINES, LINES_PER_ENTRY * matrix.nnz):
        size = " × ".join(f"{length:,}" for length in matrix.shape)
        raise BadFileError(f"it declares {size} but stores {matrix.nnz:,} entries; leave out empty rows and columns.")
    return as_float_matrix(matrix, "its content")


def _read_npy(path: Path) -> Any:
    # Mapping the file first compares the declared shape with the size of the file, and refuses Python objects.
    return np.array(np.lib.format.open_memmap(path, mode="r"))


def _read_npz(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        check_unpacked(sum(member.file_size for member in archive.infolist()), path)
    with np.load(path, allow_pickle=False) as arrays:
        if "format" in arrays.files:
            return sparse.load_npz(path)
        if len(arrays.files) != 1:
            raise ValueError(f"it holds {len(arrays.files)} arrays {arrays.files[:6]}, but expected is one, the matrix")
        return arrays[arrays.files[0]]


def _read_mtx(path: Path) -> Any:
    content = text_bytes(path) + b"\n"  # without a line end SciPy reads beyond its memory
    rows, columns, n_entries, *_ = io.mminfo(BytesIO(content))
    if min(rows, columns) < 1:  # SciPy divides by them
        return np.empty((rows, columns))
    if n_entries > 2 * len(content):  # an entry takes at least two bytes; skew-symmetric files store less than half
        raise ValueError(f"it declares {n_entries:,} entries, for which the file is too short")
    return io.mmread(BytesIO(content), spmatrix=False)


MATRIX_READERS = {".npz": _read_npz, ".npy": _read_npy, ".mtx": _read_mtx}


def _read_mat(path: Path, variables: tuple[str, ...]) -> Any:
    if matfile_version(path)[0] == 1:  # the format of versions 5 to 7.2
        content = path.read_bytes()
        order = "<" if content[MAT_HEADER - 2 : MAT_HEADER] == b"IM" else ">"
        _check_elements(memoryview(content)[MAT_HEADER:], order, path)
    names = [name for name, shape, _ in io.whosmat(path) if len(shape) == 2 and min(shape) > 1]
    chosen = names if len(names) == 1 else [name for name in variables if name in names]
    if not chosen:
        raise ValueError(f"it holds the matrices {names}, none of which is called {', '.join(variables)}")
    return io.loadmat(path, variable_names=chosen[:1], spmatrix=False)[chosen[0]]


def _check_elements(content: memoryview, order: str, path: Path, *, inside: bool = False) -> None:
    """Refuse unknown types and sizes of elements in a MATLAB file, on which SciPy would crash the process."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        end = start + size + (-size % 8 if inside else 0)  # elements of a matrix are padded to eight bytes
        if inside and kind >> 16:  # a small element: its size stands beside its type, followed by up to four bytes
            kind, size, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        if kind not in MAT_TYPES or (inside and kind == MAT_COMPRESSED) or start + size > min(end, len(content)):
            raise ValueError(f"an element states the type {kind} and {size:,} bytes")
        element = content[start : start + size]
        if kind == MAT_COMPRESSED:
            element = memoryview(zlib.decompressobj().decompress(element, most_unpacked(path) + 1))
            check_unpacked(len(element), path)
        if kind in (MAT_MATRIX, MAT_COMPRESSED):
            _check_elements(element, order, path, inside=True)
        at = end


def read_arrow(path: Path) -> pd.DataFrame:
    """The table of a Parquet or Feather file, with the index that pandas stored in it, if any."""
    parquet = format_of(path) == ".parquet"
    reader = needed("pyarrow.parquet" if parquet else "pyarrow.feather", f"a {path.suffix} file")
    # Columns of one value take no space in a file but eight bytes per row in memory.
    if parquet:
        declared = reader.read_metadata(path)
        check_unpacked(8 * declared.num_rows * declared.num_columns, path)
    stored = reader.read_table(path)
    check_unpacked(8 * stored.num_rows * stored.num_columns, path)
    stored.validate(full=True)  # pyarrow would crash on cells that point outside of a damaged file
    table: pd.DataFrame = stored.to_pandas()
    return table
