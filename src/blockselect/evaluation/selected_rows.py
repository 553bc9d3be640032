"""The selected features of the nodes, checked, as rows of unit length: what every protocol works on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import normalize

from blockselect.arrays import Features, IntArray
from blockselect.errors import ParameterError
from blockselect.graphs.convert import as_float_matrix
from blockselect.graphs.number_arrays import check_entries


def read_features(features: Any) -> Features:
    """Features of any kind that selectors take; arrays and CSR matrices of numbers stay as they are."""
    if isinstance(features, np.ndarray) and features.ndim == 2 and features.dtype.kind in "fiub":
        return features
    return features if issparse(features) and features.format == "csr" else as_float_matrix(features, "features")


def check_selected(selected: ArrayLike, n_features: int) -> IntArray:
    """Indices of the selected columns, rising, from indices or a mask."""
    given = np.asarray(selected)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ParameterError(
                "selected",
                f"is a mask of shape {given.shape} but there are {n_features} features; give one entry each.",
            )
        given = np.flatnonzero(given)
    if given.ndim != 1 or given.size == 0:
        raise ParameterError("selected", f"has shape {given.shape}; expected a list of at least one feature.")
    if given.dtype.kind not in "iu":
        raise ParameterError(
            "selected", f"holds {given[0].item()!r}; expected whole numbers from 0 to {n_features - 1}, or a mask."
        )
    check_entries(
        "selected", given, (given >= 0) & (given < n_features), f"is no column; there are 0 to {n_features - 1}"
    )
    columns = np.unique(given).astype(np.intp)
    if len(columns) < len(given):
        raise ParameterError("selected", f"names {len(given) - len(columns)} feature(s) twice; name each once.")
    return columns


def check_one_class_a_row(classes: ArrayLike, n_nodes: int) -> IntArray:
    """Known classes of the rows."""
    known = np.asarray(classes)
    if known.shape != (n_nodes,):
        raise ValueError(f"classes has shape {known.shape} but features has {n_nodes} rows; give one class a row.")
    return known


def check_at_least_one(**numbers: int) -> None:
    """Numbers of runs and the like, by the names of the parameters."""
    for name, value in numbers.items():
        if value < 1:
            raise ParameterError(name, f"is {value}; expected at least 1.")


def unit_rows(features: Features, columns: IntArray) -> Features:
    """The selected columns with rows of unit length, in the form in which K-means is faster.

    The form depends on the values alone: dense and sparse K-means differ by rounding, which ties turn into different
    clusters, and the same features must give the same clusters however they are stored.
    """
    chosen = csr_array(features[:, columns], dtype=np.float64)
    chosen.sum_duplicates()
    chosen.eliminate_zeros()
    parts = (chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32))  # K-means takes no others
    rows = csr_array(normalize(csr_array(parts, shape=chosen.shape)))
    # Measured: an entry of a sparse row costs as much as five of a dense one, and the row itself as much as twenty.
    per_row = rows.nnz / rows.shape[0]
    return rows.toarray() if rows.shape[1] <= 20 + 5 * per_row else rows


def count_zero_rows(rows: Features) -> int:
    """Nodes that have none of the features."""
    return int(rows.shape[0] - np.count_nonzero(abs(rows).sum(axis=1)))
