"""Labels of nodes, such as blocks and known classes: one a node, none missing, in the order of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from blockselect.arrays import IntArray, ObjectArray
from blockselect.errors import ParameterError


def encode_labels(labels: Any, what: str = "block labels") -> IntArray:
    """Labels of any sortable kind as numbers 0 … k − 1; `what` is what they are called in an error."""
    array = as_labels(labels, what)
    try:
        numbers = np.unique(array, return_inverse=True)[1]
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in array.tolist()})
        raise ValueError(
            f"{what} mix values that have no order ({', '.join(kinds)}); make them all text: [str(label) for label in "
            "labels]."
        ) from error
    return numbers.astype(np.intp, copy=False)


def as_labels(labels: Any, what: str) -> NDArray[Any]:
    """An array with one label a node: (n,). Masked and missing ones are refused."""
    array: NDArray[Any] = np.asanyarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{what} have shape {array.shape}; give one label a node.")
    missing = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else pd.isna(array)
    refuse_missing(np.asarray(missing), what)
    return np.asarray(array)


def refuse_missing(missing: NDArray[np.bool_], what: str) -> None:
    """Refuse labels of which some are missing: (n,)."""
    nodes = np.flatnonzero(missing)
    if len(nodes):
        raise ValueError(
            f"{what} hold NaN, None or masked values for {len(nodes)} node(s), first node {nodes[0]}; give each node "
            "a label, or drop these nodes."
        )


def labels_by_id(labels: Any, node_ids: ObjectArray | None, parameter: str = "block_model") -> Any:
    """Labels in the order of the nodes, where they are a Series whose index names the nodes.

    Parameters
    ----------
    labels : array or Series of shape (n,)
        Only a Series has an index. One that counts 0, 1, … beside nodes with other ids names nobody: its order is kept.
        Any other index needs ids to meet.
    node_ids : array of shape (n,) or None
        None: nodes have no ids but their row numbers.
    parameter : str
        What the labels are called in an error.
    """
    if not isinstance(labels, pd.Series):
        return labels
    in_order = pd.RangeIndex(len(labels))
    if node_ids is None:
        if not labels.index.equals(in_order):
            raise ParameterError(
                parameter,
                "is a Series whose index does not count 0, 1, …, while the rows of the features have no ids to put it "
                "in order by; pass the features as a DataFrame, or, where the labels are in the order of its rows, "
                "labels.to_numpy().",
            )
        return labels
    known = pd.Index(node_ids, tupleize_cols=False)
    if labels.index.equals(in_order) and not set(in_order) & set(known):
        return labels
    at = labels.index.get_indexer(known) if labels.index.is_unique else np.full(len(known), -1)
    if len(labels) != len(known) or (at < 0).any():
        alone = known.symmetric_difference(labels.index, sort=False).tolist() or labels.index.tolist()
        raise ParameterError(
            parameter,
            f"is a Series whose index is not that of the features: {len(alone)} node(s) are in one of them alone or "
            f"twice, for example {alone[:3]}; give each node one label, or pass labels.to_numpy() in the order of the "
            "rows.",
        )
    return labels.iloc[at].to_numpy()  # without the index, which has done its work
