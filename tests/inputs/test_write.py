"""A matrix written in any format can be read again."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.inputs import read_features
from blockselect.inputs.write import as_text_cell, matrix_file, matrix_suffix

MATRIX = np.array([[1.5, 0.0], [0.0, 2.0], [3.0, 0.0]])
IDS = np.array(["007", "x", "NA"], dtype=object)
NAMES = np.array(["red", "blue"], dtype=object)
NAMED = ("f.csv", "f.tsv", "f.txt", "f.csv.gz", "f.tsv.gz", "f.parquet", "f.feather", "f.h5ad")
PACKAGES = {"f.parquet": "pyarrow", "f.feather": "pyarrow", "f.h5ad": "anndata"}


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("source", [*NAMED, "f.npz", "f.npy", "f.mtx", "f.mat", None])
def test_a_matrix_is_read_back_as_it_was_written(tmp_path, source, convert):
    if source in PACKAGES:
        pytest.importorskip(PACKAGES[source])
    like = None if source is None else Path(source)
    path = tmp_path / f"matrix{matrix_suffix(like)}"
    path.write_bytes(matrix_file(convert(MATRIX), IDS, NAMES, like))
    table = read_features(path)
    assert_array_equal(table.matrix.toarray() if sparse.issparse(table.matrix) else table.matrix, MATRIX)
    if source in NAMED:
        assert list(table.node_ids) == IDS.tolist()
        assert list(table.feature_names) == NAMES.tolist()


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-2+3", "@SUM(A1)", " =1", "\t=1", "\r\n=1", "＝1", "-", "=cmd|' /C calc'!A0"]
)
def test_formulas_become_text(cell):
    assert as_text_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["gene", "-1.5", "+2", "-1e-3", "a=b", "", "'=1", 3, -2.5, None])
def test_other_cells_are_unchanged(cell):
    assert as_text_cell(cell) is cell


@pytest.mark.parametrize("source", ["f.csv", "f.tsv"])
def test_no_name_in_a_text_file_is_a_formula(source):
    ids = np.array(["=1+1", "-1.5", "@x"], dtype=object)
    content = matrix_file(MATRIX, ids, np.array(["=cmd|' /C calc'!A0", "blue"], dtype=object), Path(source))
    header, *rows = (line.split("," if source == "f.csv" else "\t") for line in content.decode().splitlines())
    assert header == ["id", "'=cmd|' /C calc'!A0", "blue"]
    assert [row[0] for row in rows] == ["'=1+1", "-1.5", "'@x"]


def test_missing_names_are_replaced_by_numbers():
    content = matrix_file(MATRIX, None, None, Path("f.csv"))
    assert content.decode().splitlines()[:2] == ["id,x0,x1", "0,1.5,0.0"]


def test_writing_h5ad_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"an \.h5ad file needs anndata; .*'blockselect\[anndata\]'"):
        matrix_file(MATRIX, IDS, NAMES, Path("f.h5ad"))
