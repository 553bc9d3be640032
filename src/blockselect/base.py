"""ScoreSelector: the base class that turns scores into a ranking and a selection, as scikit-learn expects."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from blockselect.inputs.adjacency import graph_of
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.inputs.features import CheckedTable, as_feature_table, check_feature_table, refuse_graph_as_target
from blockselect.inputs.kinds import CONNECTIVITIES, is_anndata, is_attributed_graph, is_igraph, is_networkx
from blockselect.result import Result
from blockselect.rows.chunks import RowChunks
from blockselect.rows.statistics import constant_columns
from blockselect.rows.sums import in_memory, jobs_for
from blockselect.utils._sklearn import Interval
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, ObjectArray, Sparse, best_first
from blockselect.utils.errors import warn_caller
from blockselect.utils.extras import on_request
from blockselect.utils.parameters import check_page_path, check_within
from blockselect.utils.progress import Progress, no_progress
from blockselect.utils.threads import one_thread

if TYPE_CHECKING:
    from pathlib import Path

    from blockselect.inspection.evidence import NetworkEvidence
    from blockselect.report import Report


class ScoreSelector(SelectorMixin, BaseEstimator):
    """Base class of selectors that score every feature and keep the features with the largest scores.

    A subclass computes the scores in `fit` and passes them to `_select`. Its method `_read_network` checks the input of
    `fit` and converts it to an AttributedGraph; `selection_stability` calls it before it resamples the links.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012  (scikit-learn's contract)
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
    }

    _result: Result
    _network_warnings: list[str]  # warnings of `fit`, which the report repeats
    n_neighbors: Any  # parameter of selectors that use a graph: int or None
    _default_neighbors: int | None = None  # used for n_neighbors=None, with a warning
    _takes_row_chunks = False  # whether `fit` needs only sums over the rows of the features

    # Scores → ranking → selection

    def _n_to_select(self, n_features: int) -> int:
        """The number of features to select: as given, as a share of the features (at least one), or half of them."""
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        if isinstance(wanted, Integral):
            check_within("n_features_to_select", int(wanted), n_features, f"there are {n_features} features")
            return int(wanted)
        return max(1, int(wanted * n_features))

    def _is_eligible(self, scores: FloatArray) -> BoolArray:
        """Features that may be selected: (m,)."""
        return scores > 0

    def _select(
        self, scores: FloatArray, *, why_fewer: str, order: IntArray | None = None, wanted: int | None = None
    ) -> None:
        """Set `scores_`, `ranking_` and `support_`: select the first eligible features of the given order.

        By default, features are ordered by decreasing score, with ties broken by index, and `n_features_to_select`
        gives the number wanted. If fewer are eligible, a warning gives the reason `why_fewer`.
        """
        wanted = self._n_to_select(len(scores)) if wanted is None else wanted
        eligible = self._is_eligible(scores)
        order = best_first(scores) if order is None else order
        order = np.concatenate([order[eligible[order]], order[~eligible[order]]])
        chosen = order[: min(wanted, np.count_nonzero(eligible))]
        if len(chosen) < wanted:
            warn_caller(
                f"only {len(chosen)} of the {wanted} requested features can be selected: {why_fewer}",
                ConvergenceWarning,
            )
        self._rank(scores, order)
        self.support_ = np.zeros(len(scores), dtype=bool)
        self.support_[chosen] = True
        self.n_features_ = len(chosen)

    def _rank(self, scores: FloatArray, order: IntArray) -> None:
        """Set `scores_` and `ranking_`; `order` lists the features, best first."""
        self.scores_ = scores
        self.ranking_ = np.empty(len(scores), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(scores) + 1)

    def _selected_in_order(self) -> IntArray:
        """The columns of the selected features, best first; they need not have the highest scores."""
        by_rank: IntArray = np.argsort(self.ranking_)
        return by_rank[self.support_[by_rank]]

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Return the selected features of X as a matrix; ``adata[:, selector.get_support()]`` keeps an AnnData."""
        return self._read_matrix(X, super().transform)

    def _read_matrix(self, X: Any, read: Callable[[Any], Any]) -> Any:
        """Call a function on X or, if X is an AnnData or a graph with the features used in `fit`, on its matrix."""
        check_is_fitted(self)
        if isinstance(X, RowChunks):
            raise ValueError(
                "X is of type RowChunks; transform or predict each chunk separately, as in "
                "[selector.transform(chunk) for chunk in X]."
            )
        if not (is_anndata(X) or is_networkx(X) or is_igraph(X) or is_attributed_graph(X)):
            return read(X)
        table = as_feature_table(X)
        known, given = getattr(self, "feature_names_in_", None), table.feature_names
        if known is not None and given is not None and list(given) != list(known):
            raise ValueError(
                f"the {type(X).__name__} does not have the features used in `fit`; pass the same genes, or a "
                "graph with the same attributes and values."
            )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were compared above
            return read(table.matrix)

    # The input of `fit`

    def _check_graph(
        self, X: Any, y: Any, adjacency: Any, *, dtype: Any = np.float64, non_negative: bool = True
    ) -> AttributedGraph:
        """Check and convert the network and its features, before any computation."""
        self._warn_of_idle_parameters()
        adjacency = graph_of(X, adjacency)
        table = self._check_features(X, y, dtype=dtype, non_negative=non_negative)
        graph = check_attributed_graph(table, adjacency, n_neighbors=self._neighbors_to_link(), dtype=dtype)
        if adjacency is None and self.n_neighbors is None:
            warn_caller(self._no_graph_warning(X), UserWarning)
        return graph

    def _check_features(
        self, X: Any, y: Any, *, graph: str = "adjacency", dtype: Any = np.float64, non_negative: bool = True
    ) -> CheckedTable:
        """Check and convert the features; names are dropped unless all of them are text.

        `graph` is the parameter of `fit` that takes the graph; errors name it if `y` appears to be a graph.
        """
        if isinstance(X, RowChunks) and not self._takes_row_chunks:
            raise ValueError(
                f"{type(self).__name__} needs the features of individual nodes, which row chunks do not provide; use "
                "BlockModelSelector or BMGUFS, or pass some of the features as a matrix in memory."
            )
        table = check_feature_table(X, dtype=dtype, non_negative=non_negative)
        if y is not None:
            refuse_graph_as_target(y, table.matrix.shape[0], name=graph)
        if isinstance(X, pd.DataFrame):
            probe = BaseEstimator()  # scikit-learn decides whether the column labels count as names
            validate_data(probe, X, skip_check_array=True)
            if not hasattr(probe, "feature_names_in_"):
                return replace(table, feature_names=None)
        return table

    def _note_input(self, X: Any, adjacency: Any, graph: AttributedGraph) -> None:
        """Set the attributes of the input: `n_features_in_`, `feature_names_in_`, `graph_source_` and `encoding_`."""
        self._note_features(graph.feature_names, graph.n_features)
        is_made = graph_of(X, adjacency) is None
        self.graph_source_ = "features" if is_made else "adjacency"
        self.encoding_ = graph.encoding
        self._network_warnings = [self._no_graph_warning(X)] if is_made and self.n_neighbors is None else []

    def _note_features(self, names: ObjectArray | None, n_features: int) -> None:
        """Set `n_features_in_` and `feature_names_in_`."""
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _neighbors_to_link(self) -> int | None:
        """Number of neighbours per node in a graph built from the features; None if a missing graph is an error."""
        return self._default_neighbors if self.n_neighbors is None else int(self.n_neighbors)

    def _no_graph_warning(self, X: Any) -> str:
        """The warning that the graph was built from the features."""
        has_graph = is_anndata(X) and CONNECTIVITIES in X.obsp
        known = f" (this AnnData has one: adjacency={CONNECTIVITIES!r})" if has_graph else ""
        return (
            f"fit was given no adjacency, so each node is linked to its {self._default_neighbors} nearest nodes, "
            "determined from the same features that are to be ranked. Pass the graph: "
            f"fit(X, adjacency=graph){known}, in a pipeline with set_fit_request(adjacency=True); or set n_neighbors "
            "if this is intended."
        )

    def _warn_of_idle_parameters(self) -> None:
        """Warn about parameters that were set but have no effect in combination with the others."""
        defaults = signature(type(self)).parameters
        for name, why in self._without_effect().items():
            value = getattr(self, name)
            if value is not defaults[name].default and value != defaults[name].default:
                warn_caller(f"{name} is {value!r}, which has no effect: {why}; leave one of them out.", UserWarning)

    def _without_effect(self) -> dict[str, str]:
        """Parameters that have no effect in combination with the other settings, with the reason."""
        return {}

    # Warnings and tests after a fit

    def _warn_of_constant(self, features: Features) -> None:
        """Warn if constant features are selected, as some methods do; they carry no information."""
        chosen = np.flatnonzero(self.support_)
        if not in_memory(features) or not len(chosen):
            return
        constant = chosen[constant_columns(features[:, chosen])]
        if len(constant):
            warn_caller(
                f"{len(constant)} of the selected features are constant over nodes, the first in column {constant[0]}. "
                "They carry no information; remove them, for example with VarianceThreshold().",
                UserWarning,
            )

    def _evidence(self, graph: AttributedGraph, blocks: IntArray | None = None) -> NetworkEvidence | None:
        """Test whether the selected features are associated with the graph, and warn if there is no evidence.

        `blocks` (n,) are blocks of the nodes that were found without the features, if there are any. The result is None
        if there is nothing to test: no links, no selected features, or a graph that was built from the features.
        """
        chosen = np.flatnonzero(self.support_)
        has_links = graph.n_links > graph.n_self_loops
        made = self.graph_source_ == "features" or graph.origin is not None
        if made or not (has_links and len(chosen)):
            return None
        from blockselect.inspection.evidence import (
            network_evidence,  # here, because Numba takes half a second to import
        )

        found = network_evidence(graph.features, graph.adjacency, chosen, blocks, getattr(self, "n_jobs", None))
        if not found.is_clear:
            warn_caller(
                "there is no evidence that the selected features are associated with this graph: selections on "
                f"graphs with randomly permuted nodes fit equally well (p = {found.p_value:.2g}). Are the rows of X "
                "in the order of the nodes of the graph?",
                UserWarning,
            )
        return found

    # Fits to other graphs of the same nodes, for the stability of a selection

    def _n_resamples(self, asked: int) -> int:
        """The number of resampled graphs that are used when `asked` graphs are requested."""
        return asked

    def _inverse_ranks_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        progress: Progress = no_progress,
    ) -> FloatArray:
        """1 / rank of each feature on other graphs of the same nodes, from one fit per graph: (b, m).

        Ranks do not depend on the location or scale of the scores. Features that could not be selected get 0.
        """
        del rngs  # each fit is seeded by its own random_state
        verbose = [name for name in self.get_params() if name.split("__")[-1] == "verbose"]
        quiet = clone(self).set_params(**dict.fromkeys(verbose, 0))  # the caller shows the progress of all fits
        fits = ((clone(quiet), graph.features, adjacency) for adjacency in adjacencies)
        progress("resampling", 0, len(adjacencies))
        n_jobs = jobs_for(graph.features, getattr(self, "n_jobs", None))
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        found = parallel(delayed(_inverse_ranks)(*fit) for fit in fits)
        ranks = []
        with one_thread():  # one limit for all fits, because it applies to the whole process
            for done, one in enumerate(found, start=1):
                ranks.append(one)
                progress("resampling", done, len(adjacencies))
        return np.array(ranks)

    # The report

    @property
    def _fit_result(self) -> Result:
        """The record of the network that `fit` stored."""
        check_is_fitted(self)
        if not hasattr(self, "_result"):
            raise ValueError(
                f"this {type(self).__name__} was fitted by an older version of blockselect, which did not keep the "
                "names and counts that tables, plots and reports show; fit it again."
            )
        return self._result

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a page about the selection: the features, where they occur, what they explain, and how they were found.

        Parameters
        ----------
        path : str or Path
            The file to write, whose name must end in .html. The page is self-contained.
        **options
            `stability`, the result of :func:`blockselect.selection_stability`; `title`, a name for the network; and
            `labels`, known labels of the nodes, which are shown next to the blocks.

        Returns
        -------
        Path
            The path of the page.
        """
        check_page_path(path)  # before the page is made
        return self.show_report(**options).save(path)

    def show_report(
        self, *, stability: FloatArray | None = None, title: str = "the network", labels: Any = None
    ) -> Report:
        """The page of :meth:`report` as an object that a notebook displays."""
        check_is_fitted(self)
        warnings = getattr(self, "_network_warnings", ())
        page: Report = on_request("report").make_report(
            self, stability=stability, title=title, labels=labels, warnings=warnings
        )
        return page

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _inverse_ranks(selector: ScoreSelector, features: Features, adjacency: Sparse) -> FloatArray:
    """1 / rank of each feature, or 0 if the feature could not be selected: (m,)."""
    fitted = selector.fit(features, adjacency=adjacency)
    return np.where(fitted._is_eligible(fitted.scores_), 1 / fitted.ranking_, 0.0)
