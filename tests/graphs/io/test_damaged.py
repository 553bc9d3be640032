"""Whatever a parser raises, the error names the file; a missing package is named as such."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from blockselect.graphs.io.damaged import naming_file

PATH = Path("f.npz")


@pytest.mark.parametrize("error", [struct.error("too\n short."), KeyError("too short"), EOFError("too short")])
def test_any_error_of_a_parser_names_the_file_and_what_to_do(error):
    message = r"^f\.npz could not be read: '?too short'?; save it again\.$"
    with pytest.raises(ValueError, match=message) as raised, naming_file(PATH, "save it again."):
        raise error
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(("error", "reason"), [(MemoryError(), "memory ran out"), (EOFError(), "EOFError")])
def test_an_error_without_words_is_given_some(error, reason):
    with pytest.raises(ValueError, match=rf"^f\.npz could not be read: {reason}; save"), naming_file(PATH, "save it."):
        raise error


def test_a_missing_package_is_not_the_fault_of_the_file():
    with pytest.raises(ImportError, match="needs h5py"), naming_file(PATH, "save it again."):
        raise ImportError("an .h5ad file needs h5py")


def test_what_can_be_read_passes():
    with naming_file(PATH, "save it again."):
        read = 1
    assert read == 1
