"""BlockModelSelector: features whose similarity preserves the blocks of a graph and how they connect."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, Options, StrOptions

from blockselect.base import ScoreSelector
from blockselect.blockmodels.candidates import FAMILIES
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.gram_squared import gram_form
from blockselect.bmgufs.losses import Gradient
from blockselect.consensus.guidance import Guidance, Progress
from blockselect.consensus.steps import BlockModelSteps
from blockselect.consensus.weights import EVIDENCE
from blockselect.inspection.false_discoveries import MIN_ROUNDS
from blockselect.inspection.reselection import MIN_RESAMPLES
from blockselect.randomness import generator_from

PAPER: dict[str, Any] = {
    "block_model": "onmtf",
    "n_candidates": 10,
    "guidance": "lowest_error",
    "joint": False,
    "profile_target": "density",
    "profile_ratio": 0.6,
    "sparsity": "paper",
    "binarize": False,
    "refine": False,
    "gradient": "paper",
    "step_size": 0.01,
    "max_iter": 200,
    "tol": 0.0,
    "smoothing": 1e-6,
    "initial_scores": None,
}
"""The settings of Bai, Nguyen and Davidson (KDD 2020): ``BlockModelSelector(64, n_blocks=6, **PAPER)``."""

_NOT_ALWAYS = ("criteria_", "stability_", "p_values_", "q_values_", "refinement_")  # attributes of some settings alone


class BlockModelSelector(BlockModelSteps):
    """Select the features that tell the structure of a network, without labels.

    First block models of the graph, A ≈ F M Fᵀ: which nodes link alike (F), and how densely blocks connect (M). Then
    a score r ≥ 0 for each feature, such that the similarity X diag(r) Xᵀ preserves both. The features with the largest
    scores are kept. This is BMGUFS of Bai, Nguyen and Davidson [1]_; with ``**PAPER`` it is exactly that.

    The default chooses all it needs without labels. Many candidates are found in several ways; blocks and features
    improve each other; the candidates that tell most of links and features vote on the scores; and a feature's score
    is weighed by the evidence that it has to do with the graph at all. Each step can be switched off.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. "auto" keeps those whose match
        with the graph stands out from random matchings, see `false_discovery_rate`. (paper: d)
    n_blocks : int or "auto", default="auto"
        Blocks of the graph. "auto": as many as the graph gives evidence of, 2 to 12. Not read where `block_model`
        brings its own. (paper: k)
    block_model : str, array of shape (n,) or BlockModel, default="mixed"
        How blocks are found, or the blocks themselves: a label for each node, or a block model. "mixed" takes the
        families "spectral", "two_hop", "smoothed", "normalized", "onmtf" (the paper's) and "adjacency" in turn;
        "leiden" needs an extra package. See :func:`blockselect.find_block_models`. (paper: F, M)
    n_candidates : int, default=24
        Block models found from different random starts.
    guidance : "consensus", "lowest_error" or int, default="consensus"
        Which candidates guide the scores: the quarter that tells most of links and features, together; the one that
        fits the graph best, as in the paper; or an index into `candidates_`, which are ordered by error.
    joint : bool, default=True
        Whether blocks follow the features that follow them: nodes move to the block that best explains both their
        links and their features. Only with ``guidance="consensus"``, and never for blocks that were given.
    evidence : {"blocks and links", "blocks", "none"}, default="blocks and links"
        What a consensus weighs scores by: how surely the blocks tell of a feature, and the feature of links; the
        former alone; or nothing. Features that tell of links count only where linked nodes share them, so on graphs
        whose blocks link to others the blocks alone have a say.
    profile_target : {"reflected", "density"}, default="reflected"
        What the similarity of blocks should follow: how alike they link, |F M Fᵀ|, or how densely, F M Fᵀ, as in the
        paper. Both are the same where blocks link within. Where they link to others instead, no similarity can follow
        the density, and the paper's choice avoids the very features that mark the blocks.
    profile_ratio : float, default=0.6
        Weight of how blocks connect against how well they fit, 0 to 1. (paper: β̄)
    sparsity : float, "auto" or "paper", default=0.0
        Weight of the ℓ1 penalty. "auto" takes the mean of the scores at 0, 0.5 and 1; "paper" solves for the paper's
        grid 0, 0.5, …, 5 and takes the strongest that leaves `n_features_to_select` features a score. (paper: γ)
    binarize : bool or "auto", default="auto"
        Whether to look only at which features a node has, not at their values. "auto": where they are counts, more
        than half of them zero. A few large counts would else lead every similarity.
    refine : bool, default=False
        Whether to swap selected features for others while the losses of the selected set itself fall.
    redundancy, coverage : float, default=0.0 and 1.0
        Weights, in `refine`, of selected features that repeat each other, and of nodes left without any of them.
    false_discovery_rate : float, default=0.1
        For ``n_features_to_select="auto"``: of the features kept, on average at most this share have nothing to do
        with the graph.
    n_null : int, default=50
        For ``n_features_to_select="auto"``: random matchings of features and nodes to compare with.
    n_resamples : int, default=8
        Resampled graphs from which the consensus tells `stability_`, at least 3; 0: none.
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
        Processes or threads that find and improve candidates. The result is the same for any number.
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
    stability_ : array of shape (m,)
        With ``guidance="consensus"`` and `n_resamples`: the estimated chance that a feature would be selected again on
        a resampled graph, by its score: it does not say that the feature is true, and speaks of neither discoveries
        nor refined sets.
    p_values_, q_values_ : arrays of shape (m,)
        With ``n_features_to_select="auto"``: how often a random matching stands out as far as the feature does, and
        the lowest `false_discovery_rate` at which it would be kept.
    block_model_ : BlockModel
        The one that guided the scores; of a consensus the best.
    candidates_ : list of BlockModel
        All that were found, the lowest relative error first.
    criteria_ : DataFrame
        With ``guidance="consensus"``, a row for each candidate: its family, blocks, relative error, evidence in nats
        as found and as improved, and whether it voted.
    induced_density_ : array of shape (k, k)
        Mean similarity of each block pair under the scores. (paper: M̂)
    sparsity_ : float
        The sparsity used; of "auto" the mean.
    refinement_ : Refinement
        With `refine`: the objective by swap.
    history_ : LossHistory
        Both losses by iteration, of `block_model_` as it voted.
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
    >>> selector = BlockModelSelector(64, n_candidates=6, n_resamples=0, random_state=0)
    >>> selector.fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_features_to_select": [*ScoreSelector._parameter_constraints["n_features_to_select"], StrOptions({"auto"})],
        "n_blocks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "block_model": [StrOptions(set(FAMILIES)), "array-like", BlockModel],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "guidance": [StrOptions({"consensus", "lowest_error"}), Interval(Integral, 0, None, closed="left")],
        "joint": ["boolean"],
        "evidence": [StrOptions(set(EVIDENCE))],
        "profile_target": [StrOptions({"reflected", "density"})],
        "profile_ratio": [Interval(Real, 0, 1, closed="both")],
        "sparsity": [StrOptions({"auto", "paper"}), Interval(Real, 0, None, closed="left")],
        "binarize": [StrOptions({"auto"}), "boolean"],
        "refine": ["boolean"],
        "redundancy": [Interval(Real, 0, None, closed="left")],
        "coverage": [Interval(Real, 0, None, closed="left")],
        "false_discovery_rate": [Interval(Real, 0, 1, closed="neither")],
        "n_null": [Interval(Integral, MIN_ROUNDS, None, closed="left")],
        "n_resamples": [Options(Integral, {0}), Interval(Integral, MIN_RESAMPLES, None, closed="left")],
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
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        n_blocks: int | Literal["auto"] = "auto",
        block_model: Any = "mixed",
        n_candidates: int = 24,
        guidance: str | int = "consensus",
        joint: bool = True,
        evidence: str = "blocks and links",
        profile_target: Literal["reflected", "density"] = "reflected",
        profile_ratio: float = 0.6,
        sparsity: float | Literal["auto", "paper"] = 0.0,
        binarize: bool | Literal["auto"] = "auto",
        refine: bool = False,
        redundancy: float = 0.0,
        coverage: float = 1.0,
        false_discovery_rate: float = 0.1,
        n_null: int = 50,
        n_resamples: int = 8,
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
        self.joint = joint
        self.evidence = evidence
        self.profile_target = profile_target
        self.profile_ratio = profile_ratio
        self.sparsity = sparsity
        self.binarize = binarize
        self.refine = refine
        self.redundancy = redundancy
        self.coverage = coverage
        self.false_discovery_rate = false_discovery_rate
        self.n_null = n_null
        self.n_resamples = n_resamples
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
        for name in _NOT_ALWAYS:  # of an earlier fit with other settings
            self.__dict__.pop(name, None)
        form = gram_form(graph.features, dtype=self.dtype, memory_limit=self.memory_limit)
        rng = generator_from(self.random_state)
        report("block models", 0, 1)
        candidates = self._find_candidates(graph, rng)
        report("block models", 1, 1)
        found = self._discover(graph, candidates, rng)
        problem = self._problem(graph, form)
        wanted = self._n_to_select(graph.n_features) if found is None else int(found.sum())
        guidance = Guidance(graph, problem, self.sparsity, self.evidence, max(wanted, 1), report)
        guided = self._guide_scores(guidance, candidates, rng)
        self.candidates_, self.gram_form_ = candidates, form
        self._keep(guided, problem)
        self._select_features(guided, problem, found)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
