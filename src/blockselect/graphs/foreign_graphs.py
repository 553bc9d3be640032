"""Graphs of other libraries, known by their types: networkx, igraph, PyTorch (Geometric), AnnData. None is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import ObjectArray
from blockselect.extras import comes_from
from blockselect.graphs.edge_tables import ENDS, WEIGHT, edge_matrix
from blockselect.graphs.foreign_frames import as_array, as_pandas, is_anndata, is_frame, is_tensor

CONNECTIVITIES = "connectivities"  # the graph that scanpy.pp.neighbors writes
_NAME_FROM_NETWORKX = "_nx_name"  # where igraph.Graph.from_networkx keeps what a node was called

_CONVERSIONS = {  # package → how to make of its graphs what can be read
    "graph_tool": "graph_tool.spectral.adjacency(graph)",
    "dgl": "graph.adj_external(scipy_fmt='csr')",
    "networkit": "networkit.algebraic.adjacencyMatrix(graph)",
    "rustworkx": "rustworkx.adjacency_matrix(graph)",
    "cugraph": "graph.view_edge_list().to_pandas()",
    "torch_geometric": "data.to_homogeneous()",
    "torch_sparse": "matrix.to_scipy()",
    "sknetwork": "dataset.adjacency",
    "xarray": "array.values",
    "cupy": "matrix.get()",
    "builtins": "a list of pairs (source, target), networkx.from_dict_of_lists(graph), or, of a file, "
    "blockselect.graphs.read_graph(path)",
    "pathlib": "blockselect.graphs.read_graph(path)",
}


@dataclass(frozen=True, slots=True, eq=False)
class ForeignGraph:
    """A graph in the order of its own nodes."""

    matrix: Any  # (n, n) sparse
    node_ids: ObjectArray | None  # (n,); None: nodes are numbered, and a number is a row of the features


def read_foreign(graph: Any, n_nodes: int | None, name: str, weight: Any) -> Any:
    """A graph of another library as a ForeignGraph, a DataFrame, an array or a sparse matrix.

    Parameters
    ----------
    graph : any
        Neither sparse nor a DataFrame of pandas.
    n_nodes : int or None
        Rows of the features, where they are known: they tell a square matrix from a list of edges.
    name : str
        What it is called in an error.
    weight : column or attribute, False or None
        See :func:`blockselect.as_adjacency`.
    """
    if comes_from(graph, "networkx") and hasattr(graph, "is_multigraph"):
        return _read_networkx(graph, weight)
    if comes_from(graph, "igraph") and hasattr(graph, "get_edgelist"):
        return _read_igraph(graph, weight)
    if is_anndata(graph):
        return ForeignGraph(obsp_graph(graph, CONNECTIVITIES), _objects(graph.obs_names))
    if getattr(graph, "edge_index", None) is not None:
        return _read_edge_index(graph, weight)
    if is_tensor(graph):
        graph = as_array(graph)
        return graph if sparse.issparse(graph) else _matrix_or_edges(graph, n_nodes, name)
    if is_frame(graph):
        return as_pandas(graph, name)
    if isinstance(graph, list | tuple | np.ndarray) or _is_view_of_edges(graph):
        return _matrix_or_edges(graph, n_nodes, name)
    if hasattr(graph, "__array__"):
        return graph
    raise ValueError(f"{name} is of type {_type_name(graph)}, which is no graph that can be read; {_how_to(graph)}.")


def obsp_graph(adata: Any, key: str) -> Any:
    """A graph of the cells by its key."""
    if key not in adata.obsp:
        keys = list(adata.obsp.keys())
        raise ValueError(
            f"the AnnData has no graph obsp[{key!r}]; "
            + (f"choose one of {keys}." if keys else "build one first: scanpy.pp.neighbors(adata).")
        )
    return adata.obsp[key]


def _read_networkx(graph: Any, weight: Any) -> ForeignGraph:
    nodes = list(graph)
    attribute = WEIGHT if weight is None else weight
    if weight not in (None, False) and not any(attribute in list(data) for *_, data in graph.edges(data=True)):
        raise ValueError(
            f"weight is {weight!r}, but no edge of the graph has this attribute; choose another, or False."
        )
    ends = [(source, target) for source, target in graph.edges()]
    values = [1.0] * len(ends) if weight is False else [one for *_, one in graph.edges(data=attribute, default=1.0)]
    return _linked(nodes, ends, values, directed=graph.is_directed())


def _read_igraph(graph: Any, weight: Any) -> ForeignGraph:
    names = next((one for one in ("name", _NAME_FROM_NETWORKX) if one in graph.vs.attributes()), None)
    nodes = list(range(graph.vcount())) if names is None else graph.vs[names]
    known = graph.es.attributes()
    if weight not in (None, False) and weight not in known:
        raise ValueError(f"weight is {weight!r}, but edges have the attributes {known}; choose one of them, or False.")
    attribute = WEIGHT if weight is None else weight
    values = graph.es[attribute] if attribute in known else [1.0] * graph.ecount()
    ends = [(nodes[source], nodes[target]) for source, target in graph.get_edgelist()]
    found = _linked(nodes, ends, values, directed=graph.is_directed())
    return ForeignGraph(found.matrix, None) if names is None else found


def _read_edge_index(data: Any, weight: Any) -> ForeignGraph:
    """Data of PyTorch Geometric; its `edge_attr` are features of edges, not weights."""
    ends = as_array(data.edge_index)
    if data.num_nodes is None:
        raise ValueError("num_nodes of the data is None, so that nobody knows how many nodes there are; set it.")
    edges = pd.DataFrame({ENDS[0]: ends[0], ENDS[1]: ends[1]})
    weights = None if weight is False else getattr(data, "edge_weight" if weight is None else str(weight), None)
    if weights is None and weight not in (None, False):
        raise ValueError(f"weight is {weight!r}, but the data has no such attribute; choose another, or False.")
    if weights is not None:
        values = as_array(weights).ravel()
        if len(values) != len(edges):
            raise ValueError(f"there are {len(values)} weights for {len(edges)} edges; give each edge one weight.")
        edges[WEIGHT] = values
    return ForeignGraph(edge_matrix(edges, int(data.num_nodes)), None)


def _linked(nodes: list[Any], ends: list[tuple[Any, Any]], values: list[Any], *, directed: bool) -> ForeignGraph:
    """Parallel edges add up. An undirected edge is stored in one direction, so that parallel ones meet."""
    place = {node: at for at, node in enumerate(nodes)}
    if len(place) < len(nodes):
        twice = pd.Index(nodes, tupleize_cols=False)
        raise ValueError(
            f"the graph has duplicate node names, for example {twice[twice.duplicated()].tolist()[:3]}; make each "
            "unique."
        )
    if not directed:
        ends = [(end, start) if place[start] > place[end] else (start, end) for start, end in ends]
    edges = pd.DataFrame(
        {
            ENDS[0]: _objects([start for start, _ in ends]),
            ENDS[1]: _objects([end for _, end in ends]),
            WEIGHT: pd.Series(values, dtype=object).infer_objects(),
        }
    )
    ids = _objects(nodes)
    return ForeignGraph(edge_matrix(edges, len(nodes), ids), ids)


def _matrix_or_edges(graph: Any, n_nodes: int | None, name: str) -> Any:
    """A square matrix stays; pairs of nodes, as rows or as two long rows, become a table of edges."""
    if np.ma.isMaskedArray(graph):
        return graph
    rows = [] if isinstance(graph, np.ndarray) else list(graph)
    if rows and all(isinstance(row, tuple) and len(row) in (2, 3) for row in rows):
        return _edges_of_tuples(rows)
    try:
        array = np.asarray(graph)
    except ValueError:
        return graph  # ragged: the matrix's own check names it
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


def _edges_of_tuples(rows: list[Any]) -> pd.DataFrame:
    """(source, target), with a dict of attributes as third where there is one, as networkx writes them."""
    edges = pd.DataFrame({end: _objects([row[place] for row in rows]) for place, end in enumerate(ENDS)})
    edges = edges.infer_objects()
    n_pairs = sum(len(row) == 2 for row in rows)
    if 0 < n_pairs < len(rows):
        raise ValueError(
            f"{n_pairs} of {len(rows)} edges are pairs (source, target) and the others have a third value; give it to "
            "all of them, or to none."
        )
    if not n_pairs:
        third = [row[2] for row in rows]
        if all(isinstance(each, dict) for each in third):
            return pd.concat([edges, pd.DataFrame(third)], axis=1)
        edges[2] = pd.Series(third, dtype=object).infer_objects()
    return edges


def _is_view_of_edges(graph: Any) -> bool:
    return comes_from(graph, "networkx") and hasattr(graph, "__iter__")


def _objects(values: Any) -> ObjectArray:
    """An array of objects, tuples among them kept whole."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _type_name(thing: Any) -> str:
    kind = type(thing)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _how_to(graph: Any) -> str:
    for package, conversion in _CONVERSIONS.items():
        if comes_from(graph, package) and type(graph) is not object:
            return f"pass {conversion}"
    return (
        "pass a SciPy or NumPy matrix, an edge table (columns source, target, weight), a graph of networkx or igraph, "
        "or data of PyTorch Geometric"
    )
