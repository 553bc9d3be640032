"""Features as users have them: arrays, sparse matrices, data frames, AnnData and torch tensors, as one float matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.extras import comes_from, needed
from blockselect.parameters import is_number

FEW_NON_ZERO = 0.05  # share of non-zero features below which sparse products are quicker than dense ones

_LIBRARIES = ("polars", "pyarrow", "modin", "cudf")
_TABLES = ("DataFrame", "LazyFrame", "Table")

_PLAIN = (bool, float, np.bool_, np.integer, np.floating)  # int may be too large for float64


def as_float_matrix(matrix: Any, name: str) -> Features:
    """A float matrix of its own, dense or CSR: float32 stays, other numbers become float64."""
    if isinstance(matrix, pd.DataFrame):
        check_cells(matrix, name)
        matrix = _frame_values(matrix)
    if sparse.issparse(matrix):
        return canonical_csr(matrix, name)
    try:
        array = np.asanyarray(matrix)  # keeps a mask, which is refused
    except ValueError as error:
        raise ValueError(f"{name} is no matrix ({error}); give every row as many entries.") from error
    if array.ndim != 2:
        raise ValueError(
            f"{name} is of type {type(matrix).__name__} and has {array.ndim} dimension(s); expected a matrix "
            "with one row a node."
        )
    check_cells(array, name)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which a later check names
        return np.array(array, dtype=_float_type(array.dtype), order="C")


def as_dense(matrix: Any) -> FloatArray:
    """A NumPy array of a dense or sparse matrix."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def as_plain_csr(features: Features) -> Sparse:
    """A copy in double precision, columns in order, no zeros: the same for equal features of any storage or type."""
    rows = sparse.csr_array(features, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def by_density(rows: Sparse) -> Features:
    """CSR where few entries are non-zero, else dense: whichever is quicker, and the same for equal features."""
    return rows if rows.nnz < FEW_NON_ZERO * rows.shape[0] * rows.shape[1] else rows.toarray()


def _frame_values(frame: pd.DataFrame) -> Any:
    kinds = list(frame.dtypes)
    if kinds and all(isinstance(kind, pd.SparseDtype) and kind.fill_value == 0 for kind in kinds):
        accessor: Any = frame.sparse
        return accessor.to_coo()
    if all(map(pd.api.types.is_numeric_dtype, kinds)) and not all(isinstance(k, np.dtype) for k in kinds):
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)  # nullable: else pd.NA among objects
    return frame.to_numpy()


def canonical_csr(matrix: Any, name: str) -> Sparse:
    """CSR of its own: sorted, each entry once, no stored zero, 32-bit indices where they suffice."""
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimension(s); expected a matrix with one row a node.")
    if matrix.dtype.kind not in "biuf":
        check_kind(matrix.dtype, name)
    if matrix.format in ("csr", "csc", "bsr"):
        # A new container around the same arrays, as the check may trim the one it is asked of.
        matrix = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name} is a broken sparse matrix ({error}); build it again.") from error
    # As float before anything is added up: small integers would overflow.
    csr = sparse.csr_array(matrix.astype(_float_type(matrix.dtype)))
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if matrix.dtype == bool:
        csr.data[:] = 1.0
    index = np.int32 if max(csr.nnz, *csr.shape) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array(
        (csr.data, csr.indices.astype(index, copy=False), csr.indptr.astype(index, copy=False)),
        shape=csr.shape,
    )


def _float_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype == np.float32 else np.float64


def membership_matrix(labels: IntArray, dtype: Any = np.float64) -> Sparse:
    """Labels 0 … k − 1 as a one-hot matrix (n, k) (paper: F)."""
    n = len(labels)
    return sparse.csr_array((np.ones(n, dtype=dtype), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features as they came in, still unchecked."""

    matrix: Features  # (n, m): array, sparse matrix, list or DataFrame of pandas
    node_ids: Iterable[Any] | None = None  # (n,)
    feature_names: Iterable[Any] | None = None  # (m,)


def as_feature_table(features: Any, *, layer: str | None = None) -> FeatureTable:
    """Bring features into a form that NumPy, SciPy or pandas hold.

    Parameters
    ----------
    features : array, sparse matrix, DataFrame of pandas or polars, Arrow table, AnnData or torch tensor
        A graph in its place is refused.
    layer : str, optional
        Of an AnnData, instead of X.
    """
    if isinstance(features, pd.DataFrame):
        return FeatureTable(features, features.index, features.columns)
    if is_anndata(features):
        return FeatureTable(anndata_matrix(features, layer), list(features.obs_names), list(features.var_names))
    if is_frame(features):
        frame = as_pandas(features, "features")
        return FeatureTable(frame, None, frame.columns)
    if is_tensor(features):
        return FeatureTable(as_array(features))
    if comes_from(features, "networkx", "igraph", "torch_geometric"):
        raise ValueError(
            f"features is of type {type(features).__name__}, a graph; pass the features first and the graph by name: "
            "fit(features, adjacency=graph)."
        )
    if np.ndim(_plain(features)) == 0:
        raise ValueError(
            f"features is of type {type(features).__name__}, which is no matrix; pass one row a node: an array, a "
            f"sparse matrix or a DataFrame{_way_to_a_matrix(features)}."
        )
    return FeatureTable(features)


def feature_matrix(features: Any) -> Features:
    """Features of any kind that selectors take; arrays and CSR matrices of numbers stay as they are."""
    is_plain = isinstance(features, np.ndarray) and not np.ma.isMaskedArray(features)
    is_csr = sparse.issparse(features) and features.format == "csr"
    if (is_plain or is_csr) and features.ndim == 2 and features.dtype.kind in "fiub":
        return features
    return as_float_matrix(features if is_csr else as_feature_table(features).matrix, "features")


def _plain(features: Any) -> Any:
    """What has dimensions; a ragged list has some, which a later check names."""
    if isinstance(features, list | tuple):
        return [0]
    return features if hasattr(features, "ndim") else np.asarray(features)


def _way_to_a_matrix(features: Any) -> str:
    if isinstance(features, str | PathLike):
        return ", of a file blockselect.graphs.read_features(path).matrix"
    if hasattr(features, "features") and hasattr(features, "adjacency"):
        return ": fit(graph.features, adjacency=graph.adjacency)"
    return ", of a dict pandas.DataFrame(features)" if isinstance(features, Mapping) else ""


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


def check_cells(matrix: Any, name: str) -> None:
    """Refuse what NumPy would make a number without a word, and name the first cell that is none.

    Parameters
    ----------
    matrix : DataFrame or array
        Of any type; sparse matrices hold numbers alone.
    name : str
        What it is called in an error.
    """
    if isinstance(matrix, pd.DataFrame):
        _check_columns(matrix, name)
    elif isinstance(matrix, np.ndarray):
        refuse_mask(matrix, name)
        if matrix.dtype.kind in "OUS":
            _check_objects(matrix, name)
        check_kind(matrix.dtype, name)


def refuse_mask(array: NDArray[Any], name: str) -> None:
    """Masked values have no number that could be used in their place."""
    if np.ma.is_masked(array):
        hidden = np.argwhere(np.ma.getmaskarray(array))
        where = ", ".join(f"{axis} {at}" for axis, at in zip(("row", "column"), hidden[0].tolist(), strict=False))
        raise ValueError(
            f"{name} has {len(hidden)} masked value(s), first at {where}; put numbers in their place "
            "(array.filled(0)) or drop these rows or columns."
        )


def check_kind(dtype: Any, name: str) -> None:
    """Refuse types that hold no real numbers."""
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {dtype}; pass real numbers.")
    if dtype.kind not in "biufO":
        raise ValueError(f"{name} is of type {dtype}; encode it as numbers first.")


def _check_columns(frame: pd.DataFrame, name: str) -> None:
    for position, kind in enumerate(frame.dtypes):
        if pd.api.types.is_numeric_dtype(kind) and getattr(kind, "kind", "f") != "c":
            continue
        column = frame.columns[position]
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            cells = frame.iloc[:, position].to_numpy(dtype=object)
            at = _first_no_number(cells)
            if at is not None:
                _refuse_cell(cells[at], f"row {frame.index.tolist()[at[0]]!r}, column {column!r}", name)
        elif getattr(kind, "kind", "") == "c":
            raise ValueError(f"Complex data not supported: column {column!r} of {name} is {kind}; pass real numbers.")
        else:
            raise ValueError(
                f"column {column!r} of {name} is of type {kind}, which holds no numbers; encode it as numbers, or drop "
                "the column."
            )


def _check_objects(array: NDArray[Any], name: str) -> None:
    at = _first_no_number(array)
    if at is not None:
        where = ", ".join(f"{axis} {place}" for axis, place in zip(("row", "column"), at, strict=False))
        _refuse_cell(array[at], where, name)


def _first_no_number(array: NDArray[Any]) -> tuple[int, ...] | None:
    """Where the first cell stands that is no number; None stands for a missing one, which a later check names."""
    doubtful = {kind for kind in set(map(type, array.flat)) if not issubclass(kind, (*_PLAIN, type(None)))}
    if not doubtful:
        return None
    cells = np.ndenumerate(array)
    return next((at for at, cell in cells if type(cell) in doubtful and not is_number(cell)), None)


def _refuse_cell(cell: Any, where: str, name: str) -> None:
    cell = cell.item() if isinstance(cell, np.generic) else cell
    problem = f"{name} holds {cell!r} at {where}, which is not a float64 number; encode it as a number first"
    if isinstance(cell, str | bytes | int):
        raise ValueError(f"{problem}.")
    # What is neither text nor a number is a TypeError in these words: scikit-learn's contract.
    raise TypeError(f"{problem}: the argument must be a string or a real number.")
