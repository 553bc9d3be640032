"""Tables from Parquet and Feather files, after a check that a small file does not unpack to a huge table."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blockselect.inputs.text_files import BadFileError, check_unpacked, format_of, most_unpacked
from blockselect.utils.extras import needed

ARROW_MAGIC = b"ARROW1\0\0"


def read_arrow(path: Path) -> pd.DataFrame:
    """Read the table of a Parquet or Feather file, with the index that pandas stored, if any."""
    needed("pyarrow", f"a {path.suffix} file")
    stored = _read_parquet(path) if format_of(path) == ".parquet" else _read_feather(path)
    stored.validate(full=True)  # pyarrow would crash on cells that point outside the file
    check_unpacked(sum(map(_bytes_in_pandas, stored.columns)), path)
    table: pd.DataFrame = stored.to_pandas()
    return table


def _read_parquet(path: Path) -> Any:
    """Read a table after comparing its declared size with the file size; text columns are measured in batches."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        _refuse_nested(file.schema_arrow)
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        total, texts = 0, []
        for number in range(file.metadata.num_columns):
            schema, parts = file.schema.column(number), [group.column(number) for group in groups]
            width = max(8, schema.length)  # `length` is the size of binary cells, if it is fixed
            total += sum(max(width * part.num_values, part.total_uncompressed_size) for part in parts)
            if schema.physical_type == "BYTE_ARRAY":  # no text is longer than all texts of its row group together
                longest = max((part.total_uncompressed_size for part in parts), default=0)
                texts += [(schema.path, longest)] if longest * file.metadata.num_rows > most_unpacked(path) else []
        check_unpacked(total, path)
        for name, longest in texts:  # a long text may be stored once and repeated in every row
            for batch in file.iter_batches(max(1, min(2**16, most_unpacked(path) // 4 // longest)), columns=[name]):
                total += batch.nbytes
                check_unpacked(total, path)
        return file.read()


def _read_feather(path: Path) -> Any:
    """Read a table after comparing the sizes that its buffers declare with the file size."""
    import pyarrow
    from pyarrow import feather, ipc

    with pyarrow.OSFile(str(path)) as file:
        if file.read(len(ARROW_MAGIC)) != ARROW_MAGIC:  # version 1 of the format has no compression
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
    """Return the unpacked size, in bytes, of the compressed buffers of an Arrow message; 0 if it has none.

    pyarrow does not report this size, so it is read from Arrow's metadata, a FlatBuffer: a table begins with the offset
    of a list of its field offsets, and each buffer begins with its unpacked size.
    """
    metadata, body = memoryview(message.metadata), message.body
    if message.type not in ("dictionary", "record batch"):
        return 0

    def number(kind: str, at: int) -> int:
        return int(struct.unpack_from(kind, metadata, at)[0])

    def field(table: int, place: int) -> int:
        """Return the position of a field, or 0 if the table does not have it."""
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
    """Raise an error for columns of lists or records, which cannot be features."""
    from pyarrow import types

    for column in schema:
        if types.is_nested(column.type):
            raise BadFileError(
                f"column {column.name!r} is of type {column.type}, but a table has one number or text per cell; write "
                "the file without this column."
            )


def _bytes_in_pandas(column: Any) -> int:
    """Return the size of a column in pandas if each cell takes eight bytes plus its own copy of the text."""
    from pyarrow import array, compute, types

    total = 8 * len(column)
    for part in column.chunks:
        texts = part.dictionary if types.is_dictionary(part.type) else part
        if "view" in str(texts.type):  # a cell contains the length and the position of a text, in 16 bytes
            cells = np.frombuffer(texts.buffers()[1], dtype="<i4").reshape(-1, 4)
            lengths = array(cells[texts.offset :][: len(texts), 0])
        elif str(texts.type).startswith(("string", "large_string", "binary", "large_binary", "fixed_size_binary")):
            lengths = compute.binary_length(texts)
        else:
            continue
        total += compute.sum(lengths if texts is part else lengths.take(part.indices)).as_py() or 0
    return total
