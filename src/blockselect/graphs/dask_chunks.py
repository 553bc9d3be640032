"""DelayedChunks: row chunks that the workers of a Dask cluster load, check and sum up where they are.

A task loads its chunk itself, so that a worker holds no more chunks than it has tasks in work; chunks that were
persisted stay where they are in the memory of the cluster. Tasks never change what they are given, because Dask may
run them again if a worker is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np

from blockselect.arrays import BoolArray, Sparse
from blockselect.graphs.chunks import (
    ChunkSurvey,
    Part,
    RowChunks,
    Survey,
    check_same_dtype,
    checked_block,
    keep_rows,
    survey_of,
    unreadable,
)


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
        try:
            from dask.base import is_dask_collection
        except ImportError as error:
            raise ImportError(
                "delayed row chunks need Dask; install it with: pip install 'blockselect[dask]'"
            ) from error
        self._delayed = list(delayed)
        self._n_features = int(n_features)
        self._steps: list[tuple[Part, list[slice], tuple[Any, ...]]] = []  # see `map`
        for number, one in enumerate(self._delayed):
            if not is_dask_collection(one):
                raise ValueError(f"chunk {number} is of type {type(one).__name__}; wrap its loader in dask.delayed.")
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

    def sum_over_pairs(self, part: Part, *shared: Any) -> Any:
        from dask.delayed import delayed

        placed, chunks, of_steps = list(map(self.place, shared)), self._chunks(), self._shared_by_steps()
        return _result(
            _tree(
                [
                    delayed(_pair)(part, len(of_steps), *chunks[left], *chunks[right], *of_steps, *placed)
                    for left in range(len(chunks))
                    for right in range(left + 1)
                ]
            )
        )

    def fold(self, step: Part, states: Sequence[Any], *shared: Any, n_jobs: int | None = None) -> list[Any]:
        from dask.delayed import delayed

        placed, of_steps = list(map(self.place, shared)), self._shared_by_steps()
        ends = [self.place(state) for state in states]
        for chunk in self._chunks():
            ends = [delayed(_step)(step, len(of_steps), *chunk, end, *of_steps, *placed) for end in ends]
        return _results(ends)

    def place(self, shared: Any) -> Any:
        """Send arrays and graphs to every worker once; a copy on each worker also outlives a lost worker."""
        client = _client()
        if client is None or _is_small(shared):
            return shared
        return client.scatter([shared], broadcast=True, hash=False)[0]

    def _tasks(self, task: Any, *arguments: Any) -> list[Any]:
        from dask.delayed import delayed

        of_steps = self._shared_by_steps()
        return [delayed(task)(len(of_steps), *chunk, *of_steps, *arguments) for chunk in self._chunks()]

    def _shared_by_steps(self) -> list[Any]:
        return [one for _, _, shared in self._steps for one in shared]

    def _chunks(self) -> list[tuple[_Chunk, Any]]:
        """Each chunk, and its data where the cluster holds these already."""
        rows = self.survey().rows
        return [self._chunk(number, rows[number]) for number in range(len(self._delayed))]

    def _chunk(self, number: int, rows: slice | None) -> tuple[_Chunk, Any]:
        raw = self._delayed[number]
        steps = [(function, of_chunks[number], len(shared)) for function, of_chunks, shared in self._steps]
        held = _is_persisted(raw)
        return _Chunk(number, self._n_features, rows, steps, None if held else raw), raw if held else None

    def _first_pass(self) -> Survey:
        from dask.delayed import delayed

        if not self._delayed:
            raise ValueError("there is no chunk of rows; pass at least one.")
        found = _results([delayed(_survey)(*self._chunk(number, None)) for number in range(len(self._delayed))])
        for number, chunk in enumerate(found):
            check_same_dtype(chunk.dtype, number, found[0].dtype)
        return Survey(self._n_features, tuple(found))


class _Chunk:
    """How a task makes its chunk. Dask does not look into it, so that the chunk is loaded within the task."""

    def __init__(
        self, number: int, n_features: int, rows: slice | None, steps: list[tuple[Part, slice, int]], raw: Any
    ) -> None:
        self.number, self.n_features, self.rows, self.steps, self.raw = number, n_features, rows, steps, raw

    def read(self, held: Any, shared: Sequence[Any] = ()) -> Sparse:
        """The checked block after all functions that were mapped; `shared` are their arguments."""
        raw = held
        if self.raw is not None:
            try:
                raw = self.raw.compute(scheduler="synchronous")
            except Exception as error:
                raise unreadable(self.number, error) from error
        block = checked_block(raw, self.number, (self.n_features, None))
        first = self.steps[0][1] if self.steps else self.rows
        if first is not None and block.shape[0] != first.stop - first.start:
            raise ValueError(
                f"chunk {self.number} of features had {first.stop - first.start} rows in the first pass and has "
                f"{block.shape[0]} now; load the same rows every time."
            )
        for function, rows, n_shared in self.steps:
            block = function(block, rows, *shared[:n_shared])
            shared = shared[n_shared:]
        return block


def _survey(chunk: _Chunk, held: Any) -> ChunkSurvey:
    return ChunkSurvey.of(chunk.read(held))


def _block(n_of_steps: int, chunk: _Chunk, held: Any, *shared: Any) -> Sparse:
    return chunk.read(held, shared)


def _part(n_of_steps: int, chunk: _Chunk, held: Any, *rest: Any) -> Any:
    block, (part, *shared) = chunk.read(held, rest[:n_of_steps]), rest[n_of_steps:]
    return part(block, chunk.rows, *shared)


def _step(step: Part, n_of_steps: int, chunk: _Chunk, held: Any, state: Any, *rest: Any) -> Any:
    block = chunk.read(held, rest[:n_of_steps])
    return step(block, chunk.rows, deepcopy(state), *rest[n_of_steps:])


def _pair(part: Part, n_of_steps: int, left: _Chunk, held: Any, right: _Chunk, other_held: Any, *rest: Any) -> Any:
    block = left.read(held, rest[:n_of_steps])
    other = block if right.number == left.number else right.read(other_held, rest[:n_of_steps])
    return part(block, left.rows, other, right.rows, *rest[n_of_steps:])


def _tree(parts: list[Any]) -> Any:
    """The sum as a tree: pairs, pairs of pairs, …"""
    from dask.delayed import delayed

    while len(parts) > 1:
        parts = [delayed(_sum)(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def _sum(parts: list[Any]) -> Any:
    return parts[0] + parts[1] if len(parts) == 2 else parts[0]


def _is_persisted(raw: Any) -> bool:
    """Whether the cluster holds the data of a chunk, or parts of them."""
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(raw))  # type: ignore[no-untyped-call]


def _is_small(shared: Any) -> bool:
    """Numbers, types and functions travel with each task; so does what the cluster has already."""
    try:
        from distributed import Future
    except ImportError:
        return True
    return np.isscalar(shared) or callable(shared) or isinstance(shared, Future | np.dtype | type(None))


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
    return list(client.gather(client.compute(tasks)))
