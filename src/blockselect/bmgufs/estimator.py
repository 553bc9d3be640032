"""BMGUFS: the feature selection method of Bai, Nguyen and Davidson (KDD 2020), exactly as published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.blockmodels.candidates import find_block_models
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import AS_GIVEN, reason_for_asked
from blockselect.bmgufs.descent import Descent
from blockselect.bmgufs.device import check_device, dense_gram_on_device
from blockselect.bmgufs.gram import MEMORY_LIMIT, GramChoice, GramSquared, choose_form, gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.sums import in_memory
from blockselect.utils._sklearn import Interval, StrOptions, check_parameters, fit_context
from blockselect.utils.arrays import Features, FloatArray
from blockselect.utils.errors import ParameterError, warn_caller
from blockselect.utils.extras import on_request
from blockselect.utils.parameters import generator_from
from blockselect.utils.progress import StepProgress, follow_fit

_NEAR = 10  # the smoothing noticeably changes densities below this multiple of it
SPARSITY_GRID = tuple(0.5 * i for i in range(11))  # the values of γ in the paper


@dataclass(frozen=True, slots=True, eq=False)
class LossHistory:
    """Both losses before each iteration and after the last one."""

    reconstruction: FloatArray  # (t + 1,) (paper: L_b)
    profile: FloatArray  # (t + 1,) (paper: L_m)


class BMGUFS(BlockGuidedSelector):
    """Select features by block model guided unsupervised feature selection, exactly as published.

    First, a block model A ≈ F M Fᵀ of the graph is found [1]_. It describes which nodes have similar connection
    patterns (F) and how densely the blocks connect (M). Then each feature is given a score r ≥ 0 such that the
    similarity X diag(r) Xᵀ preserves both F and M. The features with the largest scores are kept. For better selections
    use :class:`blockselect.BlockModelSelector`.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_blocks : int or None, default=None
        Number of blocks. The paper gives no rule for it, so it is required unless `block_model` is given. (paper: k)
    block_model : (F, M), F, array of shape (n,), Series, dict, list of sets, VertexClustering, BlockModel or None
        Your own blocks. They can be the matrices (F, M) of the paper, with F one-hot of shape (n, k) and M of shape
        (k, k); only F; one label per node, in the order of the rows or by node id (a Series or dict); communities as
        networkx returns them (a list of sets of node ids); an igraph clustering; or a BlockModel. A missing M is
        computed from the graph (theorem 1). By default, blocks are found by non-negative tri-factorisation of the
        graph, and the candidate with the lowest relative error is used. (paper: F, M)
    n_candidates : int, default=10
        Number of block models to find, each from its own random start.
    profile_ratio : float, default=0.6
        Weight of the profile loss (how the blocks connect) relative to the reconstruction loss (how well they fit),
        from 0 to 1. (paper: β̄)
    sparsity : float or "paper", default="paper"
        Weight of the ℓ1 penalty. "paper" tries 0, 0.5, …, 5 and uses the largest value for which at least
        `n_features_to_select` scores are positive. (paper: γ)
    n_neighbors : int or None, default=None
        If `fit` is called without an adjacency, each node is linked to this many nearest neighbours in feature space.
        If None, a missing adjacency is an error.
    solver : Descent or None, default=None
        None stands for the solver of the paper, ``Descent(gradient="paper", tol=0)``: 200 iterations with the published
        gradient.
    device : str, default="cpu"
        Where the descent runs: "cpu" (with NumPy) or a torch device such as "cuda". Results are always NumPy arrays.
    n_jobs : int or None, default=None
        Number of threads that compute the squared Gram matrix of the features. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed for finding the candidates. The same seed gives the same result.
    verbose : int, default=0
        1 shows the progress of a fit in one line if stderr is a terminal or a notebook; 0 shows nothing.

    Attributes
    ----------
    scores_ : array of shape (m,)
        Score of each feature; larger is better. A feature that no node has gets a score of 0. (paper: r)
    ranking_ : array of shape (m,)
        Rank of each feature; 1 is the best. Features with equal scores are ranked by index.
    support_ : boolean array of shape (m,)
        Which features are selected. (paper: S)
    n_features_ : int
        Number of selected features; fewer than requested if too few scores are positive.
    block_model_ : BlockModel
        The block model that guided the scores.
    labels_ : array of shape (n,)
        The block of each node. (paper: F)
    candidates_ : list of BlockModel
        All block models that were found, in order of increasing relative error.
    n_blocks_reason_ : str
        The reason for the number of blocks: "as requested", or "as given" by `block_model`.
    induced_density_ : array of shape (k, k)
        Mean similarity between the nodes of each pair of blocks under the scores. (paper: M̂)
    sparsity_ : float
        The sparsity that was used. (paper: γ)
    history_ : LossHistory
        Both losses per iteration.
    n_iter_ : int
        Number of iterations.
    gram_form_, gram_reason_ : str
        Form of the squared Gram matrix of the features ("dense", "sparse" or "low rank"), and the reason for it.
    graph_source_ : str
        "adjacency" if a graph was passed to `fit`, "features" if nearest neighbours were linked.
    encoding_ : DataFrame or None
        How node attributes were encoded as features, if X was a networkx or igraph graph: one row per attribute, with
        its kind, the number of nodes without a value (n_missing), and its columns.
    network_evidence_ : NetworkEvidence or None
        Whether the selected features are associated with this graph, tested against random permutations of the nodes:
        `p_value`, `autocorrelation` (mean correlation of the selected features between linked nodes) and `is_clear`.
        `fit` warns if there is no clear evidence. None if there was nothing to test, because the graph was built from
        the features or no feature is selected.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] Z. Bai, H. Nguyen, I. Davidson. Block Model Guided Unsupervised Feature Selection. KDD 2020.
       https://doi.org/10.1145/3394486.3403173

    Examples
    --------
    >>> from blockselect import BMGUFS, load_cora
    >>> cora = load_cora()
    >>> selector = BMGUFS(64, n_blocks=7, random_state=0)
    >>> selector.fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **BlockGuidedSelector._parameter_constraints,
        "n_blocks": [None, Interval(Integral, 1, None, closed="left")],
        "block_model": [None, "array-like", "sparse matrix", BlockModel],
        "profile_ratio": [Interval(Real, 0, 1, closed="both")],
        "solver": [None, Descent],
        "device": [str],
        "sparsity": [StrOptions({"paper"}), Interval(Real, 0, None, closed="left")],
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
    }

    _takes_row_chunks = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int | None = None,
        block_model: Any = None,
        n_candidates: int = 10,
        profile_ratio: float = 0.6,
        sparsity: float | Literal["paper"] = "paper",
        n_neighbors: int | None = None,
        solver: Descent | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.block_model = block_model
        self.n_candidates = n_candidates
        self.profile_ratio = profile_ratio
        self.sparsity = sparsity
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    @follow_fit
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, progress: Any = None) -> Self:
        """Score the features of the nodes by the block model of their graph.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or RowChunks of shape (n, m), or graph
            Non-negative features of the nodes. :class:`blockselect.RowChunks` may be larger than memory. A networkx or
            igraph graph provides both the links and the features (its node attributes), as in
            :meth:`blockselect.AttributedGraph.from_networkx`. (paper: Y)
        y : ignored
        adjacency : matrix of shape (n, n), edges, or graph of another library
            The graph whose nodes are the rows of X, in any form that :func:`blockselect.as_adjacency` reads. It can be
            omitted if X is a graph. (paper: A)
        progress : callable, optional
            Called as ``progress(stage, done, total)`` during the fit.

        Returns
        -------
        self
        """
        graph = self._read_network(X, y, adjacency)
        self._note_input(X, adjacency, graph)
        solver, n_wanted = self._solver(), self._n_to_select(graph.n_features)
        gram, choice = self._gram(graph.features)
        self.gram_form_, self.gram_reason_ = choice.form, choice.reason
        self.candidates_, self.n_blocks_reason_ = self._find_block_models(graph, partial(progress, "block models"))
        self.block_model_ = self.candidates_[0]  # lowest ‖A − F M Fᵀ‖ / ‖A‖
        self.labels_ = self.block_model_.labels
        statistics = BlockStatistics.of(graph.features, [self.block_model_], dtype=solver.float_type)
        self._warn_of_smoothing(statistics)
        grid = SPARSITY_GRID if self.sparsity == "paper" else (float(self.sparsity),)
        solution = solver.solve(
            gram,
            statistics,
            profile_ratio=self.profile_ratio,
            sparsity=grid,
            device=self.device,
            progress=partial(progress, "scores"),
        )
        chosen = strongest_that_leaves(solution.scores[0], n_wanted)
        self.sparsity_, scores = grid[chosen], solution.scores[0, chosen]
        self.n_iter_ = int(solution.n_iter[0, chosen])
        self.history_ = LossHistory(
            solution.reconstruction_loss[0, chosen, : self.n_iter_ + 1],
            solution.profile_loss[0, chosen, : self.n_iter_ + 1],
        )
        if not solution.settled[0, chosen]:
            self._warn_of_unsettled_scores()
        self._select(scores, why_fewer=self._why_fewer(statistics))
        self.induced_density_ = statistics.induced_density(scores[None, None])[0, 0]
        self._warn_of_constant(graph.features)
        self.network_evidence_ = self._evidence(graph, self.labels_ if self.block_model is None else None)
        explained = on_request("consensus.explained_curve").explained_of_model(self, graph)
        return self._keep_result(graph, explained)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the solver, such as ``solver__max_iter``, even if `solver` is None."""
        if "solver" not in params and any(name.startswith("solver__") for name in params):
            self.solver = self._solver()
        super().set_params(**params)
        return self

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        """Check the settings, the graph and the features before any computation."""
        self._check_combinations()
        solver = self._solver()
        check_parameters(solver)
        if self.device != "cpu":
            check_device(self.device)
        solver.check_settings_on(self.device)
        graph = self._check_graph(X, y, adjacency, dtype=solver.float_type)
        solver.check_initial_scores(graph.n_features)
        return graph

    def _solver(self) -> Descent:
        return Descent(gradient="paper", tol=0.0) if self.solver is None else self.solver

    def _gram(self, features: Features) -> tuple[GramSquared, GramChoice]:
        """The squared Gram matrix of the features, and the reason for its form; dense forms are made on the device."""
        solver, on_device = self._solver(), self.device != "cpu"
        shared: dict[str, Any] = {"dtype": solver.float_type, "memory_limit": solver.memory_limit or MEMORY_LIMIT}
        choice = choose_form(features, **shared, on_device=on_device)
        if on_device and choice.form == "dense" and in_memory(features):
            return dense_gram_on_device(features, dtype=solver.float_type, device=self.device), choice
        return gram_squared(features, **shared, form=choice.form, n_jobs=self.n_jobs), choice

    def _find_block_models(self, graph: AttributedGraph, progress: StepProgress) -> tuple[list[BlockModel], str]:
        """The candidates, best first, or the given block model; and the reason for the number of blocks."""
        progress(0, 1)
        if self.block_model is not None:
            models, reason = [self._given_block_model(graph)], AS_GIVEN
        else:
            assert self.n_blocks is not None  # see `_check_combinations`
            models = find_block_models(
                graph,
                self.n_blocks,
                family="onmtf",
                n_candidates=self.n_candidates,
                rng=generator_from(self.random_state),
                n_jobs=self.n_jobs,
                progress=progress,
            )
            reason = reason_for_asked(models[0].n_blocks, self.n_blocks)
        progress(1, 1)
        return models, reason

    def _warn_of_unsettled_scores(self) -> None:
        solver = self._solver()
        warn_caller(
            f"the scores had not converged after {solver.max_iter} iterations: the relative change of a loss over the "
            f"last ten exceeds tol={solver.tol:g}. Increase max_iter or tol of the solver, or set tol=0 to always run "
            "max_iter iterations.",
            ConvergenceWarning,
        )

    def _why_fewer(self, statistics: BlockStatistics) -> str:
        """Why fewer features than requested can be selected, for the warning."""
        n_empty = int(np.count_nonzero(statistics.empty_features))
        advice = f"; a sparsity (γ) below {self.sparsity_:g} leaves more positive scores" if self.sparsity_ else ""
        return f"all other features score zero, {n_empty} of them because no node has the feature{advice}."

    def _warn_of_smoothing(self, statistics: BlockStatistics) -> None:
        """Warn if densities are so small that the smoothing δ, an absolute number, changes the result."""
        smoothing, sizes = self._solver().smoothing, statistics.block_sizes[0]
        share = sizes / sizes.sum()
        means = share @ statistics.block_means[0]  # over all nodes; the similarity assumes equal scores
        for what, mean, scaled in (
            ("mean link weight of two nodes", float(share @ statistics.density[0] @ share), "link weights"),
            ("mean similarity of two nodes", float(means @ means) / len(means) ** 0.5, "features"),
        ):
            if mean < _NEAR * smoothing:
                warn_caller(
                    f"the {what} is {mean:.2g}, close to the smoothing of {smoothing:g} (δ), which affects the result; "
                    f"multiply the {scaled} by a constant, or reduce the smoothing with "
                    "set_params(solver__smoothing=…).",
                    UserWarning,
                )

    def _check_combinations(self) -> None:
        if self.block_model is None and self.n_blocks is None:
            raise ParameterError(
                "n_blocks",
                "is not given, and the paper has no rule for it; choose a number, or pass your blocks as block_model.",
            )

    def _without_effect(self) -> dict[str, str]:
        if self.block_model is None:
            return {}
        return dict.fromkeys(("n_blocks", "n_candidates"), "the blocks are given as block_model")


def strongest_that_leaves(scores: FloatArray, n_wanted: int) -> int:
    """Index of the largest sparsity with at least `n_wanted` positive scores; 0 if there is none.

    `scores` (s, m) are the scores for s sparsities in increasing order.
    """
    enough = np.flatnonzero(np.count_nonzero(scores, axis=1) >= n_wanted)
    return int(enough[-1]) if len(enough) else 0
