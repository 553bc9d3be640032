"""DescentSelector: what BMGUFS and the default share: a graph at the gate, a solver, and the losses it leaves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from blockselect._sklearn import N_JOBS, Interval, check_parameters
from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.base import Progress, ScoreSelector, no_progress
from blockselect.blockmodels.model import BlockModel, check_block_model
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.descent import Descent, Solution
from blockselect.bmgufs.descent import Progress as DescentProgress
from blockselect.bmgufs.device import dense_gram_on_device
from blockselect.bmgufs.gram_squared import GramSquared, choose_form, gram_squared
from blockselect.bmgufs.losses import induced_density
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.node_labels import labels_by_id
from blockselect.graphs.row_chunks import RowChunks
from blockselect.tensors import check_device
from blockselect.warned import collected_warnings, warn_caller
from blockselect.weak_network import WeakNetwork
from blockselect.wording import feature_labels

if TYPE_CHECKING:
    from blockselect.report import Report


@dataclass(frozen=True, slots=True, eq=False)
class LossHistory:
    """Both losses before each iteration and after the last."""

    reconstruction: FloatArray  # (t + 1,) (paper: L_b)
    profile: FloatArray  # (t + 1,) (paper: L_m)


class DescentSelector(ScoreSelector):
    """Base of selectors whose scores a `Descent` finds.

    A subclass has the parameters `block_model`, `profile_ratio`, `n_neighbors`, `solver` and `device`, and says in
    `_default_solver` what `solver=None` stands for.
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "profile_ratio": [Interval(Real, 0, 1, closed="both")],
        "solver": [None, Descent],
        "device": [str],
        "n_jobs": [None, *N_JOBS],
        "random_state": ["random_state"],
    }

    solver: Descent | None

    @staticmethod
    @abstractmethod
    def _default_solver() -> Descent:
        """The solver that `solver=None` stands for."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__max_iter`` and the like reach into the solver, the default one included."""
        if self.solver is None and "solver" not in params and any(name.startswith("solver__") for name in params):
            self.solver = self._default_solver()
        super().set_params(**params)
        return self

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        """Whatever may be wrong with the network, the features or the settings is found here, before any work."""
        self._check_combinations()
        solver = self._solver()
        check_parameters(solver)
        if self.device != "cpu":
            check_device(self.device)
        solver.check_device(self.device)
        graph = self._check_graph(X, y, adjacency, dtype=solver.float_type)
        solver.check(graph.n_features)
        return graph

    def _remember(self, X: Any, adjacency: Any) -> Self:
        """Know the network again for as long as the caller keeps it; nothing is kept alive."""
        self._fitted_to = WeakNetwork(X, adjacency)
        return self

    def table(self, X: Any = None) -> pd.DataFrame:
        """Every feature in a row, in the order of the columns: what it scores, and which block it marks.

        Parameters
        ----------
        X : features of the nodes, optional
            As they were passed to `fit`; may be left out while they are in memory.

        Returns
        -------
        DataFrame
            The columns feature, score, rank (1 is the best), selected, marked_block (the block in which it is most
            surely more common than elsewhere; missing where there is none), lift (its mean there over the mean of all
            nodes) and prevalence (share of nodes that have it).
        """
        from blockselect.inspection.markers import block_markers

        check_is_fitted(self)
        if X is None:
            X, _ = self._fitted_to.recall()
        markers = block_markers(self._features_again(X), self.labels_)
        named = feature_labels(getattr(self, "feature_names_in_", None), len(self.scores_))
        blocks = pd.array(markers.marked_block, dtype="Int64")
        blocks[markers.marked_block < 0] = pd.NA
        return pd.DataFrame(
            {
                "feature": named,
                "score": self.scores_,
                "rank": self.ranking_,
                "selected": self.support_,
                "marked_block": blocks,
                "lift": markers.marked_lift,
                "prevalence": markers.prevalence,
            }
        )

    def report(self, path: str | Path, X: Any = None, *, adjacency: Any = None, **options: Any) -> Path:
        """Write a page about the selection: which features, what marks each block, how sure, how it was made.

        Parameters
        ----------
        path : str or Path
            The HTML file. It needs no other file and no network.
        X, adjacency
            As they were passed to `fit`; may be left out while they are in memory.
        **options
            `stability`, as :func:`blockselect.selection_stability` estimates it, and `title`, a name for the network.

        Returns
        -------
        Path
            Where the page is.
        """
        return self.show_report(X, adjacency=adjacency, **options).save(path)

    def show_report(
        self,
        X: Any = None,
        *,
        adjacency: Any = None,
        stability: FloatArray | None = None,
        title: str = "the network",
    ) -> Report:
        """The page of :meth:`report` as an object that a notebook shows by itself."""
        check_is_fitted(self)
        from blockselect.report import make_report  # above this package: only when asked for

        with collected_warnings() as messages:  # of the network; the page repeats them
            graph = self._network_again(X, adjacency)
        return make_report(self, graph, stability=stability, title=title, warnings=messages)

    def _network_again(self, X: Any = None, adjacency: Any = None) -> AttributedGraph:
        """The network of the fit, from what is passed as it was to `fit`, or from what is still in memory."""
        if X is None:
            X, adjacency = self._fitted_to.recall()
        self._refuse_lost_graph(adjacency)
        again = copy(self)  # reading sets attributes
        graph = again._check_graph(X, None, adjacency)
        self._refuse_others(again)
        return graph

    def _solver(self) -> Descent:
        return self._default_solver() if self.solver is None else self.solver

    def _gram(self, graph: AttributedGraph) -> GramSquared:
        """The squared Gram matrix of the features, in the form that suits them."""
        solver = self._solver()
        choice = choose_form(
            graph.features,
            dtype=solver.float_type,
            memory_limit=solver.memory_limit,
            on_device=self.device != "cpu",
        )
        self.gram_form_, self.gram_reason_ = choice.form, choice.reason
        if self.device != "cpu" and choice.form == "dense" and not isinstance(graph.features, RowChunks):
            return dense_gram_on_device(graph.features, dtype=solver.float_type, device=self.device)
        return gram_squared(
            graph.features,
            form=choice.form,
            dtype=solver.float_type,
            memory_limit=solver.memory_limit,
            n_jobs=self.n_jobs,
        )

    def _solve(
        self,
        gram: GramSquared,
        statistics: BlockStatistics,
        progress: DescentProgress | None = None,
        *,
        sparsity: tuple[float, ...] = (0.0,),
    ) -> Solution:
        """Scores of every block model for every sparsity."""
        solver = copy(self._solver())
        solver.smoothing = self._smoothing(statistics.mean_similarity)
        return solver.solve(
            gram,
            statistics,
            profile_ratio=self.profile_ratio,
            sparsity=sparsity,
            device=self.device,
            progress=progress,
        )

    def _smoothing(self, mean: float) -> float:
        """What is added to densities of this mean before their rows are compared: that of the solver, as it is."""
        del mean
        return self._solver().smoothing

    def _given_block_model(self, graph: AttributedGraph) -> BlockModel:
        """The blocks that the user brought, as a block model of this graph."""
        if isinstance(self.block_model, BlockModel):
            return check_block_model(self.block_model, graph.n_nodes)
        return BlockModel.from_labels(graph.adjacency, labels_by_id(self.block_model, graph.node_ids))

    def _keep_losses(self, solution: Solution, sparsity: int = 0) -> None:
        """Set `n_iter_` and `history_` to those of the first block model at one of the sparsities."""
        self.n_iter_ = int(solution.n_iter[0, sparsity])
        losses = (solution.reconstruction_loss, solution.profile_loss)
        self.history_ = LossHistory(*(loss[0, sparsity, : self.n_iter_ + 1] for loss in losses))
        solver = self._solver()
        if not solution.settled(solver)[:, sparsity].all():
            warn_caller(
                f"the scores had not settled after {solver.max_iter} iterations: within the last ten a loss changed by "
                f"more than tol={solver.tol:g} of itself; raise max_iter or tol of the solver, or set tol=0 for a path "
                "of fixed length.",
                ConvergenceWarning,
            )

    def _select_scores(self, statistics: BlockStatistics, scores: FloatArray, order: IntArray | None = None) -> None:
        """Select the largest non-zero scores, or the first of an order, and set the density that all scores induce."""
        n_empty = int(np.count_nonzero(statistics.empty_features))
        why = f"the others score zero, {n_empty} of them since no node has the feature{self._advice_for_more()}."
        self._select(scores, eligible=scores > 0, why_fewer=why, order=order)
        self._keep_induced_density(statistics, scores)

    def _keep_induced_density(self, statistics: BlockStatistics, scores: FloatArray) -> None:
        self.induced_density_ = induced_density(statistics.models(slice(1)), scores[None, None])[0, 0]

    def _scores_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        report: Progress = no_progress,
    ) -> FloatArray:
        """By a fit to each graph. The blocks of a given block model stay; its densities are those of each graph."""
        if not isinstance(self.block_model, BlockModel):
            return super()._scores_on(graph, adjacencies, rngs, report)
        by_labels: Self = clone(self).set_params(block_model=self.block_model.labels)
        return by_labels._scores_on(graph, adjacencies, rngs, report)

    @abstractmethod
    def _advice_for_more(self) -> str:
        """What to change for more non-zero scores, if anything."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
