"""WeakNetwork: the network that a selector was fitted to, remembered without keeping it in memory."""

from __future__ import annotations

import weakref
from typing import Any


class WeakNetwork:
    """Weak references to what `fit` was given, for what comes after a fit in the same session: a page, a plot.

    Neither memory nor pickles grow: the caller's arrays die with their last other name, and a pickle or a copy of the
    selector remembers nothing.
    """

    def __init__(self, X: Any = None, adjacency: Any = None) -> None:
        self._features = _reference(X)
        self._adjacency = None if adjacency is None else _reference(adjacency)
        self._built = adjacency is None  # the graph was made from the features

    def recall(self) -> tuple[Any, Any]:
        """The features and the graph as they were passed to `fit`.

        Raises
        ------
        ValueError
            Where one of them is gone, or was of a kind that cannot be remembered, such as a list.
        """
        features = self._features()
        adjacency = self._adjacency() if self._adjacency is not None else None
        if features is None or (adjacency is None and not self._built):
            raise ValueError(
                "the network that the selector was fitted to is no longer in memory; pass it again, as to fit: "
                "X, adjacency=graph."
            )
        return features, adjacency

    def __reduce__(self) -> tuple[type[WeakNetwork], tuple[()]]:
        return type(self), ()


def _reference(thing: Any) -> Any:
    if isinstance(thing, str):  # the key of a graph within the features
        return lambda: thing
    try:
        return weakref.ref(thing)
    except TypeError:  # lists, tuples, None
        return _nothing


def _nothing() -> None:
    return None
