"""Sizes that a file declares, against what it holds: a few bytes must not make a reader ask for gigabytes."""

from __future__ import annotations

import math
import zipfile
from typing import IO, Any

import numpy as np

EMPTY_LINES = 100_000  # rows or columns that may be there whatever is stored
LINES_PER_ENTRY = 100  # beyond those: rows or columns for each stored entry
UNPACKED_BYTES = 2**30  # that may be unpacked whatever the size of the file
UNPACKED_RATIO = 200  # beyond those: bytes for each byte of the file


def check_sparse_shape(shape: tuple[int, ...], n_stored: int) -> None:
    """Refuse a sparse matrix of which nearly all rows or columns must be empty."""
    if max(shape, default=0) > max(EMPTY_LINES, LINES_PER_ENTRY * n_stored):
        declared = " × ".join(f"{size:,}" for size in shape)
        raise ValueError(
            f"it declares {declared} but stores {n_stored:,} entries, so that nearly all of its rows or columns are "
            "empty; leave those out"
        )


def most_unpacked(file_bytes: int) -> int:
    """Bytes to which a compressed file of this size may unpack."""
    return max(UNPACKED_BYTES, UNPACKED_RATIO * file_bytes)


def check_unpacked_size(n_bytes: int, file_bytes: int) -> None:
    """Refuse a compressed file that becomes far larger than data do."""
    if n_bytes > most_unpacked(file_bytes):
        raise ValueError(
            f"its {file_bytes:,} bytes unpack to {n_bytes:,}, more than {UNPACKED_RATIO} for each; store it sparse, or "
            "without compression"
        )


def check_numpy_file(file: IO[bytes], file_bytes: int) -> None:
    """Refuse an .npy or .npz file whose headers promise more than follows. Reads headers alone; the file is rewound."""
    if zipfile.is_zipfile(file):
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            check_unpacked_size(sum(member.file_size for member in archive.infolist()), file_bytes)
            for member in archive.infolist():
                if member.filename.endswith(".npy"):
                    with archive.open(member) as content:
                        _check_array(content, member.file_size, member.filename)
    else:
        file.seek(0)
        if file.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX:
            file.seek(0)
            _check_array(file, file_bytes, "the array")
    file.seek(0)


def _check_array(content: IO[bytes], n_bytes: int, name: str) -> None:
    shape, dtype = read_array_header(content)
    declared = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and declared > n_bytes:
        raise ValueError(f"{name} declares the shape {shape}, {declared:,} bytes, but only {n_bytes:,} are there")


def read_array_header(content: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type that the header of an .npy file declares."""
    version = np.lib.format.read_magic(content)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(content)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(content)
    else:
        raise ValueError(f"its array is of the .npy version {version}, which no matrix of numbers needs")
    if any(size < 0 for size in shape):
        raise ValueError(f"its array declares the shape {shape}")
    return shape, dtype
