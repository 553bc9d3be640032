"""Elements of a MATLAB 5 file, walked before SciPy reads them: it dies of types and sizes that are wrong."""

from __future__ import annotations

import struct
import zlib

from blockselect.graphs.io.declared_sizes import most_unpacked

HDF5 = (b"\x00\x02", b"\x02\x00")  # version 7.3, in either byte order
HEADER = 128  # bytes; the last two give the byte order
MATRIX, COMPRESSED = 14, 15
TYPES = {*range(1, 8), 9, 12, 13, MATRIX, COMPRESSED, 16, 17, 18}
DEEPEST = 20  # matrices within matrices: cells and structures


def check_mat_file(content: bytes) -> None:
    """Refuse a file of version 5 whose elements have unknown types, or reach beyond what holds them."""
    if len(content) < HEADER or 0 in content[:4] or content[124:126] in HDF5:  # versions 4 and 7.3 have no elements
        return
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER])
    if order is None:
        raise ValueError("its header gives no byte order")
    _check_elements(content[HEADER:], order, depth=0, limit=most_unpacked(len(content)))


def _check_elements(content: bytes, order: str, *, depth: int, limit: int) -> None:
    if depth > DEEPEST:
        raise ValueError(f"its matrices lie more than {DEEPEST} deep within one another")
    at = 0
    while at < len(content):
        if at + 8 > len(content):
            raise ValueError("it ends within an element")
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        if kind >> 16 and depth:  # up to four bytes stand beside the type
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        if kind not in TYPES or size > (4 if start == at + 4 else len(content) - start):
            raise ValueError(f"an element states the type {kind} and {size:,} bytes")
        inside = content[start : start + size]
        if kind == COMPRESSED:
            _check_elements(_unpacked(inside, limit), order, depth=depth + 1, limit=limit)
        elif kind == MATRIX:
            _check_elements(inside, order, depth=depth + 1, limit=limit)
        # Elements within a matrix begin at multiples of eight bytes.
        at = start + size if not depth else at + 8 if start == at + 4 else start + size + -size % 8


def _unpacked(packed: bytes, limit: int) -> bytes:
    unpacked = zlib.decompressobj().decompress(packed, limit + 1)
    if len(unpacked) > limit:
        raise ValueError(f"it unpacks to more than {limit:,} bytes")
    return unpacked
