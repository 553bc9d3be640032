"""DelayedChunks: chunks of rows that the workers of a Dask cluster load, check and process.

Each task loads its chunks itself, so a worker has no more chunks in memory than its running tasks need. Persisted
chunks stay in the memory of the cluster. Tasks do not modify their input, because Dask may repeat them if a worker is
lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from copy import deepcopy
from functools import partial, reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np

from blockselect.rows.chunks import (
    Checksum,
    ChunkSurvey,
    Part,
    RowChunks,
    Survey,
    check_unchanged,
    checked_block,
    sum_of_pairs,
    unreadable,
)
from blockselect.utils.arrays import Sparse
from blockselect.utils.extras import needed

_Chunks: TypeAlias = list[tuple[Callable[[], Sparse], slice]]  # a reader for each chunk, and its rows
_PATIENCE = 60.0  # seconds without any worker after which the cluster counts as lost
_LOST = "the Dask cluster was lost during the fit"
_AGAIN = "There is no partial result; start the cluster and fit again."


class DelayedChunks(RowChunks):
    """See `RowChunks.from_delayed`."""

    held_bytes = 2**26  # for each task; a worker may run several tasks

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
        self._is_persisted = [_is_persisted(one) for one in self._delayed]
        super().__init__(lambda: (), feature_names=feature_names, node_ids=node_ids)

    def __iter__(self) -> Iterator[Sparse]:
        return (_result(task) for task in self._tasks(_block))

    def sum(self, part: Part, *shared: Any) -> Any:
        return _result(_tree(self._tasks(_part, part, *map(self.place, shared))))

    def concatenate(self, part: Part, *shared: Any) -> Any:
        return np.concatenate(_results(self._tasks(_part, part, *map(self.place, shared))))

    def sum_over_pairs(self, part: Part, links: Sparse, *shared: Any) -> Any:
        placed, groups, rows = list(map(self.place, (links, *shared))), self._held_together(), self.slices
        pairs = _linked_pairs(links, [slice(rows[group[0]].start, rows[group[-1]].stop) for group in groups])
        tasks = [
            self._task(_pairs, [*groups[here], *groups[there]], part, len(groups[here]), *placed)
            for here, there in pairs
        ]
        return _result(_tree(tasks)) if tasks else np.zeros(self.shape[1])

    def fold(self, step: Part, states: Sequence[Any], *shared: Any, n_jobs: int | None = None) -> list[Any]:
        placed, ends = list(map(self.place, shared)), [self.place(state) for state in states]
        for number in range(len(self._delayed)):
            ends = [self._task(_step, [number], step, end, *placed) for end in ends]
        return _results(ends)

    def place(self, shared: Any) -> Any:
        """Send an object to the cluster only once, as the result of a task that Dask can repeat if a worker is lost.

        Scattered data could be lost, because Dask drops copies that no task waits for, even if they were broadcast.
        """
        client = _client()
        if client is None:
            return shared
        from distributed import Future

        if np.isscalar(shared) or callable(shared) or isinstance(shared, np.dtype | Future):
            return shared  # small enough to be sent with each task, or already on the cluster
        with _clear_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # this is intended
            return client.submit(_Parcel.open, _Parcel(shared), pure=False)

    def _tasks(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [self._task(function, [number], *arguments) for number in range(len(self._delayed))]

    def _task(self, function: Callable[..., Any], numbers: Sequence[int], *arguments: Any) -> Any:
        """Return a task that loads these chunks and calls ``function(chunks, *arguments)``."""
        from dask.delayed import delayed

        survey = self.survey()
        chunks, persisted = zip(*(self._chunk(number, survey) for number in numbers), strict=True)
        of_steps = [shared for _, _, shared in self._steps]
        return delayed(_run)(function, list(chunks), list(persisted), of_steps, *arguments)

    def _chunk(self, number: int, survey: Survey | None) -> tuple[_Chunk, Any]:
        """Return the chunk for a task to read, and its data if persisted; `survey` is None in the first pass."""
        raw, is_persisted = self._delayed[number], self._is_persisted[number]
        chunk = _Chunk(number, None if is_persisted else raw)
        if survey is not None:
            chunk.rows, chunk.checksum = survey.rows[number], survey.chunks[number].checksum
            chunk.steps = [(function, rows[number]) for function, rows, _ in self._steps]
        return chunk, raw if is_persisted else None

    def _first_pass(self) -> Survey:
        from dask.delayed import delayed

        chunks = (self._chunk(number, None) for number in range(len(self._delayed)))
        return Survey.of(_results([delayed(_Chunk.survey)(*each) for each in chunks]), self._n_features)


class _Chunk:
    """How a task reads a chunk. Dask does not inspect this object, so the chunk is loaded within the task."""

    def __init__(self, number: int, raw: Any) -> None:
        self.number, self.raw = number, raw  # raw is None for a persisted chunk, whose data the task receives
        self.rows = slice(0)
        self.checksum: Checksum | None = None
        self.steps: list[tuple[Part, slice]] = []

    def _load(self, persisted: Any) -> Any:
        """Return the chunk as the user passed it."""
        if self.raw is None:
            return persisted
        try:
            return self.raw.compute(scheduler="synchronous")
        except Exception as error:
            raise unreadable(self.number, error) from error

    def survey(self, persisted: Any) -> ChunkSurvey:
        raw = self._load(persisted)
        return ChunkSurvey.of(checked_block(raw, self.number), raw)

    def read(self, persisted: Any, of_steps: Sequence[tuple[Any, ...]]) -> Sparse:
        """Load and check the chunk, and apply the mapped functions; `of_steps` contains their further arguments."""
        block = checked_block(self._load(persisted), self.number)
        check_unchanged(self.number, block, self.checksum)
        for (function, rows), shared in zip(self.steps, of_steps, strict=True):
            block = function(block, rows, *shared)
        return block


def _run(
    function: Callable[..., Any], chunks: list[_Chunk], persisted: list[Any], of_steps: list[Any], *arguments: Any
) -> Any:
    """Call a function on some chunks within a task; each chunk is loaded when the function reads it."""
    pairs = zip(chunks, persisted, strict=True)
    return function([(partial(chunk.read, data, of_steps), chunk.rows) for chunk, data in pairs], *arguments)


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
    """Sum over pairs of the first chunks, kept in memory, and the remaining chunks, read one at a time."""
    held = [(read(), rows) for read, rows in chunks[:n_held]]
    return sum_of_pairs(part, held, ((read(), rows) for read, rows in chunks[n_held:]), *shared, total=None)


def _linked_pairs(links: Sparse, rows: Sequence[slice]) -> list[tuple[int, int]]:
    """Pairs of groups of rows with links between them, the later group first; a group may be paired with itself."""
    group_of = np.repeat(np.arange(len(rows)), [one.stop - one.start for one in rows])
    sources = np.repeat(group_of, np.diff(links.indptr))
    pairs = np.unique(sources * len(rows) + group_of[links.indices])
    return [(int(pair) // len(rows), int(pair) % len(rows)) for pair in pairs if pair // len(rows) >= pair % len(rows)]


def _tree(parts: list[Any]) -> Any:
    """Add parts in pairs, then add the results in pairs, and so on."""
    from dask.delayed import delayed

    while len(parts) > 1:
        parts = [delayed(reduce)(add, parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def _is_persisted(raw: Any) -> bool:
    """Whether the cluster has the data of a chunk, at least in part, in memory."""
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(raw))  # type: ignore[no-untyped-call]


class _Parcel:
    """Wraps an object so that Dask does not inspect it."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def open(self) -> Any:
        return self.content


def _client() -> Any:
    """Return the current Dask client, or None; without a client, Dask computes in threads of this process."""
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
    """Wait for the results; if all workers are lost, Dask would wait for new ones forever."""
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
    """If the cluster is lost, raise an error that says what to do."""
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
