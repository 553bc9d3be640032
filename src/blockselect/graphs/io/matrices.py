"""Matrices from .npz, .npy and Matrix Market files; pickled objects are never loaded."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import io, sparse

from blockselect.graphs.convert import as_float_matrix
from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.declared_sizes import check_numpy_file, check_sparse_shape
from blockselect.graphs.io.packed import file_bytes, format_of


def read_matrix(path: Path) -> Any:
    """The one matrix of a file: a NumPy array, or CSR if the file is sparse."""
    suffix = format_of(path)
    with naming_file(path, HOW_TO_SAVE[suffix]):
        matrix = MATRIX_READERS[suffix](path)
        if matrix.ndim != 2:
            raise ValueError(f"its array has shape {matrix.shape}, which is no matrix")
        if 0 in matrix.shape:
            raise ValueError(f"it declares {' × '.join(f'{size:,}' for size in matrix.shape)}, which holds nothing")
        if sparse.issparse(matrix):
            check_sparse_shape(matrix.shape, matrix.nnz)
        # Not before its indices are checked is a sparse matrix converted: stray ones would corrupt memory.
        return as_float_matrix(matrix, "its content") if sparse.issparse(matrix) else matrix


def _read_numpy(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            check_numpy_file(file, path.stat().st_size)
            loaded = np.load(file, allow_pickle=False)
            return loaded if isinstance(loaded, np.ndarray) else _only_matrix(loaded, file)
        except ValueError as error:
            if "pickle" in str(error):  # NumPy would advise to allow it
                raise ValueError("it holds pickled objects, which could run code, or is damaged") from error
            raise


def _only_matrix(archive: Any, file: BinaryIO) -> Any:
    if "format" in archive.files:
        file.seek(0)
        return sparse.load_npz(file)
    if len(archive.files) != 1:
        raise ValueError(f"it holds {len(archive.files)} arrays {archive.files[:6]} and exactly one can be the matrix")
    return archive[archive.files[0]]


def _read_matrix_market(path: Path) -> Any:
    content = file_bytes(path)
    rows, columns, n_entries, layout, *_ = io.mminfo(BytesIO(content))
    if min(rows, columns) < 1:  # SciPy's parser of full matrices divides by their number, and the process dies
        return np.empty((rows, columns))
    # The shortest entries are "1 1" with its line end, and of a full matrix "0", half of them where it is symmetric.
    n_bytes = 4 * n_entries if layout == "coordinate" else max(0, n_entries - rows)
    if n_bytes > len(content) + 1:
        raise ValueError(f"it declares {n_entries:,} entries, for which the file is too short")
    if layout == "coordinate":
        check_sparse_shape((rows, columns), n_entries)
    _check_characters(content)
    return io.mmread(BytesIO(content if content.endswith(b"\n") else content + b"\n"))


def _check_characters(content: bytes) -> None:
    """Refuse what no number is written with: SciPy's parser reads beyond its memory there, and the process dies."""
    stray = COMMENTS.sub(b"", content, count=1).translate(None, OF_NUMBERS)
    if stray:
        raise ValueError(f"it holds {stray[:1]!r} where numbers are expected")


COMMENTS = re.compile(rb"\A(?:%[^\n]*\n)+")
OF_NUMBERS = b"0123456789+-.eEiInNfFaA \t\r\n"

MATRIX_READERS: dict[str, Callable[[Path], Any]] = {
    ".npz": _read_numpy,
    ".npy": _read_numpy,
    ".mtx": _read_matrix_market,
}

HOW_TO_SAVE = {
    ".npz": "save the matrix with scipy.sparse.save_npz(path, matrix) or numpy.savez(path, matrix).",
    ".npy": "save the matrix, of numbers alone, with numpy.save(path, matrix).",
    ".mtx": "save the matrix with scipy.io.mmwrite(path, matrix).",
}
