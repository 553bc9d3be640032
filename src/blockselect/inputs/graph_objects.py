"""Graphs in memory: matrices, edges, and graphs from other libraries, with one reader for each kind."""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.inputs.edges import ENDS, WEIGHT, edge_matrix, object_array
from blockselect.inputs.kinds import CONNECTIVITIES, is_anndata, is_igraph, is_networkx, obsp_graph
from blockselect.inputs.labels import igraph_names
from blockselect.rows.matrices import as_array, as_float_matrix, as_pandas, is_frame, is_tensor
from blockselect.utils.arrays import ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import comes_from
from blockselect.utils.parameters import check_names

CROSS_VALIDATION_HINT = (
    "Cross-validation (GridSearchCV, cross_val_score) subsets the rows of a matrix but not its columns; pass "
    "adjacency=NodeGraph(graph), which subsets both."
)


@dataclass(slots=True, eq=False)
class ReadGraph:
    """A graph that was read: the weights of its links, and what is known about its nodes."""

    matrix: Sparse  # (n, n)
    node_ids: ObjectArray | None = None  # (n,); None if nodes are identified by row numbers of the features
    own_order: bool = False  # whether the nodes are known to be in the order of the rows, even if rows have no ids
    origin: str | None = None  # where it is recorded that the graph was built from the features, if anywhere


def read_graph_object(
    graph: Any, n_nodes: int | None, node_ids: ObjectArray | None, name: str, weight: Any
) -> ReadGraph:
    """Read a graph of any kind, with the nodes in the order of the graph or, for edges, of the rows of the features.

    The parameters are those of `read_in_order`.
    """
    if graph is None:
        raise ValueError(
            f"{name} is missing (None); pass the graph of these rows, or build one with "
            "nearest_neighbour_graph(features)."
        )
    if is_networkx(graph):
        return _read_networkx(graph, weight)
    if (numbered := _read_numbered(graph, weight)) is not None:
        if numbered.node_ids is None:
            _refuse_numbers_for_ids(node_ids, name)
        return numbered
    ids, own_order = None, False
    if isinstance(graph, ReadGraph):
        matrix, ids, own_order = graph.matrix, graph.node_ids, graph.own_order
    elif is_anndata(graph):
        matrix, ids = obsp_graph(graph, CONNECTIVITIES), graph.obs_names
    elif sparse.issparse(getattr(graph, "sparse", None)):  # libpysal's W and Graph
        matrix, ids = graph.sparse, graph.id_order if hasattr(graph, "id_order") else graph.unique_ids
    elif isinstance(graph, Mapping) and "adjacency" in graph:  # scikit-network's Dataset; its names belong to the rows
        matrix, ids, own_order = graph["adjacency"], graph.get("names"), True
    else:
        matrix = _matrix_or_table(graph, n_nodes, name)
        if isinstance(matrix, pd.DataFrame):
            if matrix.shape[0] != matrix.shape[1] or set(matrix.index) != set(matrix.columns):
                return ReadGraph(_links_of_table(matrix, n_nodes, node_ids, name, weight))
            ids = check_names(matrix.index, len(matrix), "node id", "row")
            matrix = matrix.iloc[:, matrix.columns.get_indexer(matrix.index)]
    weights = sparse.csr_array(as_float_matrix(matrix, name)).astype(np.float64, copy=False)
    if weight is False:
        weights.data[:] = 1.0
    elif weight is not None:
        raise ParameterError(
            "weight",
            f"is {weight!r}, but the entries of a matrix are its weights; leave it out, or pass weight=False.",
        )
    if weights.shape[0] != weights.shape[1]:
        _refuse_shape(weights.shape, n_nodes, name)
    return ReadGraph(weights, None if ids is None else object_array(ids), own_order)


def _links_of_table(
    edges: pd.DataFrame, n_nodes: int | None, node_ids: ObjectArray | None, name: str, weight: Any
) -> Sparse:
    """Read a table of edges."""
    if n_nodes is None:
        raise ValueError(
            f"{name} is a table of {len(edges)} edges, which need not name every node; list the nodes: "
            "as_adjacency(edges, nodes=ids)."
        )
    if n_nodes == len(edges) < edges.shape[1] and edges.index.isin(edges.columns).all():
        _refuse_shape(edges.shape, n_nodes, name)  # rows of a matrix whose nodes have names
    return edge_matrix(edges, n_nodes, node_ids, weight=weight)


def _refuse_shape(shape: tuple[int, ...], n_nodes: int | None, name: str) -> NoReturn:
    rows, columns = shape
    hint = " Pairs of nodes must be whole numbers or names: pairs.astype(int)." if 2 in (rows, columns) else ""
    if rows == n_nodes:
        hint += f" {CROSS_VALIDATION_HINT}"
    raise ValueError(f"{name} has shape {shape}; expected a square matrix with one row and column per node.{hint}")


def _matrix_or_table(graph: Any, n_nodes: int | None, name: str) -> Any:
    """Convert a graph to a matrix, or to a DataFrame that contains either edges or a matrix with named nodes."""
    if sparse.issparse(graph) or isinstance(graph, pd.DataFrame):
        return graph
    if is_frame(graph):
        return as_pandas(graph, name)
    is_view_of_edges = comes_from(graph, "networkx") and hasattr(graph, "__iter__")
    if is_tensor(graph):
        graph = as_array(graph)
    elif isinstance(graph, list | tuple) or is_view_of_edges:
        rows = list(graph)
        if rows and comes_from(rows[0], "networkx"):
            raise ValueError(f"{name} is a list of networkx adjacency views, not a graph. {CROSS_VALIDATION_HINT}")
        if rows and all(isinstance(row, tuple) and len(row) in (2, 3) for row in rows):
            return _table_of_tuples(rows)
        with suppress(ValueError):  # rows of different lengths are reported when the matrix is converted
            graph = np.asarray(rows)
    elif not hasattr(graph, "__array__"):
        raise ValueError(
            f"{name} is of type {type(graph).__name__}, which cannot be read as a graph; convert it to a SciPy matrix, "
            "an edge table (columns source, target and optionally weight) or a networkx graph, or read a file with "
            "blockselect.inputs.read_graph(path)."
        )
    is_plain = isinstance(graph, np.ndarray) and not np.ma.isMaskedArray(graph)
    return _matrix_or_pairs(graph, n_nodes, name) if is_plain else graph


def _matrix_or_pairs(array: NDArray[Any], n_nodes: int | None, name: str) -> Any:
    """Convert pairs of nodes, in two columns or two rows, to a table of edges; keep any other array."""
    if array.ndim != 2 or array.dtype.kind not in "iuOUST":
        return array
    if array.shape[0] == array.shape[1] and n_nodes in (None, len(array)):
        return array
    if array.shape == (2, 2):
        raise ValueError(
            f"{name} has shape (2, 2), which may be two edges as rows or as columns; pass a DataFrame with the columns "
            "source and target."
        )
    if array.shape[1] == 2 or (array.shape[1] == 3 and array.shape[0] != 3):
        return pd.DataFrame(array, columns=[*ENDS, 2][: array.shape[1]])
    if array.shape[0] == 2 and n_nodes != 2:
        return pd.DataFrame(array.T, columns=[*ENDS])
    return array


def _table_of_tuples(rows: list[Any]) -> pd.DataFrame:
    """Convert tuples to a table: source, target and optionally a third value, a float (the weight) or a dict."""
    edges = pd.DataFrame({end: object_array([row[place] for row in rows]) for place, end in enumerate(ENDS)})
    edges = edges.infer_objects()
    n_pairs = sum(len(row) == 2 for row in rows)
    if 0 < n_pairs < len(rows):
        raise ValueError(
            f"{n_pairs} of {len(rows)} edges are pairs (source, target) and the others have a third value; pass it "
            "for all edges or for none."
        )
    if not n_pairs:
        third = [row[2] for row in rows]
        if all(isinstance(each, dict) for each in third):
            return pd.concat([edges, pd.DataFrame(third)], axis=1)
        is_weight = all(isinstance(each, float) for each in third)  # a whole number may be the key of a parallel link
        edges[WEIGHT if is_weight else 2] = pd.Series(third, dtype=object).infer_objects()
    return edges


def _read_networkx(graph: Any, weight: Any) -> ReadGraph:
    is_chosen = weight is not None and weight is not False
    known = set(chain.from_iterable(data for *_, data in graph.edges(data=True))) if is_chosen else {WEIGHT}
    attribute = _weight_attribute(weight, known, WEIGHT)
    ends = list(graph.edges())
    values = [1.0] * len(ends) if attribute is None else [one for *_, one in graph.edges(data=attribute, default=1.0)]
    return _from_edges(list(graph), ends, values, directed=graph.is_directed())


def _read_numbered(graph: Any, weight: Any) -> ReadGraph | None:
    """Read a graph from a library that numbers nodes unless they have names; return None for other graphs."""
    if is_igraph(graph):
        return _read_igraph(graph, weight)
    if getattr(graph, "edge_index", None) is not None and not isinstance(graph, pd.DataFrame):
        return _read_edge_index(graph, weight)
    if hasattr(graph, "weighted_edge_list") or hasattr(graph, "iterEdgesWeights"):
        return _read_edge_lists(graph, weight)
    return None


def _read_igraph(graph: Any, weight: Any) -> ReadGraph:
    names = igraph_names(graph)
    nodes = list(range(graph.vcount())) if names is None else names
    attribute = _weight_attribute(weight, graph.es.attributes(), WEIGHT)
    values = [1.0] * graph.ecount() if attribute is None else graph.es[attribute]
    ends = [(nodes[source], nodes[target]) for source, target in graph.get_edgelist()]
    read = _from_edges(nodes, ends, values, directed=graph.is_directed())
    return ReadGraph(read.matrix) if names is None else read


def _read_edge_index(data: Any, weight: Any) -> ReadGraph:
    """Read PyTorch Geometric `Data`; its `edge_attr` contains edge features, not weights."""
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
    """Read a networkit or rustworkx graph, whose edges carry a weight, a dict of attributes or nothing."""
    if hasattr(graph, "iterEdgesWeights"):  # networkit
        nodes, edges, directed = list(graph.iterNodes()), list(graph.iterEdgesWeights()), graph.isDirected()
    else:
        nodes, edges = list(graph.node_indices()), list(graph.weighted_edge_list())
        directed = hasattr(graph, "successors")
    attributes = [one if isinstance(one, Mapping) else {} if one is None else {WEIGHT: one} for *_, one in edges]
    attribute = _weight_attribute(weight, set(chain.from_iterable(attributes)), WEIGHT)
    values = [1.0 if attribute is None else one.get(attribute, 1.0) for one in attributes]
    read = _from_edges(nodes, [(source, target) for source, target, _ in edges], values, directed=directed)
    skips_numbers = nodes != list(range(len(nodes)))  # true after nodes were removed
    return read if skips_numbers else ReadGraph(read.matrix)


def _from_edges(nodes: list[Any], ends: list[tuple[Any, Any]], values: list[Any], *, directed: bool) -> ReadGraph:
    """Add up the weights of parallel edges; undirected edges are first given the same direction."""
    ids = check_names(nodes, len(nodes), "node id", "node")
    if not directed:
        place = {node: at for at, node in enumerate(nodes)}
        ends = [(end, start) if place[start] > place[end] else (start, end) for start, end in ends]
    edges = pd.DataFrame({end: object_array([pair[at] for pair in ends]) for at, end in enumerate(ENDS)})
    edges[WEIGHT] = pd.Series(values, dtype=object).infer_objects()
    return ReadGraph(edge_matrix(edges, len(nodes), ids), ids)


def _weight_attribute(weight: Any, known: Container[Any], usual: str) -> Any:
    """Return the edge attribute that contains the weights; None if all links have the same weight."""
    if weight is False or (weight is None and usual not in known):
        return None
    if weight is not None and weight not in known:
        raise ValueError(f"weight is {weight!r}, but edges have no such attribute; choose another, or False.")
    return usual if weight is None else weight


def _refuse_numbers_for_ids(node_ids: ObjectArray | None, name: str) -> None:
    """Raise an error if node numbers could be rows (as in a graph without names) or ids (as in a list of edges)."""
    if node_ids is None or not any(isinstance(one, Real) for one in node_ids):
        return
    if node_ids.tolist() != list(range(len(node_ids))):
        raise ValueError(
            f"the nodes of {name} are numbered 0, 1, … but the index of the features is {node_ids[:3].tolist()}, …, so "
            f"a number could be a row or an id; if it is the row, pass {name}=as_adjacency(graph); if it is the id, "
            "pass a list of edges."
        )
