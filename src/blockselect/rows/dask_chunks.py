"""DelayedChunks: row chunks that the workers of a Dask cluster load, check and sum up where they are.

A task loads its chunk itself, so a worker holds no more chunks than it has running tasks; chunks that were
persisted stay where they are in the memory of the cluster. Tasks never change what they are given, because Dask may
run them again if a worker is lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import partial, reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np

from blockselect.rows.chunks import (
    ChunkSurvey,
    Part,
    RowChunks,
    Survey,
    check_same_values,
    check_width,
    checked_block,
    keep_rows,
    sum_of_pairs,
    survey_of,
    unreadable,
)
from blockselect.utils.arrays import BoolArray, Sparse
from blockselect.utils.extras import needed

_Chunks: TypeAlias = list[tuple[Callable[[], Sparse], slice]]  # how each chunk is read, and its rows
_HELD_BYTES = 2**26  # of chunks that a worker keeps together to compare them with others; at least one chunk
_BYTES_PER_VALUE = 12  # of a sparse matrix
_PATIENCE = 60.0  # seconds without any worker after which a cluster counts as lost
_LOST = "the Dask cluster was lost during the fit"
_AGAIN = "There is no partial result; start the cluster and fit again."


class DelayedChunks(RowChunks):
    """See `RowChunks.from_delayed`."""

    def __init__(
        self,
        delayed: Iterable[Any],
        n_features: int,
        *,
        feature_names: Iterable[Any] | None = None,
        node_ids: Iterable[Any] | None = None,
    ) -> None:
        needed("dask.base", "a delayed row chunk")
        self._delayed = list(delayed)
        self._n_features = int(n_features)
        self._steps: list[tuple[Part, list[slice], tuple[Any, ...]]] = []  # see `map`
        self._is_held = [_is_persisted(one) for one in self._delayed]
        super().__init__(lambda: (), feature_names=feature_names, node_ids=node_ids)

    def __iter__(self) -> Iterator[Sparse]:
        return (_result(task) for task in self._tasks(_block))

    def map(self, function: Part, *shared: Any) -> RowChunks:
        return self._then(function, shared, self.survey())

    def __getitem__(self, nodes: BoolArray) -> RowChunks:
        return self._then(keep_rows, (nodes,), survey_of(self.survey(), nodes))

    def _then(self, function: Part, shared: tuple[Any, ...], survey: Survey) -> DelayedChunks:
        """These chunks with one more function that is applied whenever a chunk is loaded."""
        mapped = copy(self)
        mapped._steps = [*self._steps, (function, self.survey().rows, tuple(map(self.place, shared)))]
        mapped._survey, mapped._ids, mapped._column_sums = survey, None, None
        return mapped

    def sum(self, part: Part, *shared: Any) -> Any:
        return _result(_tree(self._tasks(_part, part, *map(self.place, shared))))

    def concatenate(self, part: Part, *shared: Any) -> Any:
        return np.concatenate(_results(self._tasks(_part, part, *map(self.place, shared))))

    def sum_over_pairs(self, part: Part, links: Sparse, *shared: Any) -> Any:
        placed, groups, rows = [self.place(one) for one in (links, *shared)], self._groups(), self.survey().rows
        pairs = _linked_pairs(links, [slice(rows[group[0]].start, rows[group[-1]].stop) for group in groups])
        tasks = [
            self._task(_pairs, [*groups[here], *groups[there]], part, len(groups[here]), *placed)
            for here, there in pairs
        ]
        return _result(_tree(tasks)) if tasks else np.zeros(self.shape[1])

    def _groups(self) -> list[list[int]]:
        """Numbers of chunks that a worker may hold together, while it reads the others one at a time."""
        groups: list[list[int]] = [[]]
        n_bytes = 0
        for number, chunk in enumerate(self.survey().chunks):
            size = _BYTES_PER_VALUE * chunk.n_values
            if groups[-1] and n_bytes + size > _HELD_BYTES:
                groups.append([])
                n_bytes = 0
            groups[-1].append(number)
            n_bytes += size
        return groups

    def fold(self, step: Part, states: Sequence[Any], *shared: Any, n_jobs: int | None = None) -> list[Any]:
        placed, ends = list(map(self.place, shared)), [self.place(state) for state in states]
        for number in range(len(self._delayed)):
            ends = [self._task(_step, [number], step, end, *placed) for end in ends]
        return _results(ends)

    def place(self, shared: Any) -> Any:
        """Send an object to the cluster once, as the result of a task that Dask can repeat if a worker is lost.

        Scattered data would be lost: Dask drops copies that no task waits for, even those of a broadcast.
        """
        client = _client()
        if client is None or _is_small(shared):
            return shared
        with _clear_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # that is the purpose
            return client.submit(_Parcel.open, _Parcel(shared), pure=False)

    def _tasks(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [self._task(function, [number], *arguments) for number in range(len(self._delayed))]

    def _task(self, function: Callable[..., Any], numbers: Sequence[int], *arguments: Any) -> Any:
        """A task that calls ``function(chunks, *arguments)`` and loads these chunks itself."""
        from dask.delayed import delayed

        of_steps = [one for _, _, shared in self._steps for one in shared]
        held = [self._delayed[number] if self._is_held[number] else None for number in numbers]
        task = _Task(function, [self._chunk(number) for number in numbers], len(of_steps))
        return delayed(_Task.run)(task, *held, *of_steps, *arguments)

    def _chunk(self, number: int, *, is_first_pass: bool = False) -> _Chunk:
        steps = [(function, rows[number], len(shared)) for function, rows, shared in self._steps]
        raw = None if self._is_held[number] else self._delayed[number]
        if is_first_pass:
            return _Chunk(number, self._n_features, None, None, steps, raw)
        survey = self.survey()
        return _Chunk(number, self._n_features, survey.rows[number], survey.chunks[number].checksum, steps, raw)

    def _first_pass(self) -> Survey:
        from dask.delayed import delayed

        chunks = [self._chunk(number, is_first_pass=True) for number in range(len(self._delayed))]
        held = [one if is_held else None for one, is_held in zip(self._delayed, self._is_held, strict=True)]
        found = _results([delayed(_Chunk.survey)(*each) for each in zip(chunks, held, strict=True)])
        return Survey.of(found, self._n_features)


class _Chunk:
    """How a task makes its chunk. Dask does not inspect it, so the chunk is loaded within the task."""

    def __init__(
        self, number: int, n_features: int, rows: Any, checksum: Any, steps: list[tuple[Part, slice, int]], raw: Any
    ) -> None:
        self.number, self.n_features, self.rows, self.checksum = number, n_features, rows, checksum
        self.steps, self.raw = steps, raw

    def load(self, held: Any) -> Any:
        """The chunk as it was given: the data that the cluster holds, or else what its loader returns."""
        if self.raw is None:
            return held
        try:
            return self.raw.compute(scheduler="synchronous")
        except Exception as error:
            raise unreadable(self.number, error) from error

    def survey(self, held: Any) -> ChunkSurvey:
        raw = self.load(held)
        return ChunkSurvey.of(raw, checked_block(raw, self.number))

    def read(self, held: Any, shared: Sequence[Any]) -> Sparse:
        """Load and check the block, then apply the mapped functions with the arguments `shared`."""
        block = checked_block(self.load(held), self.number)
        check_width(self.number, block.shape[1], self.n_features)
        first = self.steps[0][1] if self.steps else self.rows
        if block.shape[0] != first.stop - first.start:
            raise ValueError(
                f"chunk {self.number} of features had {first.stop - first.start} rows in the first pass and has "
                f"{block.shape[0]} now; load the same rows every time."
            )
        check_same_values(self.number, block, self.checksum)
        for function, rows, n_shared in self.steps:
            block = function(block, rows, *shared[:n_shared])
            shared = shared[n_shared:]
        return block


class _Task:
    """A call of a function of chunks, which are loaded when the task runs."""

    def __init__(self, function: Callable[..., Any], chunks: list[_Chunk], n_of_steps: int) -> None:
        self.function, self.chunks, self.n_of_steps = function, chunks, n_of_steps

    def run(self, *given: Any) -> Any:
        """`given` are the chunks that the cluster holds, the arguments of mapped functions, and those of the call."""
        n_chunks = len(self.chunks)
        of_steps, arguments = given[n_chunks : n_chunks + self.n_of_steps], given[n_chunks + self.n_of_steps :]
        held = zip(self.chunks, given[:n_chunks], strict=True)
        return self.function([(partial(chunk.read, one, of_steps), chunk.rows) for chunk, one in held], *arguments)


def _block(chunks: _Chunks) -> Sparse:
    ((read, _),) = chunks
    return read()


def _part(chunks: _Chunks, part: Part, *shared: Any) -> Any:
    ((read, rows),) = chunks
    return part(read(), rows, *shared)


def _step(chunks: _Chunks, step: Part, state: Any, *shared: Any) -> Any:
    ((read, rows),) = chunks
    return step(read(), rows, deepcopy(state), *shared)


def _pairs(chunks: _Chunks, part: Part, n_held: int, *shared: Any) -> Any:
    """Compare the rows of the first chunks, which are held, with those of the others, which are read one at a time."""
    held = [(read(), rows) for read, rows in chunks[:n_held]]
    return sum_of_pairs(part, held, ((read(), rows) for read, rows in chunks[n_held:]), *shared, total=None)


def _linked_pairs(links: Sparse, rows: Sequence[slice]) -> list[tuple[int, int]]:
    """Pairs of groups of rows that share links, the later group first; a group may be paired with itself."""
    group_of = np.repeat(np.arange(len(rows)), [one.stop - one.start for one in rows])
    sources = np.repeat(group_of, np.diff(links.indptr))
    pairs = np.unique(sources * len(rows) + group_of[links.indices])
    return [(int(pair) // len(rows), int(pair) % len(rows)) for pair in pairs if pair // len(rows) >= pair % len(rows)]


def _tree(parts: list[Any]) -> Any:
    """The sum as a tree: pairs, pairs of pairs, …"""
    from dask.delayed import delayed

    while len(parts) > 1:
        parts = [delayed(reduce)(add, parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def _is_persisted(raw: Any) -> bool:
    """Whether the cluster holds the data of a chunk, or parts of them."""
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(raw))  # type: ignore[no-untyped-call]


class _Parcel:
    """An object that Dask does not inspect."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def open(self) -> Any:
        return self.content


def _is_small(shared: Any) -> bool:
    """Numbers, types and functions are sent with each task; so is what the cluster already has."""
    from distributed import Future

    return bool(np.isscalar(shared) or callable(shared) or isinstance(shared, np.dtype | Future))


def _client() -> Any:
    """The current client, if there is one; without it Dask's threads do the work."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _result(task: Any) -> Any:
    return _results([task])[0]


def _results(tasks: list[Any]) -> list[Any]:
    client = _client()
    if client is None:
        from dask.base import compute

        return list(compute(*tasks))  # type: ignore[no-untyped-call]
    with _clear_errors():
        futures = client.compute(tasks)
        _wait_for_workers(client, futures)
        return list(client.gather(futures))


def _wait_for_workers(client: Any, futures: list[Any]) -> None:
    """Wait for the results. Dask would wait forever for new workers if all of them are lost."""
    from distributed import wait

    while True:
        try:
            wait(futures, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
            return
        except TimeoutError:
            if not client.nthreads():
                client.cancel(futures)
                raise RuntimeError(f"{_LOST}: it has had no worker for {_PATIENCE} seconds. {_AGAIN}") from None


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Say what to do if the cluster is lost; there is no result then."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            f"several workers of the Dask cluster died in the same task ({error}), perhaps because they ran out of "
            "memory; use smaller chunks, or fewer threads per worker."
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise RuntimeError(f"{_LOST} ({type(error).__name__}). {_AGAIN}") from error
