"""Matrices from NumPy, SciPy, MATLAB and Matrix Market files; pickled objects are never loaded."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse
from scipy.io.matlab import matfile_version

from blockselect.inputs.kinds import FeatureTable
from blockselect.inputs.text_files import (
    BadFileError,
    check_unpacked,
    format_of,
    most_unpacked,
    note,
    read_names,
    text_bytes,
)
from blockselect.rows.matrices import as_float_matrix

EMPTY_LINES = 100_000  # a sparse matrix may have this many rows or columns in any case,
LINES_PER_ENTRY = 100  # and a large matrix this many per stored entry
MAT_HEADER = 128  # bytes
MAT_MATRIX, MAT_COMPRESSED = 14, 15
MAT_TYPES = {*range(1, 8), 9, 12, 13, MAT_MATRIX, MAT_COMPRESSED, 16, 17, 18}


def read_matrix(path: Path, variables: tuple[str, ...]) -> Any:
    """Read the matrix of an .npy, .npz, .mtx or .mat file: a NumPy array, or CSR if it is stored as sparse.

    Parameters
    ----------
    path : path
    variables : tuple of str
        Names of the variable to read if a .mat or .npz file contains several matrices.
    """
    suffix = format_of(path)
    matrix = MATRIX_READERS[suffix](path, variables)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"its array of shape {matrix.shape} is not a matrix with rows and columns")
    if not sparse.issparse(matrix):
        return matrix
    # In CSR, even an empty row takes memory.
    if max(matrix.shape) > max(EMPTY_LINES, LINES_PER_ENTRY * matrix.nnz):
        size = " × ".join(f"{length:,}" for length in matrix.shape)
        raise BadFileError(f"it declares {size} but stores {matrix.nnz:,} entries; leave out empty rows and columns.")
    return as_float_matrix(matrix, "its content")


def _read_npy(path: Path, variables: tuple[str, ...]) -> Any:
    # Mapping the file first compares the declared shape with the size of the file, and refuses Python objects.
    return np.array(np.lib.format.open_memmap(path, mode="r"))


def _read_npz(path: Path, variables: tuple[str, ...]) -> Any:
    with zipfile.ZipFile(path) as archive:
        check_unpacked(sum(member.file_size for member in archive.infolist()), path)
    with np.load(path, allow_pickle=False) as arrays:
        if "format" in arrays.files:
            return sparse.load_npz(path)
        return arrays[_chosen(arrays.files, variables)]


def _read_mtx(path: Path, variables: tuple[str, ...]) -> Any:
    content = text_bytes(path) + b"\n"  # without a final line break, SciPy would read beyond the buffer
    rows, columns, n_entries, *_ = io.mminfo(BytesIO(content))
    if min(rows, columns) < 1:  # SciPy would divide by zero
        return np.empty((rows, columns))
    if n_entries > 2 * len(content):  # an entry takes at least two bytes; skew-symmetric files store less than half
        raise ValueError(f"it declares {n_entries:,} entries, for which the file is too short")
    return io.mmread(BytesIO(content), spmatrix=False)


def _read_mat(path: Path, variables: tuple[str, ...]) -> Any:
    if matfile_version(path)[0] == 1:  # the format of versions 5 to 7.2
        content = path.read_bytes()
        order = "<" if content[MAT_HEADER - 2 : MAT_HEADER] == b"IM" else ">"
        _check_elements(memoryview(content)[MAT_HEADER:], order, path)
    names = [name for name, shape, _ in io.whosmat(path) if len(shape) == 2 and min(shape) > 1]
    name = _chosen(names, variables)
    return io.loadmat(path, variable_names=[name], spmatrix=False)[name]


def _chosen(names: list[str], variables: tuple[str, ...]) -> str:
    """Return the only name or, if there are several, the first expected variable name that is among them."""
    chosen = names if len(names) == 1 else [name for name in variables if name in names]
    if not chosen:
        raise ValueError(f"it contains the matrices {names[:6]}, but none called {', '.join(variables)}")
    return chosen[0]


def _check_elements(content: memoryview, order: str, path: Path, *, inside: bool = False) -> None:
    """Raise an error for elements of a MATLAB file with an unknown type or size, which would crash SciPy."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        end = start + size + (-size % 8 if inside else 0)  # elements of a matrix are padded to eight bytes
        if inside and kind >> 16:  # a small element: type and size share four bytes, and up to four bytes follow
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


MATRIX_READERS = {".npz": _read_npz, ".npy": _read_npy, ".mtx": _read_mtx, ".mat": _read_mat}


def with_10x_names(file: Path, table: FeatureTable) -> FeatureTable:
    """Transpose a matrix written by 10x software, and read the names of cells and genes from the files next to it."""
    prefix = file.name[: max(0, file.name.lower().find("matrix.mtx"))]

    def find(*names: str) -> Path | None:
        candidates = [file.with_name(f"{prefix}{name}{packed}") for name in names for packed in ("", ".gz")]
        return next((candidate for candidate in candidates if candidate.is_file()), None)

    barcodes, genes = find("barcodes.tsv"), find("features.tsv", "genes.tsv")
    if barcodes is None or genes is None:
        return table
    ids, names = read_names(barcodes), read_names(genes)
    if table.matrix.shape != (len(names), len(ids)):
        raise ValueError(
            f"{file} has shape {table.matrix.shape}, but {genes.name} has {len(names)} lines and {barcodes.name} "
            f"{len(ids)}; 10x writes genes in rows and cells in columns: use three files of the same run, or move "
            "these two away."
        )
    try:
        symbols = read_names(genes, column=1)
    except ValueError:  # there is only one column
        symbols = names
    note("read %s as 10x writes it: cells are nodes, genes are features", file.name)
    return FeatureTable(sparse.csr_array(table.matrix.T), ids, symbols if len(set(symbols)) == len(symbols) else names)
