"""FeatureTable, type checks for objects from other libraries, and access to the contents of an AnnData."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.utils.arrays import Features
from blockselect.utils.extras import comes_from

CONNECTIVITIES = "connectivities"  # the graph that scanpy.pp.neighbors writes


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features with the names of their nodes and columns, if known; their values have not been checked."""

    matrix: Features  # (n, m): array, sparse matrix, list or pandas DataFrame
    node_ids: Iterable[Any] | None = None  # (n,)
    feature_names: Iterable[Any] | None = None  # (m,)
    encoding: pd.DataFrame | None = None  # how attributes of nodes were encoded as columns


def is_networkx(thing: Any) -> bool:
    """Whether this is a networkx graph, rather than a view of its nodes or edges."""
    return comes_from(thing, "networkx") and hasattr(thing, "is_multigraph")


def is_igraph(thing: Any) -> bool:
    """Whether this is an igraph graph, rather than a clustering or a vertex sequence."""
    return comes_from(thing, "igraph") and hasattr(thing, "get_edgelist")


def is_attributed_graph(thing: Any) -> bool:
    """Whether this is an AttributedGraph, which this module cannot import."""
    return all(hasattr(thing, name) for name in ("adjacency", "features", "node_ids", "feature_names", "encoding"))


def is_anndata(thing: Any) -> bool:
    """Whether this is an AnnData, or has the same attributes."""
    return all(hasattr(thing, name) for name in ("X", "obs_names", "var_names", "obsp"))


def anndata_matrix(adata: Any, layer: str | None = None) -> Any:
    """Return X or a layer of an AnnData; a backed matrix is read into memory."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"layer is {layer!r}, but the AnnData has {list(adata.layers.keys())}; choose one of these.")
    matrix = adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise ValueError("the AnnData has no X; choose a layer.")
    if hasattr(matrix, "to_memory"):  # sparse, on disk
        matrix = matrix.to_memory()
    return matrix if sparse.issparse(matrix) else np.asarray(matrix[:])


def obsp_graph(adata: Any, key: str) -> Any:
    """Return the graph that an AnnData stores under this key."""
    if key not in adata.obsp:
        keys = list(adata.obsp.keys())
        raise ValueError(
            f"the AnnData has no graph obsp[{key!r}]; "
            + (f"choose one of {keys}." if keys else "build one first: scanpy.pp.neighbors(adata).")
        )
    return adata.obsp[key]
