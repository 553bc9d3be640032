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

from blockselect.inputs.text_files import BadFileError, check_unpacked, format_of, most_unpacked, text_bytes
from blockselect.rows.matrices import as_float_matrix
from blockselect.utils.extras import needed

EMPTY_LINES = 100_000  # a sparse matrix may always have this many rows or columns,
LINES_PER_ENTRY = 100  # and a large one this many per stored entry
ARROW_MAGIC = b"ARROW1\0\0"
MAT_HEADER = 128  # bytes
MAT_MATRIX, MAT_COMPRESSED = 14, 15
MAT_TYPES = {*range(1, 8), 9, 12, 13, MAT_MATRIX, MAT_COMPRESSED, 16, 17, 18}


def read_matrix(path: Path, variables: tuple[str, ...]) -> Any:
    """The only matrix of an .npy, .npz, .mtx or .mat file: a NumPy array, or CSR if the file is sparse.

    Parameters
    ----------
    path : path
    variables : tuple of str
        The names of the variable to read if a .mat or .npz file contains several matrices.
    """
    suffix = format_of(path)
    matrix = MATRIX_READERS[suffix](path, variables)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"its array of shape {matrix.shape} is not a matrix with rows and columns")
    if not sparse.issparse(matrix):
        return matrix
    # Converting it to CSR takes memory for each row, be it empty or not.
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
    content = text_bytes(path) + b"\n"  # without a line end SciPy reads beyond its memory
    rows, columns, n_entries, *_ = io.mminfo(BytesIO(content))
    if min(rows, columns) < 1:  # SciPy divides by them
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
    """The only name, or the first of the variables that is among them."""
    chosen = names if len(names) == 1 else [name for name in variables if name in names]
    if not chosen:
        raise ValueError(f"it contains the matrices {names[:6]}, but none called {', '.join(variables)}")
    return chosen[0]


def _check_elements(content: memoryview, order: str, path: Path, *, inside: bool = False) -> None:
    """Refuse unknown types and sizes of elements in a MATLAB file, on which SciPy would crash the process."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        end = start + size + (-size % 8 if inside else 0)  # elements of a matrix are padded to eight bytes
        if inside and kind >> 16:  # a small element: its size is stored with its type, followed by up to four bytes
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


def read_arrow(path: Path) -> pd.DataFrame:
    """The table of a Parquet or Feather file, with the index that pandas stored in it, if any."""
    needed("pyarrow", f"a {path.suffix} file")
    stored = _read_parquet(path) if format_of(path) == ".parquet" else _read_feather(path)
    stored.validate(full=True)  # pyarrow would crash on cells that point outside of a damaged file
    check_unpacked(sum(map(_bytes_in_pandas, stored.columns)), path)
    table: pd.DataFrame = stored.to_pandas()
    return table


def _read_parquet(path: Path) -> Any:
    """Compare the declared sizes with that of the file, measure columns of text in batches, and read the table."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        _refuse_nested(file.schema_arrow)
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        total, texts = 0, []
        for number in range(file.metadata.num_columns):
            schema, parts = file.schema.column(number), [group.column(number) for group in groups]
            width = max(8, schema.length)  # `length` is that of binary cells of one size
            total += sum(max(width * part.num_values, part.total_uncompressed_size) for part in parts)
            if schema.physical_type == "BYTE_ARRAY":  # no text is longer than all texts of its group together
                longest = max((part.total_uncompressed_size for part in parts), default=0)
                texts += [(schema.path, longest)] if longest * file.metadata.num_rows > most_unpacked(path) else []
        check_unpacked(total, path)
        for name, longest in texts:  # a long text that is stored once may be repeated in every row
            for batch in file.iter_batches(max(1, min(2**16, most_unpacked(path) // 4 // longest)), columns=[name]):
                total += batch.nbytes
                check_unpacked(total, path)
        return file.read()


def _read_feather(path: Path) -> Any:
    """Compare the sizes that its buffers declare with that of the file, and read the table."""
    import pyarrow
    from pyarrow import feather, ipc

    with pyarrow.OSFile(str(path)) as file:
        if file.read(len(ARROW_MAGIC)) != ARROW_MAGIC:  # the first version of the format, which has no compression
            return feather.read_table(path)
        total = 0
        for message in ipc.MessageReader.open_stream(file):
            total += _declared_bytes(message)
            check_unpacked(total, path)
        file.seek(len(ARROW_MAGIC))
        reader = ipc.open_stream(file)
        _refuse_nested(reader.schema)
        return reader.read_all()


def _declared_bytes(message: Any) -> int:
    """The bytes to which the compressed buffers of an Arrow message unpack; 0 if it has none.

    pyarrow does not report it, so this follows the layout of Arrow's metadata, a FlatBuffer: a table begins with the
    distance to a list of the distances of its fields, and each buffer begins with its unpacked size.
    """
    metadata, body = memoryview(message.metadata), message.body
    if message.type not in ("dictionary", "record batch"):
        return 0

    def number(kind: str, at: int) -> int:
        return int(struct.unpack_from(kind, metadata, at)[0])

    def field(table: int, place: int) -> int:
        """The position of a field, or 0 if the table does not have it."""
        fields = table - number("<i", table)
        distance = number("<H", fields + 4 + 2 * place) if 4 + 2 * place < number("<H", fields) else 0
        return table + distance if distance else 0

    def inner(table: int, place: int) -> int:
        at = field(table, place)
        return at + number("<I", at)

    batch = inner(number("<I", 0), 2)
    if message.type == "dictionary":
        batch = inner(batch, 1)
    if not field(batch, 3):  # no compression
        return 0
    buffers = inner(batch, 2)
    places = struct.iter_unpack("<qq", metadata[buffers + 4 : buffers + 4 + 16 * number("<I", buffers)])
    return sum(max(0, struct.unpack_from("<q", body, start)[0]) for start, length in places if length)


def _refuse_nested(schema: Any) -> None:
    """Raise an error for columns of lists and the like, which cannot be features."""
    from pyarrow import types

    for column in schema:
        if types.is_nested(column.type):
            raise BadFileError(
                f"column {column.name!r} is of type {column.type}, but a table has one number or text per cell; write "
                "it without this column."
            )


def _bytes_in_pandas(column: Any) -> int:
    """The size of a column of an Arrow table in pandas, if each cell has a text of its own and eight bytes."""
    from pyarrow import array, compute, types

    total = 8 * len(column)
    for part in column.chunks:
        texts = part.dictionary if types.is_dictionary(part.type) else part
        if "view" in str(texts.type):  # a cell is the length and the place of a text, in 16 bytes
            cells = np.frombuffer(texts.buffers()[1], dtype="<i4").reshape(-1, 4)
            lengths = array(cells[texts.offset :][: len(texts), 0])
        elif str(texts.type).startswith(("string", "large_string", "binary", "large_binary", "fixed_size_binary")):
            lengths = compute.binary_length(texts)
        else:
            continue
        total += compute.sum(lengths if texts is part else lengths.take(part.indices)).as_py() or 0
    return total
