"""Planetoid's pickles, read without running anything that they name.

Written by Python 2, they name six classes and functions. Each of these names is admitted and stands for a
record of this file or for a mere string; every other name is refused, and so is every instruction of the
pickle machine that the files do without. A file can neither call into NumPy or SciPy nor change their classes,
whatever it holds: arrays are made here, from bytes, after their checks.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from typing import Any

import numpy as np
from scipy.sparse import csr_array

DTYPES = {b"i4": np.dtype("<i4"), b"f4": np.dtype("<f4")}
# The state of a plain little-endian dtype: version, order, no subarray, no names, no fields, size, alignment, flags.
DTYPE_STATE = (3, b"<", None, None, None, -1, -1, 0)


class PickledDtype:
    """Stands for numpy.dtype."""

    __slots__ = ("dtype",)

    def __init__(self, code: Any, *settings: Any) -> None:
        if type(code) is not bytes or code not in DTYPES:
            raise pickle.UnpicklingError(f"an array is not of one of the types {sorted(DTYPES)}")
        self.dtype = DTYPES[code]

    def __setstate__(self, state: Any) -> None:
        if type(state) is not tuple or state != DTYPE_STATE:
            raise pickle.UnpicklingError("an array has a type that is not plain")


class PickledArray:
    """Stands for numpy.core.multiarray._reconstruct, which makes arrays."""

    __slots__ = ("array",)

    def __init__(self, kind: Any, *settings: Any) -> None:
        if kind != "ndarray":
            raise pickle.UnpicklingError("an array is of another class than numpy.ndarray")

    def __setstate__(self, state: Any) -> None:
        _version, shape, dtype, fortran_order, data = state
        plain = type(shape) is tuple and all(type(length) is int and length >= 0 for length in shape)
        if not plain or type(dtype) is not PickledDtype or fortran_order is not False or type(data) is not bytes:
            raise pickle.UnpicklingError("an array has a state that is not plain")
        if len(data) != math.prod(shape) * dtype.dtype.itemsize:
            raise pickle.UnpicklingError(f"an array of shape {shape} has {len(data)} bytes")
        self.array = np.frombuffer(data, dtype.dtype).reshape(shape)


class PickledCsr:
    """Stands for scipy.sparse.csr_matrix."""

    __slots__ = ("matrix",)

    def __setstate__(self, state: Any) -> None:
        shape = state[b"_shape"]
        if type(shape) is not tuple or [type(length) for length in shape] != [int, int]:
            raise pickle.UnpicklingError("a sparse matrix has a shape that is not two integers")
        parts = [state[name] for name in (b"data", b"indices", b"indptr")]
        if any(type(part) is not PickledArray for part in parts):
            raise pickle.UnpicklingError("a sparse matrix is not made of arrays")
        data, indices, indptr = (part.array for part in parts)
        if indices.dtype.kind != "i" or indptr.dtype.kind != "i":
            raise pickle.UnpicklingError("a sparse matrix has positions that are not integers")
        self.matrix = csr_array((data, indices, indptr), shape=shape)
        self.matrix.check_format(full_check=True)  # positions outside the matrix would be read from foreign memory


class PickledLists(dict[Any, Any]):
    """Stands for collections.defaultdict(list)."""

    __slots__ = ()

    def __init__(self, factory: Any) -> None:
        if factory != "list":
            raise pickle.UnpicklingError("a dict has another default than list")

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a dict has a state")


# All classes here have a __setstate__: without one, a pickle may set attributes of the class itself.
ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): PickledDtype,
    ("numpy", "ndarray"): "ndarray",
    ("numpy.core.multiarray", "_reconstruct"): PickledArray,
    ("scipy.sparse.csr", "csr_matrix"): PickledCsr,
    ("collections", "defaultdict"): PickledLists,
    ("__builtin__", "list"): "list",
}
"""Module and name in the file → what stands for it."""


# Others may reach objects that no name leads to (EXT1: the registry of copyreg) or reserve memory unread.
# fmt: off
OPCODES = frozenset({
    "APPEND", "APPENDS", "BINGET", "BININT", "BININT1", "BININT2", "BINPUT", "BINSTRING", "BUILD", "EMPTY_DICT",
    "EMPTY_LIST", "EMPTY_TUPLE", "GLOBAL", "LONG_BINPUT", "MARK", "NEWFALSE", "NEWOBJ", "NEWTRUE", "NONE", "PROTO",
    "REDUCE", "SETITEMS", "SHORT_BINSTRING", "STOP", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
})
# fmt: on


class PlanetoidUnpickler(pickle.Unpickler):
    """An unpickler that knows the six names and imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"it names {f'{module}.{name}'[:80]!r}, which no Planetoid file needs; nothing of it was run"
            ) from None


# What damaged pickles, and the checks above, are known to raise.
UNREADABLE = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


def unpickle(content: bytes, name: str) -> Any:
    """The array, CSR array or dict that a Planetoid file holds; `name` is for the error.

    Raises
    ------
    ValueError
        The file is no such pickle, is damaged, or names anything it has no need of.
    """
    try:
        _check_opcodes(content)
        loaded = PlanetoidUnpickler(io.BytesIO(content), encoding="bytes").load()
        if type(loaded) is PickledArray:
            return loaded.array
        return loaded.matrix if type(loaded) is PickledCsr else loaded
    except UNREADABLE as error:
        raise ValueError(
            f"{name} was refused ({type(error).__name__}: {error}); replace it by the published file."
        ) from error


def _check_opcodes(content: bytes) -> None:
    for opcode, argument, at in pickletools.genops(content):
        if opcode.name not in OPCODES:
            raise pickle.UnpicklingError(f"it holds {opcode.name} at byte {at}, which no Planetoid file needs")
        if opcode.name == "LONG_BINPUT" and int(argument or 0) > len(content):
            raise pickle.UnpicklingError(f"it numbers an object {argument} at byte {at}, more than it can hold")
