"""BlockModelSelector: features whose similarity preserves the blocks of a graph and how they connect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, Options, StrOptions

from blockselect.arrays import FloatArray
from blockselect.blockmodels.candidates import FAMILIES, find_block_models
from blockselect.blockmodels.model import BlockModel, check_block_model
from blockselect.graphs.attributed import AttributedGraph
from blockselect.scoring.descent import DescentResult, descend
from blockselect.scoring.device import check_device, problem_to_device, to_numpy
from blockselect.scoring.gram import DenseGramSquared, SparseGramSquared, gram_form, gram_squared
from blockselect.scoring.losses import Gradient, induced_density
from blockselect.scoring.statistics import BlockStatistics
from blockselect.selectors.base import ScoreSelector
from blockselect.selectors.randomness import generator_from

SPARSITY_GRID = tuple(0.5 * i for i in range(11))  # the paper's values of γ

PAPER: dict[str, Any] = {
    "block_model": "onmtf",
    "n_candidates": 10,
    "guidance": "lowest_error",
    "profile_ratio": 0.6,
    "sparsity": "auto",
    "gradient": "paper",
    "step_size": 0.01,
    "max_iter": 200,
    "tol": 0.0,
    "smoothing": 1e-6,
    "initial_scores": None,
}
"""The settings of Bai, Nguyen and Davidson (KDD 2020): ``BlockModelSelector(64, n_blocks=6, **PAPER)``."""

Gram = DenseGramSquared | SparseGramSquared
Progress = Callable[[str, int, int], None]  # stage, done, of how many


@dataclass(frozen=True, slots=True, eq=False)
class LossHistory:
    """Both losses before each iteration and after the last."""

    reconstruction: FloatArray  # (t + 1,) (paper: L_b)
    profile: FloatArray  # (t + 1,) (paper: L_m)


class BlockModelSelector(ScoreSelector):
    """Select the features that tell the structure of a network, without labels.

    First a block model of the graph, A ≈ F M Fᵀ: which nodes link alike (F), and how densely blocks connect (M). Then
    a score r ≥ 0 for each feature, such that the similarity X diag(r) Xᵀ preserves both. The features with the largest
    scores are kept. This is BMGUFS of Bai, Nguyen and Davidson [1]_, with its gradient corrected by default. It is made
    for graphs whose blocks link within; where they link to others instead, it avoids the features that mark them.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_blocks : int, default=8
        Blocks of the graph. Not read where `block_model` brings its own. (paper: k)
    block_model : {"spectral", "onmtf"}, array of shape (n,) or BlockModel, default="spectral"
        How blocks are found, or the blocks themselves: a label for each node, or a block model. "spectral" clusters
        the leading eigenvectors of the regularised graph; "onmtf" is the paper's factorisation. (paper: F, M)
    n_candidates : int, default=10
        Block models found from different random starts.
    guidance : "lowest_error" or int, default="lowest_error"
        Which candidate guides the scores: the one that fits the graph best, or an index into `candidates_`, which are
        ordered by error.
    profile_ratio : float, default=0.6
        Weight of how blocks connect against how well they fit, 0 to 1. (paper: β̄)
    sparsity : float or "auto", default=0.0
        Weight of the ℓ1 penalty. "auto" solves for the paper's grid 0, 0.5, …, 5 and takes the strongest that keeps
        at least `n_features_to_select` non-zero scores. (paper: γ)
    gradient : {"exact", "paper"}, default="exact"
        "paper" repeats the published gradient of the profile loss, which is not the derivative of that loss.
    step_size : float, default=0.01
        Length of a step. (paper: η)
    max_iter : int, default=200
        Iterations of the descent.
    tol : float, default=1e-5
        Stop once both losses changed by no more than this, relatively, over ten iterations. 0 never stops early.
    smoothing : float, default=1e-6
        Added to densities before their rows are compared. It is absolute: features or link weights so small that
        their block means come near it are drowned by it; scale them up, or lower it. (paper: δ)
    initial_scores : array of shape (m,) or None, default=None
        Start of the descent, used as it is; None is uniform with unit length. (The paper's code starts from ones.)
    n_neighbors : int, default=10
        Neighbours of each node in the graph built from the features where `fit` is given no adjacency.
    device : str, default="cpu"
        Where the descent runs: "cpu" (NumPy), or a torch device such as "cuda". Results are NumPy arrays on any.
    dtype : {"float64", "float32"}, default="float64"
        Float type of the descent.
    memory_limit : float or None, default=None
        Bytes that the squared Gram matrix of the features may take.
    n_jobs : int or None, default=None
        Processes that find spectral candidates. (ONMtF advances all candidates together and needs none.)
    random_state : int, RandomState or None, default=None
        Seeds the candidates: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        Score of each feature, larger is better. An empty column scores 0. (paper: r)
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected. (paper: S)
    n_features_ : int
        How many are selected: fewer than asked for where too few scores are non-zero.
    block_model_ : BlockModel
        The one that guided the scores.
    candidates_ : list of BlockModel
        All that were found, the lowest relative error first.
    induced_density_ : array of shape (k, k)
        Mean similarity of each block pair under the scores. (paper: M̂)
    sparsity_ : float
        The sparsity used.
    history_ : LossHistory
        Both losses by iteration.
    n_iter_ : int
        Iterations made.
    gram_form_ : {"dense", "sparse"}
        How the squared Gram matrix of the features was held.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] Z. Bai, H. Nguyen, I. Davidson. Block Model Guided Unsupervised Feature Selection. KDD 2020.
       https://doi.org/10.1145/3394486.3403173

    Examples
    --------
    >>> from blockselect import BlockModelSelector, load_cora
    >>> cora = load_cora()
    >>> selector = BlockModelSelector(64, n_blocks=7, random_state=0)
    >>> selector.fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "block_model": [StrOptions(set(FAMILIES)), "array-like", BlockModel],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "guidance": [StrOptions({"lowest_error"}), Interval(Integral, 0, None, closed="left")],
        "profile_ratio": [Interval(Real, 0, 1, closed="both")],
        "sparsity": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "gradient": [StrOptions({"exact", "paper"})],
        "step_size": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "initial_scores": [None, "array-like"],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "device": [str],
        "dtype": [StrOptions({"float64", "float32"}), Options(type, {np.float64, np.float32})],
        "memory_limit": [None, Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int = 8,
        block_model: Any = "spectral",
        n_candidates: int = 10,
        guidance: str | int = "lowest_error",
        profile_ratio: float = 0.6,
        sparsity: float | str = 0.0,
        gradient: Gradient = "exact",
        step_size: float = 0.01,
        max_iter: int = 200,
        tol: float = 1e-5,
        smoothing: float = 1e-6,
        initial_scores: Any = None,
        n_neighbors: int = 10,
        device: str = "cpu",
        dtype: Any = "float64",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.block_model = block_model
        self.n_candidates = n_candidates
        self.guidance = guidance
        self.profile_ratio = profile_ratio
        self.sparsity = sparsity
        self.gradient = gradient
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.initial_scores = initial_scores
        self.n_neighbors = n_neighbors
        self.device = device
        self.dtype = dtype
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, adjacency: Any = None, progress: Progress | None = None
    ) -> BlockModelSelector:
        """Score the features of the nodes by the structure of their graph.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, m)
            Non-negative features of the nodes. (paper: Y)
        y : ignored
        adjacency : array or sparse matrix of shape (n, n), edge table, or None
            The graph, one row for each row of X, as :func:`blockselect.check_attributed_graph` takes it. None links
            each node with its nearest neighbours by X. (paper: A)
        progress : callable, optional
            Called as ``progress(stage, done, total)`` while the fit goes on.

        Returns
        -------
        self
        """
        report = progress or (lambda stage, done, total: None)
        graph = self._check_input(X, y, adjacency)
        wanted = self._n_to_select(graph.n_features)
        form = gram_form(graph.features, dtype=self.dtype, memory_limit=self.memory_limit)
        report("block models", 0, 1)
        candidates = self._find_candidates(graph)
        guide = candidates[self._guide()]
        report("block models", 1, 1)
        gram = gram_squared(graph.features, form=form, dtype=self.dtype)
        statistics = BlockStatistics.of(graph.features, [guide], dtype=self.dtype)
        sparsities = SPARSITY_GRID if self.sparsity == "auto" else (float(self.sparsity),)
        result = self._descend(gram, statistics, sparsities, lambda done, total: report("scores", done, total))
        self.candidates_, self.block_model_, self.gram_form_ = candidates, guide, form
        self._keep(result, statistics, sparsities, wanted)
        return self

    def _check_input(self, X: Any, y: Any, adjacency: Any) -> AttributedGraph:
        check_device(self.device)
        self._guide()
        graph = self._check_graph(X, y, adjacency, n_neighbors=self.n_neighbors, dtype=self.dtype)
        if self.initial_scores is not None:
            check_initial_scores(self.initial_scores, graph.n_features, np.dtype(self.dtype))
        return graph

    def _find_candidates(self, graph: AttributedGraph) -> list[BlockModel]:
        if isinstance(self.block_model, BlockModel):
            return [check_block_model(self.block_model, graph.n_nodes)]
        if not isinstance(self.block_model, str):
            return [BlockModel.from_labels(graph.adjacency, self.block_model)]
        return find_block_models(
            graph.adjacency,
            self.n_blocks,
            family=self.block_model,
            n_candidates=self.n_candidates,
            rng=generator_from(self.random_state),
            n_jobs=self.n_jobs,
        )

    def _guide(self) -> int:
        """Which of the candidates, ordered by error, guides the scores."""
        index = 0 if self.guidance == "lowest_error" else int(self.guidance)
        count = self.n_candidates if isinstance(self.block_model, str) else 1
        if index >= count:
            raise ValueError(f"guidance is {index} but there are {count} candidates; choose 0 to {count - 1}.")
        return index

    def _descend(
        self,
        gram: Gram,
        statistics: BlockStatistics,
        sparsities: tuple[float, ...],
        progress: Callable[[int, int], None],
    ) -> DescentResult:
        if self.device != "cpu":
            gram, statistics = problem_to_device(gram, statistics, self.device)
        return descend(
            gram,
            statistics,
            profile_ratio=self.profile_ratio,
            sparsity=sparsities,
            gradient=self.gradient,
            step_size=self.step_size,
            max_iter=self.max_iter,
            tol=self.tol,
            smoothing=self.smoothing,
            initial_scores=self.initial_scores,
            progress=progress,
        )

    def _keep(
        self, result: DescentResult, statistics: BlockStatistics, sparsities: tuple[float, ...], wanted: int
    ) -> None:
        """Of the solves, keep the one with the strongest sparsity that leaves enough features."""
        solves = to_numpy(result.scores)[0]  # (s, m)
        solves[:, statistics.empty_features] = 0
        enough = np.flatnonzero(np.count_nonzero(solves, axis=1) >= wanted)
        at = int(enough[-1]) if len(enough) else 0
        self.sparsity_ = float(sparsities[at])
        self.n_iter_ = int(to_numpy(result.n_iter)[0, at])
        self.history_ = LossHistory(
            to_numpy(result.reconstruction_loss)[0, at, : self.n_iter_ + 1],
            to_numpy(result.profile_loss)[0, at, : self.n_iter_ + 1],
        )
        self.induced_density_ = induced_density(statistics, solves[None, [at]])[0, 0]
        self._select(
            solves[at],
            eligible=solves[at] > 0,
            why_fewer=self._why_fewer(statistics),
        )

    def _why_fewer(self, statistics: BlockStatistics) -> str:
        n_empty = int(statistics.empty_features.sum())
        advice = f"; sparsity {self.sparsity_:g} (γ) drives scores to zero, lower it for more" if self.sparsity_ else ""
        return f"the others score zero, {n_empty} of them since no node has the feature{advice}."

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def check_initial_scores(initial_scores: Any, n_features: int, dtype: np.dtype[Any]) -> None:
    scores = np.asarray(initial_scores, dtype=np.float64)
    if scores.shape != (n_features,):
        raise ValueError(
            f"initial_scores has shape {scores.shape} but there are {n_features} features; give one score each."
        )
    if not (np.isfinite(scores).all() and (scores >= 0).all() and scores.any()):
        raise ValueError("initial_scores must be finite, not negative, and not all zero.")
    limit = float(np.finfo(dtype).max) ** 0.125  # losses hold fourth powers, of features besides
    if scores.max() > limit:
        raise ValueError(
            f"initial_scores reach {scores.max():.3g}, too large for {dtype}; scale them to at most {limit:.3g}."
        )
