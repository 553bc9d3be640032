"""Checks of the values of features and link weights; each error says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.utils.arrays import Features, IntArray, ObjectArray, Sparse


def check_features(
    features: Features,
    node_ids: ObjectArray | None,
    feature_names: ObjectArray | None,
    dtype: np.dtype[Any],
    *,
    non_negative: bool = True,
) -> None:
    """Check that features are finite, not all zero, within the range of the solver and, if required, non-negative."""

    def place(offends: Callable[[Any], Any]) -> str:
        row, column = first_entry(features, offends)
        row_name = f"row {row}" if node_ids is None else f"node {node_ids[row]!r}"
        column_name = f"column {column}" if feature_names is None else f"feature {feature_names[column]!r}"
        return f"{row_name}, {column_name}"

    check_values(features, place, non_negative=non_negative)
    largest = largest_value(features)
    check_range(largest, features.shape[0], dtype, lambda: place(lambda v: abs(v) == largest))


def check_values(
    features: Features, place: Callable[[Callable[[Any], Any]], str], *, non_negative: bool = True
) -> None:
    """Check that features are finite and, if required, non-negative; `place` describes the first invalid value."""
    values = stored_values(features)
    if not np.isfinite(values).all():
        where = place(lambda v: ~np.isfinite(v))
        raise ValueError(f"features contains NaN or infinity, first at {where}; impute or drop such values.")
    if non_negative and values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: features are negative, first at {place(lambda v: v < 0)}. The method "
            "needs features ≥ 0: shift them (X - X.min(axis=0)), or wrap the selector, which then takes signed "
            "features: SignedSelector(BlockModelSelector(64))."
        )


def refuse_not_finite(features: Features, columns: IntArray | None = None) -> None:
    """Raise an error for the first NaN or infinity; `columns` are the original numbers of the columns."""

    def place(offends: Callable[[Any], Any]) -> str:
        row, column = first_entry(features, offends)
        return f"row {row}, column {column if columns is None else columns[column]}"

    check_values(features, place, non_negative=False)


def largest_value(features: Features) -> float:
    """The largest absolute value; 0 if there are no values."""
    values = stored_values(features)
    return float(max(values.max(), -values.min())) if values.size else 0.0


def check_range(largest: float, n_nodes: int, dtype: np.dtype[Any], place: Callable[[], str]) -> None:
    """Check that the largest value is not zero, and that its fourth power is in the range of the float type."""
    if largest == 0:
        raise ValueError("features has no non-zero entry, so no feature can be selected; check how it was loaded.")
    limits = np.finfo(dtype)
    with np.errstate(over="ignore", under="ignore"):
        power = np.float64(largest) ** 4  # the solver adds squares of inner products of features
        overflows = power * float(n_nodes) ** 2 > float(limits.max) * 1e-6
    if overflows or power < float(limits.tiny) * 1e6:
        raise ValueError(
            f"the largest feature value is {largest:.3g}, at {place()}, whose fourth power "
            f"{'overflows' if overflows else 'underflows'} {dtype}; divide the features by their largest value"
            + (", or compute in float64." if dtype.itemsize < 8 else ".")
        )


def check_weights(
    weights: Sparse, node_ids: ObjectArray | None, dtype: np.dtype[Any], *, name: str = "adjacency"
) -> None:
    """Check that weights are finite and non-negative, that there is a link, and that squared weights are in range."""

    def place(offends: Callable[[Any], Any]) -> str:
        source, target = (node if node_ids is None else node_ids[node] for node in first_entry(weights, offends))
        return f"the link from node {source!r} to node {target!r}"

    if not np.isfinite(weights.data).all():
        where = place(lambda v: ~np.isfinite(v))
        raise ValueError(f"{name} contains NaN or infinity, first at {where}; fill in or drop such links.")
    if weights.nnz == 0:
        raise ValueError(
            f"{name} has no link (no non-zero entry); at least one is needed: check how it was "
            "loaded, or build a graph with nearest_neighbour_graph(features)."
        )
    if weights.data.min() < 0:
        raise ValueError(
            f"{name} has a negative weight, first at {place(lambda v: v < 0)}; weights are the "
            "strengths of links and must be ≥ 0: drop negative links or take absolute values."
        )
    largest, limits = float(weights.data.max()), np.finfo(dtype)
    if not float(limits.tiny) ** 0.5 < largest < float(limits.max) ** 0.5 / weights.shape[0]:
        raise ValueError(
            f"the largest weight is {largest:.3g}, at {place(lambda v: v == largest)}, whose square leaves "
            f"the range of {dtype}; divide the weights by their largest."
        )


def stored_values(matrix: Any) -> Any:
    """The values of a matrix; if it is sparse, only the stored values."""
    return matrix.data if sparse.issparse(matrix) else matrix


def first_entry(matrix: Any, offends: Callable[[Any], Any]) -> tuple[int, int]:
    """Row and column of the first entry for which `offends` is true."""
    if sparse.issparse(matrix):
        entries = matrix.tocoo()
        at = int(np.flatnonzero(offends(entries.data))[0])
        row, column = (axis[at] for axis in entries.coords)
    else:
        row, column = np.argwhere(offends(matrix))[0]
    return int(row), int(column)
