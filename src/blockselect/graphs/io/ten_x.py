"""Matrix Market files with the names beside them, as 10x writes them: genes in rows, cells in columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blockselect.arrays import ObjectArray
from blockselect.graphs.feature_table import FeatureTable
from blockselect.graphs.io.name_lists import read_names

_BARCODES, _FEATURES = ("barcodes.tsv",), ("features.tsv", "genes.tsv")


def with_names_beside(path: Path, matrix: Any) -> FeatureTable:
    """The matrix of an .mtx file as features; turned over where barcodes and features lie beside it."""
    barcodes, features = _beside(path, _BARCODES), _beside(path, _FEATURES)
    if barcodes is None or features is None:
        return FeatureTable(matrix)
    ids, names = read_names(barcodes), _gene_names(features)
    if matrix.shape != (len(names), len(ids)):
        raise ValueError(
            f"{path} has shape {matrix.shape}, but {features.name} has {len(names)} lines and {barcodes.name} "
            f"{len(ids)}; 10x writes genes in rows and cells in columns: bring the three files of one run, or move the "
            "names away."
        )
    return FeatureTable(matrix.T.tocsr(), ids, names)


def _gene_names(path: Path) -> ObjectArray:
    """The symbols in the second column where no two are the same, else the ids in the first."""
    try:
        symbols = read_names(path, column=1)
    except ValueError:  # one column alone
        return read_names(path)
    return symbols if len(set(symbols)) == len(symbols) else read_names(path)


def _beside(path: Path, names: tuple[str, ...]) -> Path | None:
    """The first of these files in the same folder, with the same beginning of its name as the matrix has, or none."""
    start = path.name.lower().partition("matrix.mtx")[0] if "matrix.mtx" in path.name.lower() else ""
    beginning = path.name[: len(start)]
    candidates = [path.parent / f"{beginning}{name}{packed}" for name in names for packed in ("", ".gz")]
    return next((file for file in candidates if file.is_file()), None)
