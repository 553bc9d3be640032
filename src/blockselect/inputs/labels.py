"""Labels of nodes, such as blocks and known classes: one per node, in the order of the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.rows.matrices import as_float_matrix
from blockselect.utils.arrays import IntArray, ObjectArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import comes_from
from blockselect.utils.parameters import refuse_unordered

IGRAPH_NAMES = ("name", "_nx_name")  # attributes that name nodes; the second is written by igraph.Graph.from_networkx


def encode_labels(labels: Any, what: str = "block labels") -> IntArray:
    """Convert labels of any sortable type to numbers 0 … k − 1; `what` names the labels in errors."""
    array = as_labels(labels, what)
    try:
        numbers = np.unique(array, return_inverse=True)[1]
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in array.tolist()})
        raise ValueError(
            f"{what} mix values that cannot be sorted ({', '.join(kinds)}); make them all text: "
            "[str(label) for label in labels]."
        ) from error
    return numbers.astype(np.intp, copy=False)


def as_labels(labels: Any, what: str) -> NDArray[Any]:
    """Convert labels to an array with one per node, (n,), and reject masked and missing labels."""
    array: NDArray[Any] = np.asanyarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{what} have shape {array.shape}; give one label per node.")
    nodes = np.flatnonzero(np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else pd.isna(array))
    if len(nodes):
        raise ValueError(
            f"{what} contain NaN, None or masked values for {len(nodes)} node(s), first node {nodes[0]}; give each "
            "node a label, or drop these nodes."
        )
    return np.asarray(array)


def labels_of_one_hot(membership: Any) -> Any:
    """Convert a one-hot matrix (n, k) (paper: F) to labels: the column of the 1 in each row; a Series for a DataFrame.

    Labels in any other form are returned unchanged.
    """
    matrix = np.array(membership, dtype=object) if isinstance(membership, list | tuple) else membership
    if getattr(matrix, "ndim", 1) != 2:
        return membership
    one_hot = sparse.csr_array(as_float_matrix(matrix, "the matrix of blocks"))
    is_one = np.asarray(one_hot.sum(axis=1)).ravel() == 1
    is_one &= np.diff(one_hot.indptr) == 1
    if not is_one.all():
        raise ValueError(
            f"the matrix of blocks has shape {matrix.shape} and {np.count_nonzero(~is_one)} row(s) that are not "
            f"one-hot, first row {np.argmin(is_one)}; expected a single 1 per row, in the column of the node's block, "
            "or one label per node. If its entries are weights, assign each node to the block of its largest weight: "
            "block_model=F.argmax(axis=1)."
        )
    return pd.Series(one_hot.indices, membership.index) if isinstance(membership, pd.DataFrame) else one_hot.indices


def labels_by_id(labels: Any, node_ids: ObjectArray | None, parameter: str = "block_model") -> Any:
    """Put labels that name their nodes in the order of the nodes; other labels are returned unchanged.

    Parameters
    ----------
    labels : array of shape (n,), one-hot matrix of shape (n, k), Series, dict, list of sets, or igraph clustering
        Labels that name their nodes: a Series or a dict from node ids to labels, communities as returned by networkx (a
        list of sets of node ids), or a `VertexClustering`. They must name every node once. If the index of a Series or
        one-hot DataFrame is 0, 1, … but the nodes have other ids, it does not name nodes, and the order is kept.
    node_ids : array of shape (n,) or None
        The ids of the nodes; None if they are numbered by row.
    parameter : str
        Name of the parameter that contains the labels, for error messages.
    """
    kind = type(labels).__name__
    labels = labels_of_one_hot(labels)
    named = _named_labels(labels, parameter)
    if not isinstance(named, pd.Series):
        return named
    is_series = isinstance(labels, pd.Series)
    counts = named.index.equals(pd.RangeIndex(len(named)))
    known: pd.Index[Any] = pd.RangeIndex(len(named)) if node_ids is None else pd.Index(node_ids, tupleize_cols=False)
    alone = known.symmetric_difference(named.index, sort=False).tolist()
    if node_ids is None and (alone or (is_series and not counts)):
        raise ParameterError(
            parameter,
            f"is a {kind} that names nodes such as {named.index[:3].tolist()}, not 0, 1, …, but the rows of the "
            "features have no ids to match; pass the features as a DataFrame whose index names the nodes, or, if the "
            "labels are in the order of the rows, an array: labels.to_numpy().",
        )
    if is_series and counts and known.intersection(named.index).empty:
        return labels
    if alone or not named.index.is_unique:
        alone = alone or named.index.tolist()
        raise ParameterError(
            parameter,
            f"is a {kind} that does not name each node of the features once: {len(alone)} node(s) are missing, unknown "
            f"or repeated, for example {alone[:3]}; give each node one label (1 and '1' differ), or pass an "
            "array in the order of the rows.",
        )
    return named.iloc[named.index.get_indexer(known)].to_numpy()


def _named_labels(labels: Any, parameter: str) -> Any:
    """Convert labels that name their nodes to a Series with the ids as index; return other labels unchanged."""
    if isinstance(labels, pd.Series):
        return labels
    if comes_from(labels, "igraph"):
        return _igraph_labels(labels, parameter)
    if isinstance(labels, Mapping):
        return pd.Series(list(labels.values()), index=pd.Index(list(labels), tupleize_cols=False))
    communities = list(labels) if isinstance(labels, list | tuple | ValuesView) else []
    if not communities or not all(isinstance(one, AbstractSet) for one in communities):
        return labels
    number_of: dict[Any, int] = {}
    for number, community in enumerate(communities):
        for node in community:
            if node in number_of:
                raise ParameterError(
                    parameter,
                    f"is a list of communities that overlap: node {node!r} is in the communities {number_of[node]} "
                    f"and {number}; give each node one community, as networkx.community.louvain_communities does.",
                )
            number_of[node] = number
    return pd.Series(list(number_of.values()), index=pd.Index(list(number_of), tupleize_cols=False))


def _igraph_labels(labels: Any, parameter: str) -> Any:
    """Return the labels of a VertexClustering: a Series, or a list in the order of the rows if nodes have no names."""
    membership = getattr(labels, "membership", None)
    if membership is None or any(isinstance(one, list) for one in membership):
        fix = "dendrogram.as_clustering()" if hasattr(labels, "as_clustering") else "graph.community_multilevel()"
        raise ParameterError(
            parameter,
            f"is an igraph {type(labels).__name__}, which does not give each node one block; pass a "
            f"VertexClustering, for example {fix}.",
        )
    names = igraph_names(labels.graph)
    return membership if names is None else pd.Series(membership, index=pd.Index(names, tupleize_cols=False))


def igraph_names(graph: Any) -> list[Any] | None:
    """Return the names of the nodes of an igraph graph, or None if nodes are only numbered."""
    names: list[Any] | None = next((graph.vs[one] for one in IGRAPH_NAMES if one in graph.vs.attributes()), None)
    return names


def check_classes(classes: Iterable[int] | None, n_nodes: int, node_ids: ObjectArray | None = None) -> IntArray | None:
    """Check known classes, one integer per node, and put a Series in the order of the nodes."""
    if classes is None:
        return None
    refuse_unordered(classes, "classes")
    ordered = labels_by_id(classes, node_ids, "classes")
    array: NDArray[Any] = np.asanyarray(ordered if isinstance(ordered, np.ndarray) else list(ordered))
    if array.shape != (n_nodes,):
        raise ValueError(
            f"classes has shape {array.shape} but the network has {n_nodes} nodes; pass one class per node."
        )
    array = as_labels(array, "classes")
    if array.dtype == object and all(isinstance(one, Integral) for one in array.tolist()):
        array = array.astype(np.intp)
    if array.dtype.kind not in "biu":
        raise ValueError(
            f"classes contains {array.dtype} values such as {array.tolist()[0]!r}; expected integers: "
            "number the classes with np.unique(classes, return_inverse=True)[1]."
        )
    return array.astype(np.intp)
