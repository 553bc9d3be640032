"""RowChunks: features as chunks of rows, read one at a time by this process or by a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import ObjectArray, Sparse
from blockselect.errors import ParameterError
from blockselect.extras import needed
from blockselect.graphs.checks import check_range, check_values, first_entry, largest_value
from blockselect.graphs.features import as_float_matrix
from blockselect.graphs.node_labels import check_names
from blockselect.parameters import check_whole

_CHUNK_BYTES = 2**26  # of a chunk held densely in float64, where we choose its rows
Path: TypeAlias = str | PathLike[str]
Part: TypeAlias = Callable[..., Any]  # (block, rows, *shared) → array or sparse array


@dataclass(frozen=True, slots=True)
class Survey:
    """Results of the first pass over the chunks."""

    n_features: int
    n_rows: tuple[int, ...]  # of each chunk
    largest: tuple[float, ...]  # value of each chunk
    node_ids: pd.Index[Any] | None = None  # of all rows, if the chunks are DataFrames that name them


class RowChunks:
    """Features larger than memory: a re-iterable of CSR blocks of rows, each checked as it is read.

    Make one with a `from_` method. A fit passes over the chunks a few times: once to check and count, and once for
    each sum over rows that it needs.

    Parameters
    ----------
    blocks : callable
        Called without arguments for each pass; returns the same blocks in the same order every time.
    feature_names : iterable, optional
        Names of the columns.
    node_ids : iterable, optional
        Names of all rows. By default chunks that are DataFrames name the rows by their index, unless the index only
        counts 0, 1, … in each chunk.

    Examples
    --------
    >>> import numpy as np
    >>> chunks = RowChunks.from_blocks([np.eye(3), np.ones((2, 3))])
    >>> chunks.shape, [block.nnz for block in chunks]
    ((5, 3), [3, 6])
    """

    def __init__(
        self,
        blocks: Callable[[], Iterable[Any]],
        *,
        feature_names: Iterable[Any] | None = None,
        node_ids: Iterable[Any] | None = None,
    ) -> None:
        self._blocks = blocks
        self._ids = node_ids
        self._names = None if feature_names is None else list(feature_names)
        self._survey: Survey | None = None

    @classmethod
    def from_blocks(
        cls, blocks: Callable[[], Iterable[Any]] | Iterable[Any], *, feature_names: Iterable[Any] | None = None
    ) -> RowChunks:
        """From dense or sparse blocks of rows: a list, or a function that returns a new iterator at each call."""
        if isinstance(blocks, Iterator):
            raise ValueError(
                f"blocks is of type {type(blocks).__name__}, an iterator that can be read only once, but a fit reads "
                "the chunks several times; pass the function that makes it: RowChunks.from_blocks(make_blocks)."
            )
        if sparse.issparse(blocks) or isinstance(blocks, np.ndarray):
            raise ValueError("blocks is one matrix; pass a list of blocks of rows, or the matrix itself to fit.")
        return cls(blocks if callable(blocks) else partial(iter, blocks), feature_names=feature_names)

    @classmethod
    def from_npy(cls, path: Path, *, rows_per_chunk: int | None = None) -> RowChunks:
        """From a matrix in a ``.npy`` file, which is memory-mapped. By default a chunk takes 64 MiB."""
        check_rows_per_chunk(rows_per_chunk)
        try:
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{path} could not be read as .npy ({error}); save it with numpy.save.") from error
        if not isinstance(matrix, np.ndarray) or matrix.ndim != 2:
            raise ValueError(f"{path} does not hold a matrix; save one with np.save, with one row per node.")
        return cls(partial(_slices, matrix, matrix.shape, rows_per_chunk))

    @classmethod
    def from_parquet(cls, path: Path) -> RowChunks:
        """From a Parquet file, one chunk per row group; columns name the features, and the index of pandas the nodes.

        Needs pyarrow.
        """
        parquet = needed("pyarrow.parquet", "Parquet")
        columns = parquet.read_schema(path).empty_table().to_pandas().columns  # without columns that hold an index
        index = parquet.read_pandas(path, columns=[]).to_pandas().index
        return cls(partial(_row_groups, path), feature_names=columns, node_ids=None if _counts(index) else index)

    @classmethod
    def from_anndata(cls, adata: Any, *, rows_per_chunk: int | None = None) -> RowChunks:
        """From the matrix X of an AnnData, in memory or backed, or of an ``.h5ad`` file given by its path."""
        check_rows_per_chunk(rows_per_chunk)
        if isinstance(adata, str | PathLike):
            adata = needed("anndata", "an .h5ad file").read_h5ad(adata, backed="r")
        if not hasattr(adata, "X") or not hasattr(adata, "var_names"):
            raise ParameterError("adata", f"is of type {type(adata).__name__}; expected an AnnData, or an .h5ad file.")
        return cls(
            partial(_slices, adata.X, adata.shape, rows_per_chunk),
            feature_names=adata.var_names,
            node_ids=getattr(adata, "obs_names", None),
        )

    @classmethod
    def from_delayed(cls, delayed: Iterable[Any], n_features: int) -> RowChunks:
        """From `dask.delayed` blocks of rows, which a Dask cluster loads and adds up where they are."""

        return DelayedChunks(delayed, n_features)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns; the first call reads all chunks once."""
        survey = self.survey()
        return sum(survey.n_rows), survey.n_features

    @property
    def feature_names(self) -> ObjectArray | None:
        return check_names(self._names, self.shape[1], "feature name", "column")

    @property
    def node_ids(self) -> ObjectArray | None:
        ids = self.survey().node_ids if self._ids is None else self._ids
        return check_names(ids, self.shape[0], "node id", "row")

    def __iter__(self) -> Iterator[Sparse]:
        return (block for _, block in self._read())

    def _read(self) -> Iterator[tuple[Any, Sparse]]:
        """Each chunk as it was given, and after the checks."""
        width, n_seen, columns = None, 0, None
        for number, raw in enumerate(self._blocks()):
            columns = _same_columns(raw, number, columns)
            block = checked_block(raw, number, width)
            width, n_seen = block.shape[1], number + 1
            if self._survey is not None:
                _check_same(self._survey, number, block.shape[0])
            yield raw, block
        if self._survey is not None:
            _check_same(self._survey, n_seen, None)

    def sum(self, part: Part, *shared: Any) -> Any:
        """The sum over all chunks of ``part(block, rows, *shared)``, where `rows` is the slice of rows in the block."""
        total, first = None, 0
        for block in self:
            rows = slice(first, first + block.shape[0])
            one = part(block, rows, *shared)
            total, first = one if total is None else added(total, one), rows.stop
        return total

    def survey(self) -> Survey:
        """Number of rows and largest value of each chunk; the first call reads all chunks."""
        if self._survey is None:
            self._survey = self._first_pass()
        return self._survey

    def check(self, dtype: np.dtype[Any]) -> None:
        """Raise an error if all values are zero, or if the largest is outside the range of the solver."""
        survey = self.survey()
        largest = max(survey.largest)
        check_range(largest, self.shape[0], dtype, lambda: f"chunk {survey.largest.index(largest)}")

    def _first_pass(self) -> Survey:
        found = [
            (block.shape[1], block.shape[0], largest_value(block), raw.index if isinstance(raw, pd.DataFrame) else None)
            for raw, block in self._read()
        ]
        if not found:
            raise ValueError("there is no chunk of rows; pass at least one, and a function that makes a new iterator.")
        widths, n_rows, largest, indexes = zip(*found, strict=True)
        return Survey(widths[0], n_rows, largest, _joined(indexes))


def check_rows_per_chunk(rows_per_chunk: Any) -> None:
    """Check that it is None or a positive whole number."""
    if rows_per_chunk is not None:
        check_whole("rows_per_chunk", rows_per_chunk, 1)


def checked_block(raw: Any, number: int, n_features: int | None) -> Sparse:
    """Check one chunk and convert it to CSR; errors name the chunk."""
    block = sparse.csr_array(as_float_matrix(raw, f"chunk {number} of features"))
    if n_features is not None and block.shape[1] != n_features:
        raise ValueError(
            f"chunk {number} of features has {block.shape[1]} columns but expected are {n_features}; give every chunk "
            "the same features."
        )

    def place(offends: Callable[[Any], Any]) -> str:
        row, column = first_entry(block, offends)
        return f"chunk {number}, row {row} of it, column {column}"

    check_values(block, place)
    return block


def _same_columns(raw: Any, number: int, columns: Any) -> Any:
    """The column names of the chunks so far; a chunk with other names is an error."""
    if not isinstance(raw, pd.DataFrame):
        return columns
    if columns is not None and not raw.columns.equals(columns):
        raise ValueError(
            f"chunk {number} of features has other column names than the chunks before it, or another order; "
            "give every chunk the same columns: chunk[columns]."
        )
    return raw.columns


def _joined(indexes: Sequence[pd.Index[Any] | None]) -> pd.Index[Any] | None:
    """The ids of all rows, if every chunk has ids."""
    given = [index for index in indexes if index is not None]
    if len(given) < len(indexes) or all(map(_counts, given)):
        return None
    return given[0].append(given[1:])


def _counts(index: pd.Index[Any]) -> bool:
    """Whether an index only counts 0, 1, …, as it does by default."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def added(total: Any, one: Any) -> Any:
    """The sum of two parts; a dense total is changed in place."""
    if isinstance(total, np.ndarray):
        total += one
        return total
    return total + one


def _check_same(survey: Survey, number: int, n_rows: int | None) -> None:
    """Raise an error if a chunk differs from the first pass; `n_rows` is None after the last chunk."""
    known = survey.n_rows[number] if number < len(survey.n_rows) else None
    if n_rows != known:
        before, now = ("none" if n is None else f"{n} rows" for n in (known, n_rows))
        raise ValueError(
            f"chunk {number} of features had {before} in the first pass and has {now} now; give the same chunks in "
            "each pass, by a function that makes a new iterator at every call."
        )


def _slices(matrix: Any, shape: tuple[int, int], rows_per_chunk: int | None) -> Iterator[Any]:
    step = rows_per_chunk or max(1, _CHUNK_BYTES // (8 * max(shape[1], 1)))
    for start in range(0, shape[0], step):
        yield matrix[start : start + step]


def _row_groups(path: Path) -> Iterator[Any]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number).to_pandas()


class DelayedChunks(RowChunks):
    """See `RowChunks.from_delayed`."""

    def __init__(self, delayed: Iterable[Any], n_features: int) -> None:
        try:
            from dask.base import is_dask_collection
        except ImportError as error:
            raise ImportError(
                "delayed row chunks need Dask; install it with: pip install 'blockselect[dask]'"
            ) from error
        self._delayed = list(delayed)
        self._n_features = int(n_features)
        for number, one in enumerate(self._delayed):
            if not is_dask_collection(one):
                raise ValueError(f"chunk {number} is of type {type(one).__name__}; wrap its loader in dask.delayed.")
        super().__init__(lambda: (one.compute() for one in self._delayed))

    def __iter__(self) -> Iterator[Sparse]:
        for number, raw in enumerate(self._blocks()):
            yield checked_block(raw, number, self._n_features)

    def sum(self, part: Part, *shared: Any) -> Any:
        from dask.delayed import delayed

        placed = [_scattered(one) for one in shared]
        ends = np.cumsum(self.survey().n_rows).tolist()
        parts = [
            delayed(_part)(part, raw, number, self._n_features, slice(start, stop), *placed)
            for number, (raw, start, stop) in enumerate(zip(self._delayed, [0, *ends], ends, strict=False))
        ]
        while len(parts) > 1:  # tree reduction
            parts = [delayed(_sum)(parts[i : i + 2]) for i in range(0, len(parts), 2)]
        return _result(parts[0])

    def _first_pass(self) -> Survey:
        from dask.delayed import delayed

        if not self._delayed:
            raise ValueError("there is no chunk of rows; pass at least one.")
        found = [delayed(_size)(raw, number, self._n_features) for number, raw in enumerate(self._delayed)]
        n_rows, largest = zip(*_result(delayed(list)(found)), strict=True)
        return Survey(self._n_features, n_rows, largest)


def _part(part: Part, raw: Any, number: int, n_features: int, rows: slice, *shared: Any) -> Any:
    block = checked_block(raw, number, n_features)
    if block.shape[0] != rows.stop - rows.start:
        raise ValueError(
            f"chunk {number} of features had {rows.stop - rows.start} rows in the first pass and has "
            f"{block.shape[0]} now; load the same rows every time."
        )
    return part(block, rows, *shared)


def _size(raw: Any, number: int, n_features: int) -> tuple[int, float]:
    block = checked_block(raw, number, n_features)
    return block.shape[0], largest_value(block)


def _sum(parts: list[Any]) -> Any:
    return parts[0] + parts[1] if len(parts) == 2 else parts[0]


def _client() -> Any:
    """The current Dask client; None if there is none, and then the threads of Dask do the work."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _scattered(one: Any) -> Any:
    """Send an array to every worker once instead of with each task; copies also survive the loss of a worker."""
    client = _client()
    if client is None or not isinstance(one, np.ndarray):
        return one
    return client.scatter(one, broadcast=True)


def _result(delayed: Any) -> Any:
    client = _client()
    return delayed.compute() if client is None else client.compute(delayed).result()
