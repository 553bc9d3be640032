"""as_adjacency: converts many kinds of graphs to a sparse adjacency matrix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.inputs.edges import ENDS, WEIGHT, edge_matrix, matrix_or_edges, object_array
from blockselect.inputs.kinds import is_anndata, is_attributed_graph, is_igraph, is_networkx
from blockselect.inputs.labels import igraph_names
from blockselect.rows.checks import check_weights
from blockselect.rows.matrices import (
    as_array,
    as_float_matrix,
    as_pandas,
    is_frame,
    is_tensor,
)
from blockselect.utils.arrays import ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import comes_from
from blockselect.utils.parameters import check_names, check_whole, refuse_unordered

CONNECTIVITIES = "connectivities"  # the graph that scanpy.pp.neighbors writes
_FOR_FOLDS = (
    "Cross-validation (GridSearchCV, cross_val_score) cuts the rows of a matrix but not its columns; pass "
    "adjacency=NodeGraph(graph), which is cut by both."
)


def as_adjacency(graph: Any, *, nodes: int | Iterable[Any] | None = None, weight: Any = None) -> Sparse:
    """Convert a graph to a sparse adjacency matrix with one row and column per node; links keep their direction.

    Selectors accept all of these forms as `adjacency` and arrange the nodes in the order of the feature ids. Call this
    function to choose the weight, or to say which node belongs to which row.

    Parameters
    ----------
    graph : sparse matrix, array, DataFrame, edge list, or graph of another library
        A square matrix (SciPy, NumPy, torch, or a DataFrame whose index and columns are the same nodes); edges (a table
        of pandas, polars or Arrow with the columns source, target and optionally weight, a list of pairs, an array of
        shape (E, 2) or (2, E)); a networkx, igraph, rustworkx or networkit graph, a libpysal `W` or `Graph`, a
        scikit-network `Dataset`, PyTorch Geometric `Data`, an AnnData, whose ``obsp["connectivities"]`` is read, or a
        :class:`blockselect.NodeGraph`.
    nodes : int, iterable of ids, or None
        The ids of the nodes in the order of the rows, or the number of nodes if edges refer to nodes by number. None
        keeps the nodes of the graph in their own order; a list of edges may miss nodes, so it needs this argument.
    weight : column or attribute, False or None, default=None
        The column or attribute with the link weights. None uses "weight" if it exists; a numeric column with another
        name is an error, and a networkx edge without this attribute has weight 1, as in networkx. False gives all links
        weight 1, including those of a matrix. The weights of parallel edges are added up, in a multigraph always; in a
        table without weights, a repeated row is one link.

    Returns
    -------
    csr_array of shape (n, n)
        Weights in float64. Selectors use the larger weight of the two directions.

    Examples
    --------
    >>> as_adjacency([("ann", "bob"), ("bob", "cleo")], nodes=["ann", "bob", "cleo"]).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    return read_nodes(graph, nodes, weight).matrix


@dataclass(slots=True, eq=False)
class ReadGraph:
    """A graph as it was read: its weights, and what is known about its nodes."""

    matrix: Sparse  # (n, n)
    node_ids: ObjectArray | None = None  # (n,); None if nodes are numbered by the rows of the features
    own_order: bool = False  # whether rows without ids are known to be in the order of the nodes
    origin: str | None = None  # the record that the graph was built from the features, if there is one
    fix: str = (  # what to do if its nodes differ from those of the features
        "add the isolated nodes: graph.add_nodes_from(features.index), or keep the shared nodes: "
        "graph.subgraph(features.index), features.loc[list(graph)]"
    )


def read_nodes(graph: Any, nodes: int | Iterable[Any] | None = None, weight: Any = None) -> ReadGraph:
    """The weights, and the names of the nodes if they have any; takes the arguments of `as_adjacency`."""
    if nodes is None:
        return read_in_order(graph, None, weight=weight)
    if isinstance(nodes, int | Real):
        return read_in_order(graph, check_whole("nodes", nodes, 1), weight=weight)
    if isinstance(nodes, pd.DataFrame):
        raise ParameterError("nodes", "is a DataFrame; pass the ids of its rows: nodes=table.index.")
    refuse_unordered(nodes, "nodes")
    listed = list(nodes)
    return read_in_order(graph, len(listed), check_names(listed, len(listed), "node id", "row"), weight=weight)


def read_in_order(
    graph: Any,
    n_nodes: int | None,
    node_ids: ObjectArray | None = None,
    *,
    name: str = "adjacency",
    weight: Any = None,
    own_order: bool = False,
) -> ReadGraph:
    """Any graph that :func:`as_adjacency` reads, with its nodes in the order of the rows of the features.

    If `n_nodes` is None, the graph itself must list its nodes; an edge table does not, because isolated nodes are
    missing from it. If the nodes of the graph have names but the rows have no ids, the graph is rejected, unless it may
    keep its `own_order`.
    """
    read = _read(graph, n_nodes, node_ids, name, weight)
    weights = read.matrix
    keeps_order = node_ids is None and (own_order or read.own_order)
    if read.node_ids is not None and n_nodes is not None and not keeps_order:
        at = _places(read.node_ids, n_nodes, node_ids, name, read.fix)
        weights = sparse.csr_array(weights[at][:, at])
    _check_square(weights.shape, n_nodes, name)
    return ReadGraph(weights, read.node_ids if node_ids is None else node_ids)


def _read(graph: Any, n_nodes: int | None, node_ids: ObjectArray | None, name: str, weight: Any) -> ReadGraph:
    """A graph of any kind with the nodes in their own order; edges may only name nodes of the features."""
    if graph is None:
        raise ValueError(
            f"{name} is missing (None); pass the graph of these rows, or build one with "
            "nearest_neighbour_graph(features)."
        )
    if isinstance(graph, ReadGraph):
        matrix = _as_weights(graph.matrix, name, weight)
        return ReadGraph(matrix, graph.node_ids, graph.own_order, graph.origin, graph.fix)
    if is_networkx(graph):
        return _read_networkx(graph, weight)
    if reader := _numbered_reader(graph):
        read = reader(graph, weight)
        if read.node_ids is None:
            _refuse_numbers_for_ids(node_ids, name)
        return read
    if is_anndata(graph):
        return ReadGraph(_as_weights(obsp_graph(graph, CONNECTIVITIES), name, weight), object_array(graph.obs_names))
    if sparse.issparse(getattr(graph, "sparse", None)):  # W and Graph of libpysal
        ids = graph.id_order if hasattr(graph, "id_order") else graph.unique_ids
        return ReadGraph(_as_weights(graph.sparse, name, weight), object_array(ids))
    if isinstance(graph, Mapping) and "adjacency" in graph:  # Dataset of scikit-network: names are those of the rows
        ids = graph.get("names")
        matrix = _as_weights(graph["adjacency"], name, weight)
        return ReadGraph(matrix, None if ids is None else object_array(ids), own_order=True)
    table = _as_matrix_or_edges(graph, n_nodes, name)
    if not isinstance(table, pd.DataFrame):
        return ReadGraph(_as_weights(table, name, weight))
    if table.shape[0] == table.shape[1] and set(table.index) == set(table.columns):
        names = check_names(table.index, len(table), "node id", "row")
        square = table.iloc[:, table.columns.get_indexer(table.index)]
        return ReadGraph(_as_weights(square, name, weight), names, fix="pass the adjacency without names (to_numpy())")
    if n_nodes is None:
        raise ValueError(
            f"{name} is a table of {len(table)} edges, which need not name every node; "
            "list the nodes: as_adjacency(edges, nodes=ids)."
        )
    if n_nodes == len(table) < table.shape[1] and table.index.isin(table.columns).all():
        _check_square(table.shape, n_nodes, name)
    return ReadGraph(edge_matrix(table, n_nodes, node_ids, weight=weight))


def _numbered_reader(graph: Any) -> Callable[[Any, Any], ReadGraph] | None:
    """The function that reads a graph whose nodes are numbers unless they have names."""
    if is_igraph(graph):
        return _read_igraph
    if getattr(graph, "edge_index", None) is not None and not isinstance(graph, pd.DataFrame):
        return _read_edge_index
    is_listed = hasattr(graph, "weighted_edge_list") or hasattr(graph, "iterEdgesWeights")
    return _read_edge_lists if is_listed else None


def _as_matrix_or_edges(graph: Any, n_nodes: int | None, name: str) -> Any:
    """A matrix, or a DataFrame of edges or of a matrix with names."""
    if sparse.issparse(graph) or isinstance(graph, pd.DataFrame):
        return graph
    if is_frame(graph):
        return as_pandas(graph, name)
    if is_tensor(graph):
        graph = as_array(graph)
        return graph if sparse.issparse(graph) else matrix_or_edges(graph, n_nodes, name)
    if isinstance(graph, list) and graph and comes_from(graph[0], "networkx"):
        raise ValueError(f"{name} is a list of networkx adjacency views, not a graph. {_FOR_FOLDS}")
    is_view_of_edges = comes_from(graph, "networkx") and hasattr(graph, "__iter__")
    if isinstance(graph, list | tuple | np.ndarray) or is_view_of_edges:
        return matrix_or_edges(graph, n_nodes, name)
    if hasattr(graph, "__array__"):
        return graph
    raise ValueError(
        f"{name} is of type {type_name(graph)}, which cannot be read as a graph; convert it to a SciPy matrix, an "
        "edge table (columns source, target and optionally weight) or a networkx graph, or read a file with "
        "blockselect.inputs.read_graph(path)."
    )


def _as_weights(matrix: Any, name: str, weight: Any) -> Sparse:
    """A matrix as CSR in float64. Its entries are its weights: they can be ignored, but not chosen."""
    weights = sparse.csr_array(as_float_matrix(matrix, name)).astype(np.float64, copy=False)
    if weight is False:
        weights.data[:] = 1.0
    elif weight is not None:
        raise ParameterError(
            "weight",
            f"is {weight!r}, but the entries of a matrix are its weights; leave it out, or pass False.",
        )
    return weights


def _check_square(shape: tuple[int, ...], n_nodes: int | None, name: str) -> None:
    rows, columns = shape
    if rows != columns:
        hint = " Pairs of nodes must be whole numbers or names: pairs.astype(int)." if 2 in (rows, columns) else ""
        if rows == n_nodes:
            hint += f" {_FOR_FOLDS}"
        raise ValueError(f"{name} has shape {shape}; expected a square matrix with one row and column per node.{hint}")
    if n_nodes is not None and rows != n_nodes:
        raise ValueError(
            f"{name} has {rows} nodes but features has {n_nodes} rows; pass the graph of exactly these rows."
            + (f" {_FOR_FOLDS}" if rows > n_nodes else "")
        )


def without_direction(weights: Sparse) -> Sparse:
    """Drop the direction of links by taking the larger weight, as the paper does for citation networks."""
    symmetric = sparse.csr_array(weights.maximum(weights.T))
    symmetric.sort_indices()
    return symmetric


def _places(names: ObjectArray, n_nodes: int, node_ids: ObjectArray | None, name: str, fix: str) -> NDArray[np.intp]:
    """The position of the node of each feature row in a graph whose nodes have names: (n,)."""
    own = pd.Index(names, tupleize_cols=False)
    if node_ids is not None:
        known = pd.Index(node_ids, tupleize_cols=False)
        _check_same_nodes(known, own, fix)
        return own.get_indexer(known)
    if own.tolist() == list(range(n_nodes)):
        return np.arange(n_nodes)
    if all(isinstance(one, Integral) for one in own.tolist()):
        _check_same_nodes(
            pd.RangeIndex(n_nodes), own, f"add the isolated nodes: graph.add_nodes_from(range({n_nodes}))"
        )
    raise ValueError(
        f"the nodes of {name} are called {own[:3].tolist()}, … but the rows of the features have no ids, so their "
        "order may differ; pass the features as a DataFrame whose index names the nodes, or say which row is "
        f"which: {name}=as_adjacency(graph, nodes=ids_of_the_rows)."
    )


def _refuse_numbers_for_ids(node_ids: ObjectArray | None, name: str) -> None:
    """Raise an error if node numbers could mean rows or ids.

    In a graph without names they are rows, but in a list of edges they are ids.
    """
    if node_ids is None or not any(isinstance(one, Real) for one in node_ids):
        return
    if node_ids.tolist() != list(range(len(node_ids))):
        raise ValueError(
            f"the nodes of {name} are numbered 0, 1, … but the index of the features is {node_ids[:3].tolist()}, …, so "
            f"a number could be a row or an id; if it is the row, pass {name}=as_adjacency(graph); if it is the id, "
            "pass a list of edges."
        )


def _check_same_nodes(known: pd.Index[Any], other: pd.Index[Any], fix: str) -> None:
    alone = known.symmetric_difference(other, sort=False).tolist()
    if alone:
        raise ValueError(
            f"{len(alone)} node(s) are in only one of features and adjacency, for example {alone[:3]}; make "
            f"both name the same nodes (1 and '1' differ), or {fix}."
        )


def graph_of(features: Any, adjacency: Any) -> Any:
    """The graph: `adjacency`, the graph that an AnnData stores under this key, or the one passed with the features."""
    if is_anndata(features) and (isinstance(adjacency, str) or adjacency is features):
        return cell_graph(features, CONNECTIVITIES if adjacency is features else adjacency)
    if adjacency is None and (is_networkx(features) or is_igraph(features)):
        return features
    if adjacency is None and is_attributed_graph(features):
        return ReadGraph(features.adjacency, origin=features.origin)
    return adjacency


def cell_graph(adata: Any, key: str) -> ReadGraph:
    """The graph stored in an AnnData under a key, and whether `uns` says that it was made from the expression matrix.

    Functions like ``scanpy.pp.neighbors`` write a record into `uns`: which graph they made, with which method and from
    which representation of the cells, which is X or its principal components if there is none in the record.
    """
    graph = ReadGraph(obsp_graph(adata, key))
    for name, record in getattr(adata, "uns", {}).items():
        params = record.get("params") if isinstance(record, Mapping) else None
        if not isinstance(params, Mapping) or "method" not in params:  # spatial graphs of squidpy have no method
            continue
        made = record.get("connectivities_key", CONNECTIVITIES if name == "neighbors" else None)
        source = params.get("use_rep")
        if made == key and (source is None or source == "X" or str(source).startswith("X_pca")):
            graph.origin = f"uns[{name!r}]"
    return graph


def obsp_graph(adata: Any, key: str) -> Any:
    """The graph of an AnnData with this key."""
    if key not in adata.obsp:
        keys = list(adata.obsp.keys())
        raise ValueError(
            f"the AnnData has no graph obsp[{key!r}]; "
            + (f"choose one of {keys}." if keys else "build one first: scanpy.pp.neighbors(adata).")
        )
    return adata.obsp[key]


def _read_networkx(graph: Any, weight: Any) -> ReadGraph:
    is_chosen = weight is not None and weight is not False
    known = set(chain.from_iterable(data for *_, data in graph.edges(data=True))) if is_chosen else {WEIGHT}
    attribute = _weight_attribute(weight, known, WEIGHT)
    ends = list(graph.edges())
    values = [1.0] * len(ends) if attribute is None else [one for *_, one in graph.edges(data=attribute, default=1.0)]
    return _linked(list(graph), ends, values, directed=graph.is_directed())


def _read_igraph(graph: Any, weight: Any) -> ReadGraph:
    names = igraph_names(graph)
    nodes = list(range(graph.vcount())) if names is None else names
    attribute = _weight_attribute(weight, graph.es.attributes(), WEIGHT)
    values = [1.0] * graph.ecount() if attribute is None else graph.es[attribute]
    ends = [(nodes[source], nodes[target]) for source, target in graph.get_edgelist()]
    found = _linked(nodes, ends, values, directed=graph.is_directed())
    return ReadGraph(found.matrix) if names is None else found


def _read_edge_index(data: Any, weight: Any) -> ReadGraph:
    """Data of PyTorch Geometric; its `edge_attr` are features of edges, not weights."""
    if data.num_nodes is None:
        raise ValueError("num_nodes of the data is None, so the number of nodes is unknown; set it.")
    ends = as_array(data.edge_index)
    edges = pd.DataFrame({ENDS[0]: ends[0], ENDS[1]: ends[1]})
    known = [one for one in ("edge_weight", weight) if getattr(data, str(one), None) is not None]
    attribute = _weight_attribute(weight, known, "edge_weight")
    if attribute is not None:
        edges[WEIGHT] = as_array(getattr(data, attribute)).ravel()
    return ReadGraph(edge_matrix(edges, int(data.num_nodes)))


def _read_edge_lists(graph: Any, weight: Any) -> ReadGraph:
    """A graph of networkit or rustworkx, whose edges carry a weight, a dict of attributes or nothing."""
    if hasattr(graph, "iterEdgesWeights"):  # networkit
        nodes, edges, directed = list(graph.iterNodes()), list(graph.iterEdgesWeights()), graph.isDirected()
    else:
        nodes, edges = list(graph.node_indices()), list(graph.weighted_edge_list())
        directed = hasattr(graph, "successors")
    held = [one if isinstance(one, Mapping) else {} if one is None else {WEIGHT: one} for *_, one in edges]
    attribute = _weight_attribute(weight, set(chain.from_iterable(held)), WEIGHT)
    values = [1.0 if attribute is None else one.get(attribute, 1.0) for one in held]
    found = _linked(nodes, [(start, end) for start, end, _ in edges], values, directed=directed)
    return (
        ReadGraph(found.matrix) if nodes == list(range(len(nodes))) else found
    )  # numbers of removed nodes are left out


def _weight_attribute(weight: Any, known: Collection[Any], usual: str) -> Any:
    """The edge attribute with the weights; None if all links have the same weight."""
    if weight is False or (weight is None and usual not in known):
        return None
    if weight is not None and weight not in known:
        raise ValueError(f"weight is {weight!r}, but edges have no such attribute; choose another, or False.")
    return usual if weight is None else weight


def _linked(nodes: list[Any], ends: list[tuple[Any, Any]], values: list[Any], *, directed: bool) -> ReadGraph:
    """Add up parallel edges; undirected edges are stored in one direction, so that parallel ones coincide."""
    ids = check_names(nodes, len(nodes), "node id", "node")
    if not directed:
        place = {node: at for at, node in enumerate(nodes)}
        ends = [(end, start) if place[start] > place[end] else (start, end) for start, end in ends]
    edges = pd.DataFrame(
        {
            ENDS[0]: object_array([start for start, _ in ends]),
            ENDS[1]: object_array([end for _, end in ends]),
            WEIGHT: pd.Series(values, dtype=object).infer_objects(),
        }
    )
    return ReadGraph(edge_matrix(edges, len(nodes), ids), ids)


def type_name(thing: Any) -> str:
    kind = type(thing)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def check_affinity(affinity: Any, n_nodes: int, node_ids: ObjectArray | None = None) -> Sparse:
    """Check a precomputed affinity and convert it to CSR: finite, non-negative, the larger of the two directions.

    A DataFrame with labels is put in the order of `node_ids` if they are known.
    """
    weights = read_in_order(affinity, n_nodes, node_ids, name="affinity").matrix
    check_weights(weights, None, weights.dtype, name="affinity")
    if weights.nnz == np.count_nonzero(weights.diagonal()):
        raise ValueError("affinity is zero off its diagonal, so no two nodes are similar; check how it was computed.")
    return without_direction(weights)
