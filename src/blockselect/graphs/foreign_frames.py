"""Tables and tensors of other libraries: polars and Arrow by narwhals, AnnData, torch. None is imported before use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.extras import comes_from, needed

_LIBRARIES = ("polars", "pyarrow", "modin", "cudf")
_TABLES = ("DataFrame", "LazyFrame", "Table")


def is_frame(thing: Any) -> bool:
    """Whether it is a table of another library than pandas."""
    return comes_from(thing, *_LIBRARIES) and type(thing).__name__ in _TABLES


def as_pandas(frame: Any, name: str) -> pd.DataFrame:
    """The same table in pandas, each column by NumPy; missing numbers become NaN, which a later check names."""
    narwhals = needed("narwhals", f"{name} of type {type(frame).__name__}")
    table = narwhals.from_native(frame)
    if hasattr(table, "collect"):  # a lazy one
        table = table.collect()
    return pd.DataFrame({column: table[column].to_numpy() for column in table.columns})


def is_tensor(thing: Any) -> bool:
    return comes_from(thing, "torch") and hasattr(thing, "detach")


def as_array(tensor: Any) -> Any:
    """The array of a tensor, be it on a GPU; a sparse one becomes COO."""
    if not is_tensor(tensor):
        return np.asarray(tensor)
    plain = tensor.detach().cpu()
    try:
        if str(plain.layout) == "torch.strided":
            return plain.numpy()
        entries = plain.to_sparse_coo().coalesce()
        return sparse.coo_array((entries.values().numpy(), tuple(entries.indices().numpy())), shape=tuple(plain.shape))
    except TypeError as error:
        raise ValueError(
            f"a tensor is of type {plain.dtype}, which NumPy does not have; convert it first: tensor.float()."
        ) from error


def is_anndata(thing: Any) -> bool:
    """By what it has: AnnData and its look-alikes."""
    return all(hasattr(thing, name) for name in ("X", "obs_names", "var_names", "obsp"))


def anndata_matrix(adata: Any, layer: str | None = None) -> Any:
    """X or a layer of an AnnData, in memory; a backed one is read."""
    if layer is not None and layer not in adata.layers:
        raise ValueError(f"layer is {layer!r}, but the AnnData has the layers {list(adata.layers.keys())}.")
    matrix = adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise ValueError("the AnnData has no X; choose a layer.")
    if hasattr(matrix, "to_memory"):  # sparse, on disk
        matrix = matrix.to_memory()
    return matrix if sparse.issparse(matrix) else np.asarray(matrix[:])
