"""RowChunks: features in chunks of rows that are read one at a time; `dask_chunks` reads them on a Dask cluster."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, pairwise, takewhile
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse

from blockselect.rows.checks import check_range, check_values, first_entry, largest_value, stored_values
from blockselect.rows.matrices import as_float_matrix, counts_rows, may_be_ids
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import needed, on_request
from blockselect.utils.parameters import check_names, check_whole

_CHUNK_BYTES = 2**26  # size of a chunk as a dense float64 array, unless the user sets the number of rows
_BYTES_PER_VALUE = 12  # in a sparse matrix: a float64 and its column number
Path: TypeAlias = str | PathLike[str]
Part: TypeAlias = Callable[..., Any]  # (block, rows, *shared) → array or sparse array


@dataclass(frozen=True, slots=True)
class Checksum:
    """Checksum that identifies the content of a chunk, which must be the same in each pass."""

    shape: tuple[int, int]
    pattern: int  # depends on which values are not zero
    total: float  # depends on the non-zero values and their order

    @classmethod
    def of(cls, block: Sparse) -> Checksum:
        pattern = zlib.crc32(block.indptr, zlib.crc32(block.indices))
        return cls(block.shape, pattern, float(np.dot(block.data, np.linspace(1, 2, block.nnz))))


@dataclass(frozen=True, slots=True)
class ChunkSurvey:
    """Summary of one chunk from the first pass."""

    n_rows: int
    n_features: int
    n_values: int  # number of non-zero values
    largest: float
    smallest: float  # smallest non-zero value; infinity if there are none
    are_whole: bool  # whether all values are integers
    dtype: np.dtype[Any]
    checksum: Checksum | None  # None for features in memory, which are not read again
    index: pd.Index[Any] | None  # row names and column names, if the chunk is a DataFrame
    columns: pd.Index[Any] | None

    @classmethod
    def of(cls, block: Features, raw: Any = None) -> ChunkSurvey:
        """Summarize a checked chunk, or features in memory; `raw` is the chunk as the user passed it."""
        values, has_names = stored_values(block), isinstance(raw, pd.DataFrame)
        return cls(
            n_rows=block.shape[0],
            n_features=block.shape[1],
            n_values=int(np.count_nonzero(values)),
            largest=largest_value(block),
            smallest=float(np.min(values, where=values > 0, initial=np.inf)),
            are_whole=bool((values == np.floor(values)).all()),
            dtype=block.dtype,
            checksum=None if raw is None else Checksum.of(block),
            index=raw.index if has_names else None,
            columns=raw.columns if has_names else None,
        )


@dataclass(frozen=True)
class Survey:
    """Summary of all chunks from the first pass."""

    n_features: int
    chunks: tuple[ChunkSurvey, ...]
    node_ids: pd.Index[Any] | None = None  # of all rows, if the chunks are DataFrames with row names

    @classmethod
    def of(cls, chunks: Sequence[ChunkSurvey], n_features: int | None = None) -> Survey:
        """Check that chunks match, and combine their summaries; by default, the first chunk sets `n_features`."""
        if not chunks:
            raise ValueError("there are no chunks of rows; pass a list, or a function that returns a new iterator.")
        width, dtype = n_features or chunks[0].n_features, chunks[0].dtype
        columns = next((chunk.columns for chunk in chunks if chunk.columns is not None), None)
        for number, chunk in enumerate(chunks):
            check_width(number, chunk.n_features, width)
            if chunk.dtype != dtype:  # integers were converted to float64
                raise ValueError(
                    f"chunk {number} of features is {chunk.dtype} but the chunks before it are {dtype}, so equal "
                    "values would differ; convert all chunks to the same type, such as chunk.astype(numpy.float64)."
                )
            if chunk.columns is not None and not chunk.columns.equals(columns):
                raise ValueError(
                    f"chunk {number} of features has different columns from the chunks before it, or the same columns "
                    "in a different order; give every chunk the same columns: chunk[columns]."
                )
        indexes = [chunk.index for chunk in chunks if chunk.index is not None]
        has_ids = len(indexes) == len(chunks) and not all(map(counts_rows, indexes))
        return cls(width, tuple(chunks), indexes[0].append(indexes[1:]) if has_ids else None)

    @cached_property
    def rows(self) -> list[slice]:
        """The range of rows of each chunk."""
        ends = np.cumsum([0, *(chunk.n_rows for chunk in self.chunks)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]


class RowChunks:
    """Features that are too large for memory: an iterable of CSR blocks of rows, each checked when it is read.

    Create one with a `from_` method. A fit reads all chunks several times: once to check and count them, and once for
    each sum over rows that it needs.

    Parameters
    ----------
    blocks : callable
        Called without arguments for each pass; must return the same blocks in the same order every time.
    feature_names : iterable, optional
        Names of the columns.
    node_ids : iterable, optional
        Names of all rows. By default, they are taken from the index of the chunks if these are DataFrames, unless
        the index of every chunk is 0, 1, ….

    Examples
    --------
    >>> import numpy as np
    >>> chunks = RowChunks.from_blocks([np.eye(3), np.ones((2, 3))])
    >>> chunks.shape, [block.nnz for block in chunks]
    ((5, 3), [3, 6])
    """

    held_bytes = 2**27  # size of the chunks that `sum_over_pairs` keeps in memory while it reads others

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
        self._column_sums: FloatArray | None = None
        self._steps: list[tuple[Part, list[slice], tuple[Any, ...]]] = []  # see `map`: function, rows, arguments

    @classmethod
    def from_blocks(
        cls,
        blocks: Callable[[], Iterable[Any]] | Iterable[Any],
        *,
        feature_names: Iterable[Any] | None = None,
        node_ids: Iterable[Any] | None = None,
    ) -> RowChunks:
        """Read dense or sparse blocks of rows from a list, or from a function that returns a new iterator."""
        if isinstance(blocks, Iterator):
            raise ValueError(
                f"blocks is of type {type(blocks).__name__}, an iterator that can be read only once, but a fit reads "
                "the chunks several times; pass the function that makes it: RowChunks.from_blocks(make_blocks)."
            )
        if sparse.issparse(blocks) or isinstance(blocks, np.ndarray):
            raise ValueError("blocks is one matrix; pass a list of blocks of rows, or pass the matrix itself to fit.")
        make = blocks if callable(blocks) else partial(iter, blocks)
        return cls(make, feature_names=feature_names, node_ids=node_ids)

    @classmethod
    def from_npy(cls, path: Path, *, rows_per_chunk: int | None = None) -> RowChunks:
        """Read a matrix from a ``.npy`` file, which is memory-mapped. By default, a chunk takes 64 MiB."""
        check_rows_per_chunk(rows_per_chunk)
        try:
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"{path} could not be read as .npy ({error}); save it with numpy.save.") from error
        if not isinstance(matrix, np.ndarray) or matrix.ndim != 2:
            raise ValueError(f"{path} does not contain a matrix; save one with np.save, with one row per node.")
        return cls(partial(_slices, matrix, matrix.shape, rows_per_chunk))

    @classmethod
    def from_parquet(cls, path: Path) -> RowChunks:
        """Read a Parquet file, one chunk per row group. Its columns are features, and its pandas index names the nodes.

        Requires pyarrow.
        """
        parquet = needed("pyarrow.parquet", "Parquet")
        columns = parquet.read_schema(path).empty_table().to_pandas().columns  # without the columns of the index
        with parquet.ParquetFile(path) as file:
            first = file.read(columns=[str(name) for name in columns[:1]], use_pandas_metadata=True).to_pandas()
        has_ids = first.index.name is not None or not counts_rows(first.index)
        if not has_ids and len(columns) > 1 and may_be_ids(first.iloc[:, 0]):
            raise ValueError(
                f"the first column {str(columns[0])!r} of {path} is called id, or contains text or a different whole "
                "number in each row, so it may contain the ids of the nodes; store the ids as the index: "
                f"frame.set_index({str(columns[0])!r}).to_parquet(path), or, if it is a feature, store the row numbers "
                "as ids: frame.rename_axis('id').to_parquet(path)."
            )
        return cls(partial(_row_groups, path), feature_names=columns, node_ids=first.index if has_ids else None)

    @classmethod
    def from_anndata(cls, adata: Any, *, rows_per_chunk: int | None = None) -> RowChunks:
        """Read the matrix X of an AnnData, which may be backed, or of an ``.h5ad`` file."""
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
    def from_delayed(
        cls,
        delayed: Iterable[Any],
        n_features: int,
        *,
        feature_names: Iterable[Any] | None = None,
        node_ids: Iterable[Any] | None = None,
    ) -> RowChunks:
        """Let the workers of a Dask cluster load and process the chunks: one `dask.delayed` block of rows per chunk.

        Requires Dask.
        """
        made: RowChunks = on_request("rows.dask_chunks").DelayedChunks(
            delayed, n_features, feature_names=feature_names, node_ids=node_ids
        )
        return made

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns; the first call reads all chunks once."""
        survey = self.survey()
        return sum(chunk.n_rows for chunk in survey.chunks), survey.n_features

    @property
    def n_values(self) -> int:
        """Number of non-zero values, including those in rows that were not selected."""
        return sum(chunk.n_values for chunk in self.survey().chunks)

    @property
    def slices(self) -> list[slice]:
        """The range of rows of each chunk."""
        return self.survey().rows

    @property
    def feature_names(self) -> ObjectArray | None:
        return check_names(self._names, self.shape[1], "feature name", "column")

    @property
    def node_ids(self) -> ObjectArray | None:
        ids = self.survey().node_ids if self._ids is None else self._ids
        return check_names(ids, self.shape[0], "node id", "row")

    def __iter__(self) -> Iterator[Sparse]:
        for number, (_, checked) in enumerate(self._read()):
            block = checked
            for function, rows, shared in self._steps:
                block = function(block, rows[number], *shared)
            yield block

    def _read(self) -> Iterator[tuple[Any, Sparse]]:
        """Yield each chunk as the user passed it, together with its checked version."""
        known = None if self._survey is None else [chunk.checksum for chunk in self._survey.chunks]
        n_read = 0
        for raw in _readable(self._blocks):
            block = checked_block(raw, n_read)
            if known is not None:
                check_unchanged(n_read, block, known[n_read] if n_read < len(known) else None)
            n_read += 1
            yield raw, block
        if known is not None and n_read < len(known):
            check_unchanged(n_read, None, known[n_read])

    def with_rows(self) -> Iterator[tuple[Sparse, slice]]:
        """Yield each chunk with the range of its rows."""
        return zip(self, self.slices, strict=True)

    def map(self, function: Part, *shared: Any) -> RowChunks:
        """Apply ``function(block, rows, *shared)``, which keeps the number of rows, whenever a chunk is read."""
        return self._then(function, shared, self.survey())

    def __getitem__(self, nodes: BoolArray) -> RowChunks:
        """Select the rows for which a boolean array of shape (n,) is true."""
        n_rows = [int(np.count_nonzero(nodes[rows])) for rows in self.slices]
        # All other statistics still refer to all rows.
        kept = [replace(chunk, n_rows=n) for chunk, n in zip(self.survey().chunks, n_rows, strict=True)]
        return self._then(_keep_rows, (nodes,), Survey(self.survey().n_features, tuple(kept)))

    def _then(self, function: Part, shared: tuple[Any, ...], survey: Survey) -> RowChunks:
        """Return these chunks with one more function to apply whenever a chunk is read."""
        mapped = copy(self)
        mapped._steps = [*self._steps, (function, self.slices, tuple(map(self.place, shared)))]
        mapped._survey, mapped._ids, mapped._column_sums = survey, None, None
        return mapped

    def some(self, rows: IntArray) -> Sparse:
        """Load the rows with these numbers, which must be in increasing order."""
        is_wanted = np.zeros(self.shape[0], dtype=bool)
        is_wanted[rows] = True
        return sparse.csr_array(sparse.vstack(list(self[is_wanted])))

    def sum(self, part: Part, *shared: Any) -> Any:
        """Sum ``part(block, rows, *shared)`` over all chunks; `rows` is the range of rows of the chunk."""
        total = None
        for block, rows in self.with_rows():
            total = added(total, part(block, rows, *shared))
        return total

    def column_sums(self) -> FloatArray:
        """Number of non-zero values and sum of each column: (2, m). Computed in one pass and stored."""
        if self._column_sums is None:
            self._column_sums = self.sum(column_sums)
        return self._column_sums

    def concatenate(self, part: Part, *shared: Any) -> Any:
        """Concatenate ``part(block, rows, *shared)``, an array with one entry per row, over all chunks."""
        return np.concatenate([part(block, rows, *shared) for block, rows in self.with_rows()])

    def sum_over_pairs(self, part: Part, links: Sparse, *shared: Any) -> Any:
        """Sum ``part(block, rows, other, other_rows, links, *shared)`` over pairs of linked rows.

        Each row is paired at least with all earlier rows that are linked to it; `part` must count only pairs in which
        the row of `other` comes first. Several chunks are kept in memory while the chunks before them are read.

        Parameters
        ----------
        part : callable
        links : CSR of shape (n, n)
            Symmetric.
        *shared
            Further arguments of `part`.
        """
        total, chunks = None, self.with_rows()
        for numbers in self._held_together():
            held = list(islice(chunks, len(numbers)))
            end = held[-1][1].stop
            before = takewhile(lambda other: other[1].start < end, self.with_rows())  # noqa: B023 (used at once)
            total = sum_of_pairs(part, held, before, links, *shared, total=total)
        return total

    def _held_together(self) -> list[list[int]]:
        """Group consecutive chunks, by number, so that a group takes at most `held_bytes` or is a single chunk."""
        groups: list[list[int]] = []
        n_bytes = math.inf
        for number, chunk in enumerate(self.survey().chunks):
            size = _BYTES_PER_VALUE * chunk.n_values
            if n_bytes + size > self.held_bytes:
                groups.append([])
                n_bytes = 0
            groups[-1].append(number)
            n_bytes += size
        return groups

    def fold(self, step: Part, states: Sequence[Any], *shared: Any, n_jobs: int | None = None) -> list[Any]:
        """Update each state by ``step(block, rows, state, *shared)``, chunk by chunk, and return the final states.

        A chunk is read once for all states, whose steps run in threads. `step` may change a state in place.
        """
        with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
            for block, rows in self.with_rows():
                states = list(parallel(delayed(step)(block, rows, state, *shared) for state in states))
        return list(states)

    def place(self, shared: Any) -> Any:
        """Return a stand-in for an object that several sums use, so that the object is sent only once."""
        return shared

    def survey(self) -> Survey:
        """Summary of all chunks; the first call reads them once."""
        if self._survey is None:
            self._survey = self._first_pass()
        return self._survey

    def check(self, dtype: np.dtype[Any]) -> None:
        """Check that not all values are zero, and that the largest one is within the range of the solver."""
        survey = self.survey()
        largest = [chunk.largest for chunk in survey.chunks]
        check_range(max(largest), self.shape[0], dtype, lambda: f"chunk {largest.index(max(largest))}")

    def _first_pass(self) -> Survey:
        return Survey.of([ChunkSurvey.of(block, raw) for raw, block in self._read()])


def column_sums(block: Sparse, rows: slice) -> FloatArray:
    """See `RowChunks.column_sums`."""
    m = block.shape[1]
    holders = np.bincount(block.indices, block.data != 0, minlength=m)
    return np.stack([holders, np.bincount(block.indices, block.data, minlength=m)])


def _keep_rows(block: Sparse, rows: slice, nodes: BoolArray) -> Sparse:
    return block[nodes[rows]]


def _readable(blocks: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yield the blocks of one pass; an error names the chunk that could not be read."""
    number = 0
    try:
        for number, raw in enumerate(blocks()):
            yield raw
            number += 1
    except (GeneratorExit, MemoryError):
        raise
    except Exception as error:
        raise unreadable(number, error) from error


def unreadable(number: int, error: Exception) -> ValueError:
    return ValueError(
        f"chunk {number} of features could not be read ({type(error).__name__}: {error}); check its source."
    )


def check_rows_per_chunk(rows_per_chunk: Any) -> None:
    """Check that a number of rows is None or a positive integer."""
    if rows_per_chunk is not None:
        check_whole("rows_per_chunk", rows_per_chunk, 1)


def check_width(number: int, n_features: int, expected: int) -> None:
    """Check that a chunk has the expected number of features; compiled sums rely on that."""
    if n_features != expected:
        raise ValueError(
            f"chunk {number} of features has {n_features} columns; expected {expected}. Give every chunk the "
            "same features."
        )


def check_unchanged(number: int, block: Sparse | None, first: Checksum | None) -> None:
    """Check that a chunk is the same as in the first pass, up to rounding; None means that there is no such chunk."""
    if block is None or first is None or block.shape[0] != first.shape[0]:
        before, now = ("none" if one is None else f"{one.shape[0]} rows" for one in (first, block))
        raise ValueError(
            f"chunk {number} of features had {before} in the first pass and has {now} now; give the same chunks in "
            "each pass: a function passed to RowChunks.from_blocks must return a new iterator at every call."
        )
    check_width(number, block.shape[1], first.shape[1])
    found = Checksum.of(block)
    if found.pattern != first.pattern or not math.isclose(found.total, first.total, rel_tol=1e-9):
        raise ValueError(
            f"chunk {number} of features has changed since the first pass; give the same rows in the same "
            "order in each pass: fix the seed of random numbers, and do not change the files during a fit."
        )


def checked_block(raw: Any, number: int) -> Sparse:
    """Check one chunk and convert it to CSR; errors name the chunk."""
    block = sparse.csr_array(as_float_matrix(raw, f"chunk {number} of features"))

    def place(offends: Callable[[Any], Any]) -> str:
        row, column = first_entry(block, offends)
        return f"row {row} of chunk {number}, column {column}"

    check_values(block, place)
    return block


def added(total: Any, one: Any) -> Any:
    """Add a part to the total, in place if the total is dense; None stands for an empty total."""
    if total is None:
        return one
    if isinstance(total, np.ndarray):
        total += one
        return total
    return total + one


def sum_of_pairs(
    part: Part, held: Sequence[tuple[Sparse, slice]], others: Iterable[tuple[Sparse, slice]], *shared: Any, total: Any
) -> Any:
    """Add ``part(block, rows, other, other_rows, *shared)`` over all pairs of a block in memory and another block."""
    for other, other_rows in others:
        for block, rows in held:
            total = added(total, part(block, rows, other, other_rows, *shared))
    return total


def _slices(matrix: Any, shape: tuple[int, int], rows_per_chunk: int | None) -> Iterator[Any]:
    step = rows_per_chunk or max(1, _CHUNK_BYTES // (8 * max(shape[1], 1)))
    for start in range(0, shape[0], step):
        yield matrix[start : start + step]


def _row_groups(path: Path) -> Iterator[Any]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number).to_pandas()
