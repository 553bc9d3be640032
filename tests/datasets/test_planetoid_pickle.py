"""Planetoid's pickles are read, and a pickle that holds anything else runs nothing."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import struct
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.datasets.planetoid_pickle import ADMITTED, UNREADABLE, PlanetoidUnpickler, unpickle
from references import python2_pickles as py2

MATRIX = sparse.csr_array(np.array([[0, 1, 0], [2, 0, 3]], dtype=np.float32))
OS_SYSTEM, EVAL, GETATTR = py2.name("os", "system"), py2.name("__builtin__", "eval"), py2.name("__builtin__", "getattr")
EXTENSION = 240  # a number in the registry of copyreg


def touch(path):
    return py2.text(f"touch {path}")


def create(path):
    return py2.text(f"open({str(path)!r}, 'w').close()")


def protocol_4(module, attribute, *arguments):
    """A name with dots is followed from attribute to attribute."""
    unicode = b"".join(b"\x8c" + bytes([len(part)]) + part.encode() for part in (module, attribute))
    return b"\x80\x04" + unicode + b"\x93" + py2.tuple_of(*arguments) + b"R."


def array_file(path):
    """An .npy file that runs a command when NumPy is told to unpickle it."""
    evil = np.empty(1, dtype=object)
    evil[0] = RunsWhenLoaded(f"touch {path}")
    stored = path.with_suffix(".npy")
    np.save(stored, evil, allow_pickle=True)
    return py2.text(str(stored))


class RunsWhenLoaded:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


# Each makes the file at the path when a common unpickler reads it.
MALICIOUS = {
    "os.system": lambda path: py2.pickled(py2.call(OS_SYSTEM, touch(path))),
    "posix.system": lambda path: py2.pickled(py2.call(py2.name("posix", "system"), touch(path))),
    "eval of Python 2": lambda path: py2.pickled(py2.call(EVAL, create(path))),
    "eval of Python 3": lambda path: py2.pickled(py2.call(py2.name("builtins", "eval"), create(path))),
    "open": lambda path: py2.pickled(py2.call(py2.name("io", "open"), py2.text(str(path)), py2.text("w"))),
    "getattr of an import": lambda path: py2.pickled(
        py2.call(
            py2.call(GETATTR, py2.call(py2.name("__builtin__", "__import__"), py2.text("os")), py2.text("system")),
            touch(path),
        )
    ),
    "a module below an admitted one": lambda path: protocol_4(
        "numpy", "testing.runstring", create(path), py2.dict_of({})
    ),
    "a name of protocol 4": lambda path: protocol_4("os", "system", touch(path)),
    "numpy.load": lambda path: py2.pickled(py2.call(py2.name("numpy", "load"), array_file(path), b"N", b"\x88")),
    "an instance of Python 2": lambda path: b"(" + touch(path) + b"ios\nsystem\n.",
    "an object of protocol 1": lambda path: b"(" + OS_SYSTEM + touch(path) + b"o.",
    "a registered extension": lambda path: b"\x80\x02\x82" + bytes([EXTENSION]) + py2.tuple_of(touch(path)) + b"R.",
    "inside a dict of lists": lambda path: py2.pickled(
        py2.lists({0: [1]})[:-1] + py2.number(1) + py2.call(OS_SYSTEM, touch(path)) + b"u"
    ),
    "the default of a dict": lambda path: py2.pickled(
        py2.call(py2.name("collections", "defaultdict"), py2.call(EVAL, create(path)))
    ),
    "an element of an object array": lambda path: py2.pickled(
        py2.array_of((1,), py2.dtype("O8", "|"), py2.list_of(py2.call(OS_SYSTEM, touch(path))))
    ),
    "the state of an array": lambda path: py2.pickled(
        py2.array_of((1,), py2.dtype("i4"), py2.call(EVAL, create(path)))
    ),
    "what comes before a good array": lambda path: py2.pickled(
        py2.call(OS_SYSTEM, touch(path)) + b"0" + py2.array(np.zeros(2, "i4"))
    ),
}


@pytest.fixture
def extension():
    copyreg.add_extension("os", "system", EXTENSION)
    yield
    copyreg.remove_extension("os", "system", EXTENSION)


@pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")
@pytest.mark.parametrize("kind", MALICIOUS)
def test_a_malicious_pickle_runs_nothing(kind, tmp_path, extension):
    path = tmp_path / "made"
    content = MALICIOUS[kind](path)
    # An error may follow what was run: the result of a command is no state of an array.
    with warnings.catch_warnings(), suppress(TypeError, ValueError):
        warnings.simplefilter("ignore")
        pickle.loads(content, encoding="latin1")
    assert path.exists()  # a common unpickler runs it
    path.unlink()
    with pytest.raises(ValueError, match=r"^ind\.x was refused"):
        unpickle(content, "ind.x")
    assert not path.exists()
    if kind != "a registered extension":  # what the process has used before is given out without asking for its name
        with pytest.raises(UNREADABLE):
            PlanetoidUnpickler(io.BytesIO(content), encoding="bytes").load()
        assert not path.exists()


@pytest.mark.parametrize(
    ("module", "attribute"),
    [
        ("numpy", "load"),
        ("numpy", "array"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("scipy.sparse", "csr_matrix"),
        ("scipy.sparse.csr", "np.load"),
        ("collections", "OrderedDict"),
        ("collections", "_sys.exit"),
        ("__builtin__", "getattr"),
        ("builtins", "list"),
        ("copy_reg", "_reconstructor"),
        ("copyreg", "__newobj__"),
    ],
)
def test_a_name_that_the_files_do_not_need_is_refused_by_name(module, attribute):
    with pytest.raises(ValueError, match=f"it names '{module}.{attribute}', which no Planetoid file needs"):
        unpickle(py2.pickled(py2.name(module, attribute)), "ind.x")


def test_no_admitted_name_gives_an_object_of_another_library():
    for stands_in in ADMITTED.values():
        assert isinstance(stands_in, str) or stands_in.__module__ == "blockselect.datasets.planetoid_pickle"


@pytest.mark.parametrize("admitted", ADMITTED)
@pytest.mark.parametrize("attribute", ["changed", "__setstate__", "__init__"])
def test_a_pickle_cannot_change_the_classes_it_names(admitted, attribute):
    stands_in = ADMITTED[admitted]
    before = dict(vars(stands_in)) if isinstance(stands_in, type) else stands_in
    key = b"X" + struct.pack("<i", len(attribute)) + attribute.encode()  # as unicode: a name that can be set
    attributes = b"}(" + key + b"Nu"
    for state in (attributes, py2.tuple_of(b"N", attributes)):
        content = py2.pickled(py2.name(*admitted) + state + b"b")
        with pytest.raises(ValueError, match="refused"):
            unpickle(content, "ind.x")
        with pytest.raises(UNREADABLE):
            PlanetoidUnpickler(io.BytesIO(content), encoding="bytes").load()
    assert (dict(vars(stands_in)) if isinstance(stands_in, type) else stands_in) == before


def test_the_state_of_a_matrix_brings_no_attributes_along():
    good = [py2.array(part) for part in (np.ones(1, "f4"), np.zeros(1, "i4"), np.array([0, 1], "i4"))]
    matrix = unpickle(py2.pickled(py2.csr_of((1, 1), *good, dot=py2.number(7), __class__=py2.number(7))), "ind.x")
    assert type(matrix) is sparse.csr_array
    assert "dot" not in vars(matrix)
    assert matrix.toarray() == [[1]]


@pytest.mark.parametrize(
    "values", [np.arange(6, dtype="i4").reshape(2, 3), np.array([0.5, 2], "f4"), np.zeros(0, "i4")]
)
def test_an_array_comes_back(values):
    read = unpickle(py2.pickled(py2.array(values)), "ind.y")
    assert read.dtype == values.dtype
    assert_array_equal(read, values)


def test_a_sparse_matrix_comes_back():
    assert_array_equal(unpickle(py2.pickled(py2.csr(MATRIX)), "ind.x").toarray(), MATRIX.toarray())


def test_a_dict_of_lists_comes_back():
    links = {0: [1, 2], 1: [0], 2: [0]}
    assert unpickle(py2.pickled(py2.lists(links)), "ind.graph") == links


ONE, HERE, ENDS = (py2.array(part) for part in (np.ones(1, "f4"), np.zeros(1, "i4"), np.array([0, 1], "i4")))


@pytest.mark.parametrize(
    "body",
    [
        py2.array_of((1,), py2.dtype("O8", "|"), py2.list_of(b"N")),
        py2.array_of((1,), py2.dtype("i8"), py2.text(b"\0" * 8)),
        py2.array_of((1,), py2.dtype("i4", ">"), py2.text(b"\0" * 4)),
        py2.array_of((1,), py2.dtype("i4,O8"), py2.text(b"\0" * 12)),
        py2.array_of((1,), py2.number(4), py2.text(b"\0" * 4)),
        py2.array_of((2,), py2.dtype("i4"), py2.text(b"\0" * 4)),
        py2.array_of((-1,), py2.dtype("i4"), py2.text(b"\0" * 4)),
        py2.array_of((2**31 - 1, 2**31 - 1), py2.dtype("i4"), py2.text(b"")),
        py2.array_of((1,), py2.dtype("i4"), py2.text(b"\0" * 4), of=py2.name("scipy.sparse.csr", "csr_matrix")),
        py2.csr_of((1, 1), ONE, py2.array(np.array([1], "i4")), ENDS),
        py2.csr_of((1, 1), ONE, py2.array(np.array([-1], "i4")), ENDS),
        py2.csr_of((1, 1), ONE, HERE, py2.array(np.array([0, 9], "i4"))),
        py2.csr_of((2, 1), ONE, HERE, py2.array(np.array([0, 9, 1], "i4"))),
        py2.csr_of((2**31 - 1, 1), ONE, HERE, ENDS),
        py2.csr_of((1,), ONE, HERE, ENDS),
        py2.csr_of((1, 1), ONE, ONE, ENDS),
        py2.csr_of((1, 1), py2.number(1), HERE, ENDS),
        py2.name("scipy.sparse.csr", "csr_matrix") + b")\x81",
        py2.call(py2.name("collections", "defaultdict"), py2.name("numpy", "ndarray")),
        py2.call(py2.name("collections", "defaultdict"), py2.name("__builtin__", "list")) + py2.dict_of({}) + b"b",
        py2.call(py2.name("__builtin__", "list"), py2.text("ab")),
        b"]r" + b"\xff" * 4,
        b"",
    ],
)
def test_what_is_not_plain_is_refused(body):
    with pytest.raises(ValueError, match=r"^ind\.x was refused .* replace it by the published file\.$"):
        unpickle(py2.pickled(body), "ind.x")


WHOLE = py2.pickled(py2.csr(MATRIX))


@pytest.mark.parametrize("length", range(0, len(WHOLE), 7))
def test_a_truncated_file_is_refused(length):
    with pytest.raises(ValueError, match="refused"):
        unpickle(WHOLE[:length], "ind.x")


@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")  # in a damaged name
@settings(max_examples=300)
@given(at=st.integers(0, len(WHOLE) - 1), to=st.binary(min_size=1, max_size=4))
def test_a_damaged_file_is_read_or_refused(at, to):
    damaged = WHOLE[:at] + to + WHOLE[at + len(to) :]
    try:
        read = unpickle(damaged, "ind.x")
    except ValueError as error:
        assert "was refused" in str(error)  # noqa: PT017
    else:
        assert isinstance(read, sparse.csr_array | np.ndarray | dict | tuple | list | bytes | str | int | None)
