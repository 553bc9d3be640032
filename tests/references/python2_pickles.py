"""Pickles as Python 2 wrote them, put together from their instructions: arrays, CSR matrices and dicts of lists."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

NONE, FALSE, REDUCE, BUILD = b"N", b"\x89", b"R", b"b"


def pickled(body: bytes) -> bytes:
    return b"\x80\x02" + body + b"."


def name(module: str, attribute: str) -> bytes:
    return b"c" + f"{module}\n{attribute}\n".encode()


def text(content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return b"T" + struct.pack("<i", len(content)) + content


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def tuple_of(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def list_of(*items: bytes) -> bytes:
    return b"](" + b"".join(items) + b"e"


def dict_of(items: Mapping[str, bytes]) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def call(function: bytes, *arguments: bytes) -> bytes:
    return function + tuple_of(*arguments) + REDUCE


def dtype(code: str, order: str = "<") -> bytes:
    state = tuple_of(number(3), text(order), NONE, NONE, NONE, number(-1), number(-1), number(0))
    return call(name("numpy", "dtype"), text(code), number(0), number(1)) + state + BUILD


def array_of(shape: Sequence[int], kind: bytes, data: bytes, *, of: bytes = name("numpy", "ndarray")) -> bytes:
    empty = call(name("numpy.core.multiarray", "_reconstruct"), of, tuple_of(number(0)), text("b"))
    return empty + tuple_of(number(1), tuple_of(*map(number, shape)), kind, FALSE, data) + BUILD


def array(values: np.ndarray) -> bytes:
    return array_of(values.shape, dtype(values.dtype.str.strip("<|")), text(values.tobytes()))


def csr_of(shape: Sequence[int], data: bytes, indices: bytes, indptr: bytes, **more: bytes) -> bytes:
    state = {"_shape": tuple_of(*map(number, shape)), "data": data, "indices": indices, "indptr": indptr, **more}
    return name("scipy.sparse.csr", "csr_matrix") + b")\x81" + dict_of(state) + BUILD


def csr(matrix: sparse.csr_array) -> bytes:
    parts = (matrix.data.astype("f4"), matrix.indices.astype("i4"), matrix.indptr.astype("i4"))
    return csr_of(matrix.shape, *map(array, parts))


def lists(links: Mapping[int, Sequence[int]]) -> bytes:
    items = b"".join(number(node) + list_of(*map(number, near)) for node, near in links.items())
    return call(name("collections", "defaultdict"), name("__builtin__", "list")) + b"(" + items + b"u"
