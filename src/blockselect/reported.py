"""ReportMixin: the report of a fitted selector, about the network that it remembers by weak references."""

from __future__ import annotations

import weakref
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray
from blockselect.errors import collected_warnings
from blockselect.graphs.attributed import AttributedGraph
from blockselect.parameters import check_page_path

if TYPE_CHECKING:
    from blockselect.report import Report


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


class ReportMixin:
    """Part of :class:`blockselect.base.ScoreSelector`: `fit` calls `_remember`."""

    _fitted_to: WeakNetwork

    def _remember(self, X: Any, adjacency: Any) -> Self:
        """Remember the network by weak references, which do not keep it in memory."""
        self._fitted_to = WeakNetwork(X, adjacency)
        return self

    def report(self, path: str | Path, X: Any = None, *, adjacency: Any = None, **options: Any) -> Path:
        """Write a page about the selection: which features, where they occur, what they explain, how it was made.

        Parameters
        ----------
        path : str or Path
            The file, whose name must end in .html. It is self-contained.
        X, adjacency
            The network of the fit; may be omitted while it is in memory.
        **options
            `stability`, as :func:`blockselect.selection_stability` estimates it; `title`, a name for the network; and
            `labels`, known labels of the nodes, which are shown beside the blocks.

        Returns
        -------
        Path
            The path of the page.
        """
        check_page_path(path)  # before the page is made
        return self.show_report(X, adjacency=adjacency, **options).save(path)

    def show_report(
        self,
        X: Any = None,
        *,
        adjacency: Any = None,
        stability: FloatArray | None = None,
        title: str = "the network",
        labels: Any = None,
    ) -> Report:
        """The page of :meth:`report` as an object that a notebook displays."""
        check_is_fitted(self)
        from blockselect.report import make_report  # the only import from a package above: a page on request

        with collected_warnings() as messages:  # warnings about the network, which the page repeats
            graph = self._network_again(X, adjacency)
        return make_report(self, graph, stability=stability, title=title, labels=labels, warnings=messages)

    def _network_again(self: Any, X: Any = None, adjacency: Any = None) -> AttributedGraph:
        """The network of the fit: the arguments, or what `fit` received if it is still in memory."""
        if X is None:
            X, adjacency = self._fitted_to.recall()
        self._refuse_lost_graph(X, adjacency)
        again = copy(self)  # reading the network sets attributes
        graph: AttributedGraph = again._check_graph(
            X, None, adjacency, non_negative=get_tags(self).input_tags.positive_only
        )
        self._refuse_others(again)
        return graph
