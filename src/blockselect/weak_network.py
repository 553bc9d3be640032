"""WeakNetwork: weak references to the network that a selector was fitted to."""

from __future__ import annotations

import weakref
from typing import Any


class WeakNetwork:
    """Weak references to the arguments of `fit`, for a report or a plot later in the same session.

    They keep nothing in memory, and a pickled selector has none of them.
    """

    def __init__(self, X: Any = None, adjacency: Any = None) -> None:
        self._features = _reference(X)
        self._adjacency = None if adjacency is None else _reference(adjacency)  # None: built from the features

    @property
    def is_alive(self) -> bool:
        """Whether both are still in memory."""
        return self._features() is not None and (self._adjacency is None or self._adjacency() is not None)

    def recall(self) -> tuple[Any, Any]:
        """The features and the graph as they were passed to `fit`.

        Raises
        ------
        ValueError
            If one of them is no longer in memory, or does not support weak references, such as a list.
        """
        if not self.is_alive:
            raise ValueError(
                "the network that the selector was fitted to is no longer in memory; pass it again, as to fit: "
                "X, adjacency=graph."
            )
        return self._features(), None if self._adjacency is None else self._adjacency()

    def __reduce__(self) -> tuple[type[WeakNetwork], tuple[()]]:
        return type(self), ()


def _reference(thing: Any) -> Any:
    try:
        return weakref.ref(thing)
    except TypeError:  # strings, which are keys of graphs and are kept; lists, tuples and None are not
        kept = thing if isinstance(thing, str) else None
        return lambda: kept
