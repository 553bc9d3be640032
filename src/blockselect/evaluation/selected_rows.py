"""The selected features of the nodes, checked, as rows of unit length: what every protocol works on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import normalize

from blockselect.arrays import Features, IntArray, ObjectArray
from blockselect.errors import ParameterError
from blockselect.graphs.cells import refuse_mask
from blockselect.graphs.checks import check_names, refuse_not_finite
from blockselect.graphs.feature_table import as_feature_table
from blockselect.graphs.node_labels import encode_labels, labels_by_id
from blockselect.graphs.number_arrays import check_entries
from blockselect.scalars import check_whole


def check_selected(selected: ArrayLike, n_features: int) -> IntArray:
    """Indices of the selected columns, rising, from indices or a mask."""
    given = np.asanyarray(selected)
    refuse_mask(given, "selected")
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
            "selected", f"holds {given.tolist()[0]!r}; expected whole numbers from 0 to {n_features - 1}, or a mask."
        )
    check_entries(
        "selected", given, (given >= 0) & (given < n_features), f"is no column; there are 0 to {n_features - 1}"
    )
    columns = np.unique(given).astype(np.intp)
    if len(columns) < len(given):
        raise ParameterError("selected", f"names {len(given) - len(columns)} feature(s) twice; name each once.")
    return columns


def check_one_class_a_row(classes: Any, features: Any, n_nodes: int) -> IntArray:
    """Known classes of the rows as numbers; a Series is put in the order of the features, where they name the rows."""
    if n_nodes == 0:
        raise ValueError("features has no row; pass one row a node.")
    known = labels_by_id(classes, rows_named_by(features, n_nodes), "classes")
    if np.shape(known) != (n_nodes,):
        raise ValueError(f"classes has shape {np.shape(known)} but features has {n_nodes} rows; give one class a row.")
    return encode_labels(known, "classes")


def rows_named_by(features: Any, n_nodes: int) -> ObjectArray | None:
    """The ids that the rows have, where the features bring them: (n,)."""
    ids = None if issparse(features) else as_feature_table(features).node_ids
    return check_names(ids, n_nodes, "node id", "row")


def check_at_least_one(**numbers: Any) -> None:
    """Numbers of runs and the like, by the names of the parameters."""
    for name, value in numbers.items():
        check_whole(name, value, 1)


def unit_rows(features: Features, columns: IntArray) -> Features:
    """The selected columns with rows of unit length, in the form in which K-means is faster.

    The form depends on the values alone: dense and sparse K-means differ by rounding, which ties turn into different
    clusters, and the same features must give the same clusters however they are stored.
    """
    chosen = csr_array(features[:, columns], dtype=np.float64)
    refuse_not_finite(chosen, columns)
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
