"""as_adjacency: any graph as a sparse adjacency matrix, with its nodes in the order of the rows of the features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.inputs.graph_objects import CROSS_VALIDATION_HINT, ReadGraph, read_graph_object
from blockselect.inputs.kinds import (
    CONNECTIVITIES,
    is_anndata,
    is_attributed_graph,
    is_igraph,
    is_networkx,
    obsp_graph,
)
from blockselect.rows.checks import check_weights
from blockselect.utils.arrays import ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_names, check_whole, refuse_unordered


def as_adjacency(graph: Any, *, nodes: int | Iterable[Any] | None = None, weight: Any = None) -> Sparse:
    """Convert a graph to a sparse adjacency matrix with one row and column per node; links keep their direction.

    Selectors accept all of these forms as `adjacency` and arrange the nodes in the order of the feature ids. Call this
    function to choose the weight, or to say which node belongs to which row.

    Parameters
    ----------
    graph : sparse matrix, array, DataFrame, edge list, or graph of another library
        A square matrix (SciPy, NumPy, torch, or a DataFrame whose index and columns name the same nodes); edges (a
        pandas, polars or Arrow table with the columns source, target and optionally weight, a list of pairs, or an
        array of shape (E, 2) or (2, E)); a networkx, igraph, rustworkx or networkit graph, a libpysal `W` or `Graph`, a
        scikit-network `Dataset`, PyTorch Geometric `Data`, an AnnData, whose ``obsp["connectivities"]`` is read, or a
        :class:`blockselect.NodeGraph`.
    nodes : int, iterable of ids, or None
        The ids of the nodes in the order of the rows, or the number of nodes if edges refer to nodes by number. If
        None, the nodes keep the order of the graph; required for a list of edges, which omits isolated nodes.
    weight : column or attribute, False or None, default=None
        The column or attribute with the link weights. If None, "weight" is used if it exists; a numeric column with
        another name is an error, and a networkx edge without this attribute has weight 1, as in networkx. If False,
        every link has weight 1, even if the graph is a matrix. Weights of parallel edges are added. Without weights,
        parallel edges of a multigraph are still counted, but a repeated row of a table is one link.

    Returns
    -------
    csr_array of shape (n, n)
        The link weights, in float64. Selectors use the larger of the weights in the two directions.

    Examples
    --------
    >>> as_adjacency([("ann", "bob"), ("bob", "cleo")], nodes=["ann", "bob", "cleo"]).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    return read_with_nodes(graph, nodes, weight).matrix


def read_with_nodes(graph: Any, nodes: int | Iterable[Any] | None, weight: Any = None) -> ReadGraph:
    """Read the weights of a graph and the ids of its nodes, if they have any; see :func:`as_adjacency`."""
    if nodes is None:
        return read_in_order(graph, None, weight=weight)
    if isinstance(nodes, int | Real):
        return read_in_order(graph, check_whole("nodes", nodes, 1), weight=weight)
    if isinstance(nodes, pd.DataFrame):
        raise ParameterError("nodes", "is a DataFrame; pass the ids of its rows: nodes=table.index.")
    refuse_unordered(nodes, "nodes")
    listed = list(nodes)
    return read_in_order(graph, len(listed), check_names(listed, len(listed), "node id", "row"), weight=weight)


def check_adjacency(
    adjacency: Any,
    n_nodes: int | None = None,
    *,
    node_ids: ObjectArray | None = None,
    dtype: Any = np.float64,
    own_order: bool = False,
) -> Sparse:
    """Check a network and convert it to symmetric CSR: finite weights ≥ 0 and at least one link.

    The parameters are those of :func:`read_in_order`; squares of the weights must be in the range of the `dtype`.
    """
    weights = read_in_order(adjacency, n_nodes, node_ids, own_order=own_order).matrix
    check_weights(weights, node_ids, np.dtype(dtype))
    return without_direction(weights)


def check_affinity(affinity: Any, n_nodes: int, node_ids: ObjectArray | None = None) -> Sparse:
    """Check a precomputed affinity and convert it to symmetric CSR: finite, ≥ 0, and not zero off the diagonal."""
    weights = read_in_order(affinity, n_nodes, node_ids, name="affinity").matrix
    check_weights(weights, None, weights.dtype, name="affinity")
    if weights.nnz == np.count_nonzero(weights.diagonal()):
        raise ValueError("affinity is zero off its diagonal, so no two nodes are similar; check how it was computed.")
    return without_direction(weights)


def without_direction(weights: Sparse) -> Sparse:
    """Make links undirected, with the larger of the weights in the two directions, as the paper does for citations."""
    symmetric = sparse.csr_array(weights.maximum(weights.T))
    symmetric.sort_indices()
    return symmetric


def check_same_order(node_ids: Iterable[Any] | None, graph: Any, adjacency: Sparse, *, what: str, fix: str) -> None:
    """Raise an error if rows with ids are in a different order from the nodes of a graph.

    Parameters
    ----------
    node_ids : iterable or None
        The ids of the rows; if None, a graph whose nodes have names is rejected.
    graph : any
        The graph as the user passed it.
    adjacency : CSR of shape (n, n)
        The same graph, read by :func:`check_adjacency` in its own order.
    what, fix : str
        For error messages: what has these rows ("labels"), and how to reorder it.
    """
    if sparse.issparse(graph) or isinstance(graph, np.ndarray):
        return
    n_nodes = adjacency.shape[0]
    in_their_order = check_adjacency(graph, n_nodes, node_ids=check_names(node_ids, n_nodes, "node id", "row"))
    if (in_their_order != adjacency).nnz:
        raise ValueError(
            f"{what} and the graph have the nodes in different orders; use the order of the graph for both: {fix}."
        )


def read_in_order(
    graph: Any,
    n_nodes: int | None,
    node_ids: ObjectArray | None = None,
    *,
    name: str = "adjacency",
    weight: Any = None,
    own_order: bool = False,
) -> ReadGraph:
    """Read any graph that :func:`as_adjacency` accepts, with its nodes in the order of the rows of the features.

    Parameters
    ----------
    graph : matrix, edges, or graph of another library
    n_nodes : int or None
        Number of rows of the features; may be None for a graph that lists all its nodes, unlike a table of edges.
    node_ids : array of shape (n,), optional
        The ids of the rows.
    name : str
        Name of the graph in error messages.
    weight : column or attribute, False or None
        See :func:`as_adjacency`.
    own_order : bool
        Whether to trust the order of the graph if its nodes have names but the rows have no ids. By default, such a
        graph is rejected.
    """
    read = read_graph_object(graph, n_nodes, node_ids, name, weight)
    weights = read.matrix
    keeps_order = node_ids is None and (own_order or read.own_order)
    if read.node_ids is not None and n_nodes is not None and not keeps_order:
        own = pd.Index(read.node_ids, tupleize_cols=False)
        if node_ids is not None:
            at = _rows_by_id(own, node_ids, graph)
            weights = sparse.csr_array(weights[at][:, at])
        elif own.tolist() != list(range(n_nodes)):
            _refuse_unknown_order(own, n_nodes, name)
    n_rows = weights.shape[0]
    if n_nodes is not None and n_rows != n_nodes:
        raise ValueError(
            f"{name} has {n_rows} nodes but features has {n_nodes} rows; pass a graph with one node per row."
            + (f" {CROSS_VALIDATION_HINT}" if n_rows > n_nodes else "")
        )
    return ReadGraph(weights, read.node_ids if node_ids is None else node_ids)


def _rows_by_id(own: pd.Index[Any], node_ids: ObjectArray, graph: Any) -> NDArray[np.intp]:
    """Return the positions of these ids among the nodes of the graph: (n,)."""
    if isinstance(graph, pd.DataFrame):
        fix = "pass the adjacency without names (to_numpy())"
    elif isinstance(graph, ReadGraph):
        fix = "give the nodes the order of the rows: NodeGraph(graph, nodes=features.index)"
    else:
        fix = (
            "add the isolated nodes: graph.add_nodes_from(features.index), or keep the shared nodes: "
            "graph.subgraph(features.index), features.loc[list(graph)]"
        )
    known = pd.Index(node_ids, tupleize_cols=False)
    _check_same_nodes(known, own, fix)
    return own.get_indexer(known)


def _refuse_unknown_order(own: pd.Index[Any], n_nodes: int, name: str) -> NoReturn:
    """Raise an error for a graph whose nodes have names, which may be in a different order from rows without ids."""
    if all(isinstance(one, Integral) for one in own.tolist()):
        fix = f"add the isolated nodes: graph.add_nodes_from(range({n_nodes}))"
        _check_same_nodes(pd.RangeIndex(n_nodes), own, fix)
    raise ValueError(
        f"the nodes of {name} are called {own[:3].tolist()}, … but the rows of the features have no ids, so their "
        "order may differ; pass the features as a DataFrame whose index names the nodes, or give the id of "
        f"each row: {name}=as_adjacency(graph, nodes=ids_of_the_rows)."
    )


def _check_same_nodes(known: pd.Index[Any], other: pd.Index[Any], fix: str) -> None:
    alone = known.symmetric_difference(other, sort=False).tolist()
    if alone:
        raise ValueError(
            f"{len(alone)} node(s) are in only one of features and adjacency, for example {alone[:3]}; use "
            f"the same ids in both (1 and '1' differ), or {fix}."
        )


def graph_of(features: Any, adjacency: Any) -> Any:
    """Return `adjacency`, the graph that an AnnData stores under this key, or the graph that contains the features."""
    if is_anndata(features) and (isinstance(adjacency, str) or adjacency is features):
        return cell_graph(features, CONNECTIVITIES if adjacency is features else adjacency)
    if adjacency is None and (is_networkx(features) or is_igraph(features)):
        return features
    if adjacency is None and is_attributed_graph(features):
        return ReadGraph(features.adjacency, origin=features.origin)
    return adjacency


def cell_graph(adata: Any, key: str) -> ReadGraph:
    """Return the graph that an AnnData stores under a key, with its origin if it was built from the features.

    Functions such as ``scanpy.pp.neighbors`` record in `uns` which graph they built, the method, and the representation
    of the cells that they used. If no representation is recorded, they used X or its principal components.
    """
    graph = ReadGraph(obsp_graph(adata, key))
    for name, record in getattr(adata, "uns", {}).items():
        params = record.get("params") if isinstance(record, Mapping) else None
        if not isinstance(params, Mapping) or "method" not in params:  # squidpy records no method for spatial graphs
            continue
        made = record.get("connectivities_key", CONNECTIVITIES if name == "neighbors" else None)
        source = params.get("use_rep")
        if made == key and (source is None or source == "X" or str(source).startswith("X_pca")):
            graph.origin = f"uns[{name!r}]"
    return graph
