"""MATLAB files whose elements state what is not so are refused before SciPy's parser, which would end the process."""

from __future__ import annotations

import struct
from io import BytesIO

import numpy as np
import pytest
from scipy import io, sparse

from blockselect.graphs import read_features
from blockselect.graphs.io import mat_elements
from blockselect.graphs.io.mat_elements import check_mat_file

MATRIX = np.arange(12.0).reshape(3, 4)


def mat(**variables):
    file = BytesIO()
    io.savemat(file, variables)
    return file.getvalue()


@pytest.mark.parametrize(
    "variables",
    [
        {"X": MATRIX},
        {"X": sparse.csc_array(MATRIX), "name": "text", "empty": np.zeros((0, 3))},
        {"X": MATRIX + 1j, "cells": np.array([MATRIX, "a"], dtype=object), "struct": {"field": {"inner": MATRIX}}},
    ],
)
def test_sound_files_pass(variables):
    check_mat_file(mat(**variables))
    file = BytesIO()
    io.savemat(file, variables, do_compression=True)
    check_mat_file(file.getvalue())


def test_a_file_of_version_4_is_left_to_scipy(tmp_path):
    io.savemat(tmp_path / "f.mat", {"X": MATRIX}, format="4")
    check_mat_file((tmp_path / "f.mat").read_bytes())
    assert read_features(tmp_path / "f.mat").matrix.tolist() == MATRIX.tolist()


@pytest.mark.parametrize("kind", [0, 8, 10, 19, 0x70B5])
def test_an_unknown_type_is_refused_by_the_file(tmp_path, kind):
    content = mat(X=MATRIX)
    at = content.index(MATRIX.T.tobytes()) - 8  # the tag of the numbers
    (tmp_path / "f.mat").write_bytes(content[:at] + struct.pack("<I", kind) + content[at + 4 :])
    with pytest.raises(ValueError, match=rf"f.mat could not be read: an element states the type {kind} and 96 bytes"):
        read_features(tmp_path / "f.mat")


def test_sizes_beyond_the_file_or_the_limit_are_refused(monkeypatch):
    content = mat(X=MATRIX)
    with pytest.raises(ValueError, match="states the type 14 and"):
        check_mat_file(content[:-8])
    with pytest.raises(ValueError, match="ends within an element"):
        check_mat_file(content + b"123")
    with pytest.raises(ValueError, match="no byte order"):
        check_mat_file(content[:126] + b"XX" + content[128:])
    packed = BytesIO()
    io.savemat(packed, {"X": np.zeros((100, 100))}, do_compression=True)
    monkeypatch.setattr(mat_elements, "most_unpacked", lambda size: 1000)
    with pytest.raises(ValueError, match="unpacks to more than 1,000 bytes"):
        check_mat_file(packed.getvalue())


def test_a_file_of_version_7_3_is_refused_with_the_way_to_save_it(tmp_path):
    content = mat(X=MATRIX)
    (tmp_path / "f.mat").write_bytes(content[:124] + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"f.mat is of MATLAB 7.3 \(HDF5\); save it with: save"):
        read_features(tmp_path / "f.mat")


def test_matrices_may_not_lie_deep_within_one_another():
    content = b""
    for _ in range(mat_elements.DEEPEST + 2):
        content = struct.pack("<II", mat_elements.MATRIX, len(content)) + content
    with pytest.raises(ValueError, match="its matrices lie more than 20 deep within one another"):
        check_mat_file(mat(X=MATRIX)[: mat_elements.HEADER] + content)
