"""Edge tables: their source, target and weight columns, and the adjacency matrix that they describe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.rows.matrices import canonical_csr, check_kind
from blockselect.utils.arrays import FloatArray, ObjectArray, Sparse
from blockselect.utils.parameters import is_number

ENDS = ("source", "target")
WEIGHT = "weight"


def edge_matrix(
    edges: pd.DataFrame, n_nodes: int, node_ids: ObjectArray | None = None, *, weight: Any = None
) -> Sparse:
    """Build the adjacency matrix (n, n) of an edge table; repeated edges are summed if weighted, else counted once.

    Parameters
    ----------
    edges : DataFrame
        Source and target are the columns with these names, or else the first two; other columns describe the edges.
    n_nodes : int
        Number of rows and columns of the result.
    node_ids : array of shape (n,), optional
        The names of the nodes in the table; None if nodes are numbered 0 … n − 1.
    weight : column, False or None
        See :func:`blockselect.as_adjacency`.
    """
    source, target, weights = edge_columns(edges, weight=weight)
    for column in (source, target):
        _refuse_rounded(column)
    if source.dtype != target.dtype:  # pandas would join int64 and uint64 as float64, which rounds large ids
        source, target = source.astype(object), target.astype(object)
    nodes = pd.concat([source, target], ignore_index=True)
    ends = _positions(nodes, n_nodes, node_ids).reshape(2, len(edges))
    values = np.ones(len(edges), dtype=bool) if weights is None else _edge_weights(source, target, weights)
    return canonical_csr(sparse.coo_array((values, (ends[0], ends[1])), shape=(n_nodes, n_nodes)), "adjacency")


def edge_columns(
    edges: pd.DataFrame, *, weight: Any = None
) -> tuple[pd.Series[Any], pd.Series[Any], pd.Series[Any] | None]:
    """Find the source, target and weight columns; a numeric column with another name is an error unless chosen."""
    names = [str(name).strip().lower() for name in edges.columns]
    ends = [names.index(end) for end in ENDS if names.count(end) == 1]
    if len(ends) < 2:
        if len(names) not in (2, 3) or WEIGHT in names[:2]:
            raise ValueError(
                f"an edge table needs the columns source, target and optionally weight; this one has {len(names)} "
                f"columns: {edges.columns[:6].tolist()}. Rename them. (A DataFrame is read as a matrix only if its "
                "index and its columns name the same nodes.)"
            )
        ends = [0, 1]
    at = _weight_column(edges, names, ends, weight)
    return edges.iloc[:, ends[0]], edges.iloc[:, ends[1]], None if at is None else edges.iloc[:, at]


def _weight_column(edges: pd.DataFrame, names: list[str], ends: list[int], weight: Any) -> int | None:
    """Return the position of the weight column, or None if links have no weights."""
    others = [at for at in range(len(names)) if at not in ends]
    if weight is False:
        return None
    is_weight = [names[at] == WEIGHT if weight is None else edges.columns[at] == weight for at in others]
    chosen = [at for at, is_one in zip(others, is_weight, strict=True) if is_one]
    if len(chosen) > 1 or (weight is not None and not chosen):
        name = WEIGHT if weight is None else weight
        raise ValueError(
            f"weight is {name!r}, but {len(chosen)} of the other edge columns have this name; choose "
            f"one of {[edges.columns[at] for at in others]}, or weight=False to give all links the same weight."
        )
    if chosen:
        return chosen[0]
    doubtful = [at for at in others if _may_be_weights(edges.iloc[:, at])]
    if doubtful:
        column = edges.columns[doubtful[0]]
        raise ValueError(
            f"edge column {column!r} contains numbers but is not called weight; rename it to weight if it is the "
            f"weight of the links, drop it if not, or choose: as_adjacency(edges, weight={column!r}) uses it, "
            "weight=False leaves it out."
        )
    return None


def _may_be_weights(column: pd.Series[Any]) -> bool:
    """Whether a column contains numbers, possibly as text, because files are read as text."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return not pd.api.types.is_bool_dtype(column.dtype)
    cells = column.dropna().tolist()
    return bool(cells) and all(map(is_number, cells))


def _edge_weights(source: pd.Series[Any], target: pd.Series[Any], weight: pd.Series[Any]) -> FloatArray:
    """Convert weights to numbers and check every edge: a sum over repeated edges could hide a negative weight."""
    check_kind(weight.dtype, f"edge column {weight.name!r}")
    if pd.api.types.is_numeric_dtype(weight.dtype):
        numbers = weight.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = np.array([float(cell) if is_number(cell) else np.nan for cell in weight.tolist()])
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        start, end, cell = (column.tolist()[wrong[0]] for column in (source, target, weight))
        raise ValueError(
            f"{wrong.size} edge(s) have a weight that is not a finite number ≥ 0, first the edge from {start!r} "
            f"to {end!r}, whose {weight.name!r} is {cell!r}; correct these weights, or drop these edges or the "
            "column."
        )
    return numbers


def _refuse_rounded(nodes: pd.Series[Any]) -> None:
    """Raise an error if ids are floating-point numbers so large that they may have been rounded."""
    if nodes.dtype.kind != "f":
        return
    ids = nodes.to_numpy(dtype=np.float64, na_value=np.nan)
    exact_below = 2.0 ** (np.finfo(getattr(nodes.dtype, "numpy_dtype", nodes.dtype)).nmant + 1)
    if (np.abs(ids) >= exact_below).any():
        raise ValueError(
            f"edge column {nodes.name!r} is {nodes.dtype} and contains ids such as {np.nanmax(np.abs(ids)):.0f}; above "
            f"{exact_below:.0f} this type rounds whole numbers, so an id may name the wrong node: read the ids as "
            "integers or as text, for example with pandas.read_csv(path, dtype=str)."
        )


def _positions(nodes: pd.Series[Any], n_nodes: int, node_ids: ObjectArray | None) -> NDArray[np.intp]:
    """Return the row numbers of all sources, followed by those of all targets."""
    if nodes.hasnans:
        side, at = divmod(int(np.flatnonzero(nodes.isna())[0]), len(nodes) // 2)
        raise ValueError(f"edge {at}, counted from 0, has no {ENDS[side]}; fill it in or drop the edge.")
    known = pd.RangeIndex(n_nodes) if node_ids is None else pd.Index(node_ids, tupleize_cols=False)
    rows = known.get_indexer(pd.Index(nodes, tupleize_cols=False))
    if (rows < 0).any():
        unknown = nodes[rows < 0].drop_duplicates().tolist()
        expected = f"row numbers 0 to {n_nodes - 1}" if node_ids is None else f"ids such as {[*node_ids[:3]]}"
        raise ValueError(
            f"{len(unknown)} node(s) of the edge table have no row in features, for example {unknown[:3]}; "
            f"expected {expected}. Add their rows, drop these edges, or make both use the same ids (1 and "
            "'1' differ)."
        )
    return rows


def object_array(values: Any) -> ObjectArray:
    """An object array in which tuples stay single entries."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
