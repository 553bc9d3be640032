"""Conversion of matrices and tables to float matrices, dense or CSR."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.extras import comes_from, needed
from blockselect.utils.parameters import is_number

FEW_NON_ZERO = 0.05  # share of non-zeros below which distances between CSR rows take at most half as long as dense ones


def as_float_matrix(matrix: Any, name: str, *, min_rows: int = 0, min_columns: int = 0) -> Features:
    """Convert to a float matrix that shares no memory with the input: a C-ordered array or canonical CSR.

    Parameters
    ----------
    matrix : array, list, sparse matrix or pandas DataFrame
        float32 is kept; all other types become float64. Values that NumPy would silently convert are rejected.
    name : str
        Name of the matrix in error messages.
    min_rows, min_columns : int
        Minimum numbers of rows and columns.
    """
    if isinstance(matrix, pd.DataFrame):
        _check_columns(matrix, name)
        matrix = _frame_values(matrix)
    matrix = canonical_csr(matrix, name) if sparse.issparse(matrix) else _checked_array(matrix, name)
    with np.errstate(over="ignore"):  # values that are too large become infinite, which a later check reports
        return check_array(
            matrix,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            order="C",
            copy=not sparse.issparse(matrix),
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
            ensure_min_features=min_columns,
            input_name=name,
        )


def _frame_values(frame: pd.DataFrame) -> Any:
    """The values of a frame: COO if all columns are sparse with the fill value 0, otherwise an array."""
    accessor: Any = getattr(frame, "sparse", None)  # exists only if all columns are sparse
    if accessor is not None:
        leaves_out_zeros = all(kind.fill_value == 0 for kind in frame.dtypes)
        return accessor.to_coo() if leaves_out_zeros else accessor.to_dense().to_numpy()
    kinds = list(frame.dtypes)
    if all(map(pd.api.types.is_numeric_dtype, kinds)) and not all(isinstance(kind, np.dtype) for kind in kinds):
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)  # nullable types contain pd.NA
    return frame.to_numpy()


def canonical_csr(matrix: Any, name: str) -> Sparse:
    """A CSR copy with sorted indices, without duplicates or stored zeros, and with 32-bit indices if they suffice."""
    _check_dimensions(matrix, name)
    check_kind(matrix.dtype, name)
    if matrix.format in ("csr", "csc", "bsr"):
        # Check a new container around the same arrays, because the check may trim the container.
        matrix = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        try:
            matrix.check_format(full_check=True)
            if (np.diff(matrix.indptr) < 0).any():  # SciPy does not check this in a matrix without entries
                raise ValueError("its index pointers decrease")
        except ValueError as error:
            raise ValueError(f"{name} is not a valid sparse matrix ({error}); rebuild it.") from error
    # Convert to float before duplicates are summed, because small integer types would overflow.
    csr = sparse.csr_array(matrix.astype(np.float32 if matrix.dtype == np.float32 else np.float64))
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if matrix.dtype == bool:
        csr.data[:] = 1.0
    index = np.int32 if max(csr.nnz, *csr.shape) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array(
        (csr.data, csr.indices.astype(index, copy=False), csr.indptr.astype(index, copy=False)),
        shape=csr.shape,
    )


def _checked_array(matrix: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asanyarray(matrix)  # keeps a mask
    except ValueError as error:
        raise ValueError(f"{name} is not a matrix ({error}); give every row the same number of entries.") from error
    refuse_mask(array, name)
    _check_dimensions(array, name)
    if array.dtype.kind in "OUS":
        _check_objects(array, name, lambda at: f"row {at[0]}, column {at[1]}")
    check_kind(array.dtype, name)
    return np.asarray(array)


def _check_dimensions(matrix: Any, name: str) -> None:
    if matrix.ndim != 2:
        advice = " Reshape your data if it is a single column: np.reshape(data, (-1, 1))." if matrix.ndim == 1 else ""
        raise ValueError(
            f"{name} has {matrix.ndim} dimension(s), shape {matrix.shape}; expected a matrix with one row per node and "
            f"one column per feature.{advice}"
        )


def check_kind(dtype: Any, name: str) -> None:
    """Raise an error for types other than real numbers, even if NumPy would convert them."""
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {dtype}; pass real numbers.")
    if dtype.kind not in "biufO":
        raise ValueError(f"{name} is of type {dtype}; encode it as numbers first.")


def refuse_mask(array: NDArray[Any], name: str) -> None:
    """Raise an error if values are masked, because no number could replace them."""
    if np.ma.is_masked(array):
        hidden = np.argwhere(np.ma.getmaskarray(array))
        where = ", ".join(f"{axis} {at}" for axis, at in zip(("row", "column"), hidden[0].tolist(), strict=False))
        raise ValueError(
            f"{name} has {len(hidden)} masked value(s), first at {where}; put numbers in their place "
            "(array.filled(0)) or drop these rows or columns."
        )


def _check_columns(frame: pd.DataFrame, name: str) -> None:
    """Raise an error that names the first column or cell that is not numeric."""
    for position, (column, kind) in enumerate(frame.dtypes.items()):
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            cells = frame.iloc[:, position].to_numpy(dtype=object)
            texts = {cell for cell in cells if isinstance(cell, str) and not is_number(cell)}
            if len(texts) == len(cells) > 1:
                raise ValueError(
                    f"column {column!r} of {name} has a different text in each row, first {cells[0]!r}; if it names "
                    f"the nodes, make it the index of a pandas DataFrame: frame.set_index({column!r}); if not, drop it."
                )
            _check_objects(cells, name, partial(_place_in_column, frame.index, column))
        elif not pd.api.types.is_numeric_dtype(kind) or getattr(kind, "kind", "f") == "c":
            raise ValueError(
                f"column {column!r} of {name} is of type {kind}, which is not numeric; encode it as "
                "numbers, or drop the column."
            )


def _place_in_column(index: pd.Index[Any], column: Any, at: tuple[int, ...]) -> str:
    return f"row {index.tolist()[at[0]]!r}, column {column!r}"


def _check_objects(cells: NDArray[Any], name: str, place: Callable[[tuple[int, ...]], str]) -> None:
    """Raise an error that names the first cell that is not a number; None (missing) is left to a later check."""
    for at, cell in np.ndenumerate(cells):
        if cell is None or is_number(cell):
            continue
        cell = cell.item() if isinstance(cell, np.generic) else cell
        problem = f"{name} contains {cell!r} at {place(at)}, which is not a float64 number; encode it as a number first"
        if isinstance(cell, str | bytes | int):
            raise ValueError(f"{problem}.")
        # Scikit-learn's estimator checks expect a TypeError with these words for other objects.
        raise TypeError(f"{problem}: the argument must be a string or a real number.")


def as_dense(matrix: Any) -> FloatArray:
    """Convert a dense or sparse matrix to a NumPy array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def as_plain_csr(features: Features) -> Sparse:
    """A canonical CSR copy in double precision, the same for equal features however they are stored."""
    rows = sparse.csr_array(features, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def without_zeros(matrix: Any, *, own_values: bool = False) -> Sparse:
    """CSR in double precision without stored zeros; memory is shared if possible, except for values if `own_values`."""
    rows = sparse.csr_array(matrix)
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return sparse.csr_array((rows.data.astype(np.float64, copy=own_values), rows.indices, rows.indptr), rows.shape)


def by_density(rows: Sparse) -> Features:
    """CSR if few entries are non-zero, otherwise dense, so that equal features are stored in the same way."""
    return rows if rows.nnz < FEW_NON_ZERO * rows.shape[0] * rows.shape[1] else rows.toarray()


def membership_matrix(labels: IntArray, n_blocks: int | None = None, dtype: Any = np.float64) -> Sparse:
    """Labels 0 … k − 1 as a one-hot matrix (n, k) (paper: F); by default, the largest label is k − 1."""
    n, k = len(labels), int(labels.max()) + 1 if n_blocks is None else n_blocks
    return sparse.csr_array((np.ones(n, dtype=dtype), labels, np.arange(n + 1)), shape=(n, k))


def is_frame(table: Any) -> bool:
    """Whether an object is a table from a library other than pandas."""
    is_table = type(table).__name__ in ("DataFrame", "LazyFrame", "Table")
    return is_table and comes_from(table, "polars", "pyarrow", "modin", "cudf")


def as_pandas(frame: Any, name: str) -> pd.DataFrame:
    """Convert a table to pandas; missing numbers become NaN, which a later check reports."""
    table = needed("narwhals", f"{name} of type {type(frame).__name__}").from_native(frame).lazy().collect()
    return pd.DataFrame({column: table[column].to_numpy() for column in table.columns})


def is_tensor(value: Any) -> bool:
    return comes_from(value, "torch") and hasattr(value, "detach")


def as_array(tensor: Any) -> Any:
    """Convert a tensor on any device to an array; a sparse tensor becomes COO."""
    if not is_tensor(tensor):
        return np.asarray(tensor)
    plain = tensor.detach().cpu()
    if str(plain.layout) == "torch.strided":
        return plain.numpy()
    entries = plain.to_sparse_coo().coalesce()
    return sparse.coo_array((entries.values().numpy(), tuple(entries.indices().numpy())), shape=tuple(plain.shape))


def counts_rows(index: pd.Index[Any]) -> bool:
    """Whether an index is 0, 1, …, the default of pandas."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def may_be_ids(column: pd.Series[Any]) -> bool:
    """Whether a first column may contain ids: it is called id, or contains text or distinct whole numbers."""
    if _is_called_id(column.name) or not _is_numeric(column):
        return True
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.dtype.kind != "b" and column.is_unique and bool((numbers % 1 == 0).all())


def _is_called_id(name: Any) -> bool:
    return str(name).strip().lower() == "id"


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column contains numbers, possibly as categories."""
    dtype = column.dtype
    return pd.api.types.is_numeric_dtype(dtype.categories if isinstance(dtype, pd.CategoricalDtype) else dtype)
