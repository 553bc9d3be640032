"""DelayedChunks: row chunks that a Dask cluster loads, and sums over rows as a tree of its tasks.

Dask schedules the tasks, and runs those of a lost worker again; this file only says what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from blockselect.arrays import Sparse
from blockselect.graphs.checks import largest_value
from blockselect.graphs.row_chunks import Part, RowChunks, Survey, checked_block


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
                raise ValueError(f"chunk {number} is of type {type(one).__name__}; wrap what loads it in dask.delayed.")
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
        while len(parts) > 1:  # a tree: pairs, pairs of pairs, …
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
    """The current client, if there is one; without it Dask's threads do the work."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _scattered(one: Any) -> Any:
    """Arrays go to every worker once, not along with each task; a copy on each also outlives a lost worker."""
    client = _client()
    if client is None or not isinstance(one, np.ndarray):
        return one
    return client.scatter(one, broadcast=True)


def _result(delayed: Any) -> Any:
    client = _client()
    return delayed.compute() if client is None else client.compute(delayed).result()
