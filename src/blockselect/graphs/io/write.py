"""A matrix of features as the content of a file, in the format that its features came in."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import io as scipy_io
from scipy import sparse

from blockselect.arrays import Features, ObjectArray
from blockselect.extras import needed
from blockselect.graphs.convert import as_dense
from blockselect.graphs.io.csv_cells import as_text_cell
from blockselect.graphs.io.packed import format_of, is_packed
from blockselect.wording import feature_labels

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


def matrix_suffix(source: Path | None) -> str:
    """The suffix of a file in the format of the source, text packed by gzip where it was packed; None: .npz."""
    suffix = ".npz" if source is None else format_of(source)
    return f"{suffix}.gz" if suffix in _SEPARATORS and source is not None and is_packed(source) else suffix


def matrix_file(
    matrix: Features, node_ids: ObjectArray | None, feature_names: ObjectArray | None, source: Path | None
) -> tuple[str, bytes]:
    """The suffix and the content of a file with these features.

    Parameters
    ----------
    matrix : array or CSR of shape (n, d)
    node_ids, feature_names : arrays of shape (n,) and (d,), optional
        Written where the format holds names, in text so that no spreadsheet takes one for a formula; None: row numbers,
        and x0, x1, ….
    source : path, optional
        A file whose format is to be used; None: .npz.
    """
    ending = matrix_suffix(source)
    suffix = ending.removesuffix(".gz")
    if suffix in _SEPARATORS:
        frame = _frame(matrix, node_ids, feature_names).rename(index=as_text_cell, columns=as_text_cell)
        text = frame.to_csv(sep=_SEPARATORS[suffix], index_label="id").encode()
        return ending, text if ending == suffix else gzip.compress(text, mtime=0)
    buffer = io.BytesIO()
    if suffix in _WRITERS:
        _WRITERS[suffix](buffer, matrix)
    elif suffix == ".h5ad":
        return suffix, _h5ad(matrix, node_ids, feature_names)
    else:
        frame = _frame(matrix, node_ids, feature_names).reset_index(names="id")
        if suffix == ".parquet":
            frame.to_parquet(buffer, index=False)
        else:
            frame.to_feather(buffer)
    return suffix, buffer.getvalue()


def _frame(matrix: Features, node_ids: ObjectArray | None, feature_names: ObjectArray | None) -> pd.DataFrame:
    n_nodes, n_features = matrix.shape
    ids = [str(node) for node in (range(n_nodes) if node_ids is None else node_ids)]
    return pd.DataFrame(as_dense(matrix), ids, feature_labels(feature_names, n_features))


def _save_npz(file: io.BytesIO, matrix: Features) -> None:
    if sparse.issparse(matrix):
        sparse.save_npz(file, matrix)
    else:
        np.savez_compressed(file, matrix)


_WRITERS: dict[str, Callable[[io.BytesIO, Features], Any]] = {
    ".npz": _save_npz,
    ".npy": lambda file, matrix: np.save(file, as_dense(matrix)),
    ".mtx": lambda file, matrix: scipy_io.mmwrite(file, sparse.coo_array(matrix)),
    ".mat": lambda file, matrix: scipy_io.savemat(file, {"features": matrix}),
}


def _h5ad(  # pragma: no cover (needs anndata, which holds pandas below 3: make single-cell)
    matrix: Features, node_ids: ObjectArray | None, feature_names: ObjectArray | None
) -> bytes:
    anndata = needed("anndata", "an .h5ad file")
    frame = _frame(matrix, node_ids, feature_names)
    cells = anndata.AnnData(sparse.csr_matrix(matrix), frame[[]], frame.T[[]])
    buffer = io.BytesIO()
    with needed("h5py", "an .h5ad file").File(buffer, "w") as file:
        anndata.io.write_elem(file, "/", cells)
    return buffer.getvalue()
