"""Text files, plain or packed by gzip or Zstandard, opened alike."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from blockselect.extras import needed
from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.declared_sizes import UNPACKED_RATIO, most_unpacked

PACKED = (".gz", ".zst")
_CHUNK = 2**20
_ZSTD_PIECE = 2**12  # a byte can become 32,768


def format_of(path: Path) -> str:
    """The suffix that says what is in a file: .csv of edges.csv.gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in PACKED else (suffixes or [""])[-1]


def is_packed(path: Path) -> bool:
    return path.suffix.lower() in PACKED


def open_text(path: Path, *, newline: str | None = None) -> TextIO:
    """The text of a file, UTF-8 with or without a byte-order mark."""
    if not path.is_file():  # a pipe gives what it has once, and a device never ends
        raise FileNotFoundError(f"{path} does not exist or is no file; check the path.")
    if not is_packed(path):
        return path.open(newline=newline, encoding="utf-8-sig")
    return io.TextIOWrapper(io.BytesIO(_unpacked(path)), newline=newline, encoding="utf-8-sig")


def read_text(path: Path) -> str:
    """All of the text."""
    try:
        with open_text(path) as lines:
            return lines.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error


def file_bytes(path: Path) -> bytes:
    """All bytes of a file, unpacked where it is packed."""
    return _unpacked(path) if is_packed(path) else path.read_bytes()


def _unpacked(path: Path) -> bytes:
    """All bytes, refused where they become far more than data do."""
    limit = most_unpacked(path.stat().st_size)
    parts, total = [], 0
    advice = "pack it again with gzip or zstd."
    with naming_file(path, advice, problem="could not be unpacked"):
        for part in _gzip_parts(path) if path.suffix.lower() == ".gz" else _zstd_parts(path):
            parts.append(part)
            total += len(part)
            if total > limit:
                raise ValueError(f"it unpacks to more than {limit:,} bytes, {UNPACKED_RATIO} for each of its own")
    return b"".join(parts)


def _gzip_parts(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as stream:
        while part := stream.read(_CHUNK):
            yield part


def _zstd_parts(path: Path) -> Iterator[bytes]:
    """Frame by frame: the package's own stream takes the end of a cut file for the end of the data."""
    unpacker = needed("zstandard", f"{path}, packed by Zstandard,").ZstdDecompressor()
    frame = unpacker.decompressobj()
    with path.open("rb") as stream:
        while piece := stream.read(_ZSTD_PIECE):
            while piece:
                if frame.eof:
                    frame = unpacker.decompressobj()
                yield frame.decompress(piece)
                piece = frame.unused_data
    if not frame.eof:
        raise ValueError("it ends before its data do")
