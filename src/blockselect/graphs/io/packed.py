"""Text files, plain or packed by gzip or Zstandard, opened alike."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any, TextIO

from blockselect.extras import needed
from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.declared_sizes import UNPACKED_RATIO, most_unpacked

PACKED = (".gz", ".zst")
_CHUNK = 2**20


def format_of(path: Path) -> str:
    """The suffix that says what is in a file: .csv of edges.csv.gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in PACKED else (suffixes or [""])[-1]


def is_packed(path: Path) -> bool:
    return path.suffix.lower() in PACKED


def open_text(path: Path, *, newline: str | None = None) -> TextIO:
    """The text of a file, UTF-8 with or without a byte-order mark."""
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
    with naming_file(path, advice, problem="could not be unpacked"), _stream(path) as stream:
        while part := stream.read(_CHUNK):
            parts.append(part)
            total += len(part)
            if total > limit:
                raise ValueError(f"it unpacks to more than {limit:,} bytes, {UNPACKED_RATIO} for each of its own")
    return b"".join(parts)


def _stream(path: Path) -> Any:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")
    return needed("zstandard", f"{path}, packed by Zstandard,").open(path, "rb")
