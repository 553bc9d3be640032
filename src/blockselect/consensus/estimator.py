"""BlockModelSelector: the default. Many block models, refined with the features, vote on the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from blockselect._sklearn import Interval, StrOptions, fit_context
from blockselect.arrays import BoolArray, FloatArray, IntArray, Sparse
from blockselect.base import Progress, best_first, generator_from, no_progress
from blockselect.blockmodels.candidates import FAMILIES, check_family, find_block_models
from blockselect.blockmodels.families.search import MAX_ITER
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import AS_GIVEN, MAX_BLOCKS, BlockCount, count_blocks, reason_for_asked
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.descent import Descent
from blockselect.bmgufs.gram_squared import rough_gram_squared
from blockselect.bmgufs.selector import DescentSelector
from blockselect.consensus.feature_likelihood import as_counts
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.judge import Judge
from blockselect.consensus.link_excess import scaled_for_links
from blockselect.consensus.link_likelihood import link_unit
from blockselect.consensus.portfolio import PLAIN, Evidence, choose_way
from blockselect.consensus.screening import BUDGET, FACTORIZATION_STEPS, Effort, plan_effort, screen
from blockselect.consensus.weights import feature_gains, mean_vote, weighted
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.binarize import are_sparse_counts, presence
from blockselect.graphs.cap_weights import cap_weights
from blockselect.graphs.neighbours import N_NEIGHBORS
from blockselect.inspection.circularity import warn_if_made_from_features
from blockselect.inspection.discoveries import DEFAULT_LEVEL, Discoveries, check_testable, match_blocks
from blockselect.inspection.reselection import n_looked_at
from blockselect.warned import warn_caller

_ROUNDS_AGAIN = 3  # of refinement on a resampled graph: its optimum is near
_MEAN_DENSITY = 1e-3  # to which densities are scaled before they are smoothed: that of a sparse graph
_SEARCH_EVERY, _NEW_STARTS = 4, 2  # resampled graphs of which one has new blocks, and of how many starts


class _Search(NamedTuple):
    """Candidates of one graph, the lowest relative error first, and how they were searched for."""

    models: list[BlockModel]
    effort: Effort
    why: Callable[[int], str]  # there are so many blocks


class BlockModelSelector(DescentSelector):
    """Select the features that explain the structure of a network, without labels.

    First block models of the graph, A ≈ F M Fᵀ: which nodes link alike (F), and how densely blocks connect (M). Then
    a score r ≥ 0 for each feature, so that the similarity X diag(r) Xᵀ preserves both. The features with the largest
    scores are kept. The idea is that of :class:`blockselect.BMGUFS` [1]_; this is what we recommend.

    It chooses all it needs without labels. Candidate block models are found in several ways and refined with the
    features; those that explain links and features best vote on the scores; and each score is weighted by how much
    better blocks and links explain the feature than chance.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. "auto" keeps those that match the
        graph better than chance, see :func:`blockselect.discover_features`. (paper: d)
    n_blocks : int or "auto", default="auto"
        Blocks of the graph. "auto": as many as the graph supports, 2 to `max_blocks`. (paper: k)
    max_blocks : int, default=12
        The most blocks that "auto" chooses.
    block_model : str, array of shape (n,) or BlockModel, default="mixed"
        How blocks are found, or the blocks themselves: a label for each node, or a block model. "mixed" uses the
        families "spectral", "two_hop", "smoothed", "normalized", "onmtf" (the paper's) and "adjacency" in turn. See
        :func:`blockselect.find_block_models`. (paper: F, M)
    n_candidates : int or "auto", default="auto"
        Block models found from different random starts. "auto": as many as pay, 12 to 48, more where they are cheap;
        fewer where the budget is less.
    budget : float or None, default=2e11
        Work, in multiplications, that finding and refining candidates may take; two cores make some 10⁹ a second. On
        networks of more than some 5·10⁶ links fewer candidates, rounds of refinement and resampled graphs are made, in
        proportion: `effort_` says how many. None: all of them on any network.
    joint : bool, default=True
        Refine the blocks with the features: move a node to another block when links and features together become more
        likely. Blocks that were given are never refined.
    profile_ratio : float, default=0.6
        Weight of how blocks connect against how well they fit, 0 to 1. (paper: β̄)
    binarize : bool or "auto", default="auto"
        Use only which features a node has, not their values. "auto": where they are counts, more than half of them
        zero; a few large counts would otherwise dominate every similarity.
    as_set : bool, default=True
        Select the features that explain the graph best together. The largest scores often repeat each other; so
        several rankings are tried, sets with diminishing returns among them, and judged by exactly these features:
        how much clusters of the nodes explain of the links, and how many nodes' blocks are told from those of a few.
        False selects the largest scores. (paper: False)
    n_clusters : int or None, default=None
        Clusters that will be looked for with the selected features, if that is known: sets are judged by as many.
        None tries several numbers, 6 to 16.
    n_neighbors : int or None, default=None
        Neighbours of each node in the graph built from the features where `fit` is given no adjacency. None: 10, with a
        warning, as an adjacency may have been forgotten.
    solver : Descent or None, default=None
        None is ``Descent(step_size=0.08, max_iter=25, tol=0)``: the paper's path in an eighth of its steps, with the
        exact gradient.
    device : str, default="cpu"
        Where the work is done: "cpu" (NumPy), or a torch device such as "cuda", which moves nodes in batches: results
        are NumPy arrays, and about as close to those of the CPU as those of two seeds.
    n_jobs : int or None, default=None
        Processes or threads that find and refine candidates. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seeds the candidates: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        Score of each feature, larger is better. An empty column scores 0. (paper: r)
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best: the order in which features enter the set, or with ``as_set=False`` that
        of the scores, among equal ones the lower index first.
    support_ : boolean array of shape (m,)
        Which features are selected. (paper: S)
    n_features_ : int
        How many are selected: fewer than asked for where too few scores are non-zero.
    p_values_, q_values_ : arrays of shape (m,)
        With ``n_features_to_select="auto"``, else None: see :func:`blockselect.discover_features`.
    block_model_ : BlockModel
        The best of the voters.
    labels_ : array of shape (n,)
        Its block of each node. (paper: F)
    voters_ : list of BlockModel
        Those that voted on the scores, the best first.
    candidates_ : list of BlockModel
        All that were found, the lowest relative error first.
    effort_ : Effort
        What the budget left: `n_candidates` of `asked_candidates`, `max_rounds` of `asked_rounds`,
        `n_resamples(asked)`, `was_cut`, and the `work` that all would have taken.
    criteria_ : DataFrame
        A row for each candidate: its family, blocks, relative error, penalised log-likelihood gain in nats as found
        and as refined, and whether it voted.
    portfolio_ : DataFrame or None
        A row for each ranking that was tried: what guides it, how a set is made of it, the nats a link that clusters
        by its first features explain for each number of clusters, the share of nodes whose block its features tell,
        the mean share of the best one's in both uses, and whether it was chosen. None where nothing was to choose.
    n_blocks_reason_ : str
        Why there are as many blocks as there are, such as that `max_blocks` allowed no more. The report and the
        command say the same.
    induced_density_ : array of shape (k, k)
        Mean similarity of each block pair under the scores. (paper: M̂)
    history_ : LossHistory
        Both losses by iteration, of `block_model_`.
    n_iter_ : int
        Iterations made.
    gram_form_, gram_reason_ : str
        How the squared Gram matrix of the features was held, "dense", "sparse" or "low rank", and why.
    graph_source_ : str
        "adjacency" where `fit` was given the graph, "features" where it linked nearest neighbours.
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
    >>> selector = BlockModelSelector(64, n_candidates=6, random_state=0)
    >>> selector.fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **DescentSelector._parameter_constraints,
        "n_features_to_select": [
            *DescentSelector._parameter_constraints["n_features_to_select"],
            StrOptions({"auto"}),
        ],
        "n_blocks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_blocks": [Interval(Integral, 2, None, closed="left")],
        "block_model": [StrOptions(set(FAMILIES)), "array-like", BlockModel],
        "n_candidates": [StrOptions({"auto"}), *DescentSelector._parameter_constraints["n_candidates"]],
        "budget": [None, Interval(Real, 0, None, closed="neither")],
        "joint": ["boolean"],
        "as_set": ["boolean"],
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "binarize": [StrOptions({"auto"}), "boolean"],
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
    }

    _default_neighbors = N_NEIGHBORS

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        n_blocks: int | Literal["auto"] = "auto",
        max_blocks: int = MAX_BLOCKS,
        block_model: Any = "mixed",
        n_candidates: int | Literal["auto"] = "auto",
        budget: float | None = BUDGET,
        joint: bool = True,
        profile_ratio: float = 0.6,
        binarize: bool | Literal["auto"] = "auto",
        as_set: bool = True,
        n_clusters: int | None = None,
        n_neighbors: int | None = None,
        solver: Descent | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.max_blocks = max_blocks
        self.block_model = block_model
        self.n_candidates = n_candidates
        self.budget = budget
        self.joint = joint
        self.profile_ratio = profile_ratio
        self.binarize = binarize
        self.as_set = as_set
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, progress: Progress | None = None) -> Self:
        """Score the features of the nodes by the structure of their graph.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame of pandas or polars, or AnnData, of shape (n, m)
            Non-negative features of the nodes. (paper: Y)
        y : ignored
        adjacency : matrix of shape (n, n), edges, graph of another library, or None
            The graph of the rows of X, in any form that :func:`blockselect.as_adjacency` reads. None links each node
            with its nearest neighbours by X. (paper: A)
        progress : callable, optional
            Called as ``progress(stage, done, total)`` during the fit.

        Returns
        -------
        self
        """
        report = progress or no_progress
        whole = self._read_network(X, y, adjacency)
        graph = whole.only(self._scored_nodes(whole))
        gram = self._gram(graph)
        rng = generator_from(self.random_state)
        search = self._search(graph, rng, report)
        self.candidates_, self.effort_ = search.models, search.effort
        likelihood = JointLikelihood(graph, device=self.device)
        screening = screen(
            likelihood,
            self.candidates_,
            joint=self.joint and self._searches(),
            rng=rng.spawn(1)[0],
            max_rounds=self.effort_.max_rounds,
            n_jobs=self.n_jobs,
            progress=partial(report, "screening"),
        )
        self.voters_, self.criteria_, self.block_model_ = screening.voters, screening.table(), screening.voters[0]
        self.labels_, self.n_blocks_reason_ = self.block_model_.labels, search.why(self.block_model_.n_blocks)
        found = self._discoveries(graph, search.models, rng, report)
        statistics = self._statistics(graph, self.voters_)
        solution = self._solve(gram, statistics, partial(report, "scores"))
        self._keep_losses(solution)
        vote, gains = mean_vote(solution.scores[:, 0]), feature_gains(likelihood, graph, self.voters_)
        scores = weighted(vote, gains)
        order = self._order(graph, scores, Evidence.of(graph, vote, gains, likelihood, self.voters_), rng)
        self._select_found(statistics, scores, order, found)
        self._place_other_nodes(whole)
        return self._remember(X, adjacency)

    @staticmethod
    def _default_solver() -> Descent:
        return Descent(step_size=0.08, max_iter=25, tol=0.0)

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        if isinstance(self.block_model, str):
            check_family(self.block_model, with_features=True)
        if self.n_features_to_select == "auto":
            check_testable(adjacency, self.block_model)
        graph = super()._read_network(X, y, adjacency)
        if graph.n_links == graph.n_self_loops:
            raise ValueError(
                "no link joins two different nodes, so there is nothing to find blocks by; pass a graph with links, "
                "or use BMGUFS with block_model=labels."
            )
        if self.n_features_to_select == "auto":
            warn_if_made_from_features(graph)
        else:
            self._n_to_select(graph.n_features)
        binary = are_sparse_counts(graph.features) if self.binarize == "auto" else self.binarize
        return replace(graph, features=presence(graph.features)) if binary else graph

    def _factorization_steps(self) -> int:
        """Fewer where blocks are refined afterwards."""
        return FACTORIZATION_STEPS if self.joint else MAX_ITER

    def _searches(self) -> bool:
        """Whether blocks are searched for, rather than given."""
        return isinstance(self.block_model, str)

    def _scored_nodes(self, graph: AttributedGraph) -> BoolArray:
        """All but those with neither links nor features; where blocks are given, all."""
        return graph.is_linked | graph.has_features if self._searches() else np.ones(graph.n_nodes, dtype=bool)

    def _place_other_nodes(self, graph: AttributedGraph) -> None:
        """Put the nodes that were left out into the block with the fewest links, in every block model."""
        nodes = self._scored_nodes(graph)
        if nodes.all():
            return
        self.candidates_ = [model.with_others(nodes) for model in self.candidates_]
        self.voters_ = [model.with_others(nodes) for model in self.voters_]
        self.block_model_, self.labels_ = self.voters_[0], self.voters_[0].labels

    def _search(self, graph: AttributedGraph, rng: np.random.Generator, report: Progress) -> _Search:
        if not self._searches():
            return _Search([self._given_block_model(graph)], Effort(0.0, self.budget, 1), lambda _: AS_GIVEN)
        if self.n_blocks == "auto":
            count = self._count(graph, rng, report)
            numbers, eigenvectors, why = _numbers_to_try(count), count.vectors, count.reason_for
        else:
            numbers, eigenvectors, why = [self.n_blocks], None, partial(reason_for_asked, asked=self.n_blocks)
        effort = plan_effort(graph, numbers[0], n_candidates=self.n_candidates, budget=self.budget)
        report("block models", 0, 1)
        found = [
            find_block_models(
                graph,
                number,
                family=self.block_model,
                features=graph.features,
                n_candidates=effort.n_candidates if place == 0 else max(1, effort.n_candidates // 4),
                rng=rng,
                n_jobs=self.n_jobs,
                max_iter=self._factorization_steps(),
                eigenvectors=eigenvectors,
                progress=partial(report, "block models"),
                device=self.device,
            )
            for place, number in enumerate(numbers)
        ]
        report("block models", 1, 1)
        models = list(chain(*found))
        order = best_first(-np.array([model.relative_error for model in models]))
        return _Search([models[place] for place in order], effort, why)

    def _count(self, graph: AttributedGraph, rng: np.random.Generator, report: Progress) -> BlockCount:
        report("number of blocks", 0, 1)
        count = count_blocks(graph, max_blocks=self.max_blocks, rng=rng.spawn(1)[0], device=self.device)
        report("number of blocks", 1, 1)
        return count

    def _discoveries(
        self, graph: AttributedGraph, candidates: Sequence[BlockModel], rng: np.random.Generator, report: Progress
    ) -> Discoveries | None:
        """Features that match the graph better than chance, where that is asked for."""
        if self.n_features_to_select != "auto":
            return None
        report("discoveries", 0, 1)
        capped = cap_weights(graph.adjacency)
        if self._searches() and capped is not graph.adjacency:
            candidates = self._search(replace(graph, adjacency=capped), rng.spawn(1)[0], no_progress).models
        found = match_blocks(graph, candidates, level=DEFAULT_LEVEL, rng=rng.spawn(1)[0])
        report("discoveries", 1, 1)
        return found

    def _statistics(self, graph: AttributedGraph, models: Sequence[BlockModel]) -> BlockStatistics:
        """The target is how alike blocks link, |F M Fᵀ|: a similarity cannot follow blocks that link to others.

        It is scaled to the similarities, so that the smoothing is in the same proportion to both.
        """
        reflected = [one.reflected() for one in models]
        statistics = BlockStatistics.of(graph.features, reflected, dtype=self._solver().float_type)
        mean = statistics.mean_density
        scale = (statistics.mean_similarity / np.where(mean > 0, mean, 1.0))[:, None, None]
        return replace(statistics, density=(statistics.density * scale).astype(statistics.density.dtype))

    def _smoothing(self, mean: float) -> float:
        """As if the mean were a thousandth."""
        return super()._smoothing(mean) * (mean or 1.0) / _MEAN_DENSITY

    def _order(
        self, graph: AttributedGraph, scores: FloatArray, evidence: Evidence, rng: np.random.Generator
    ) -> IntArray | None:
        """Features in the order in which they enter the set that the judge prefers; None: by falling score."""
        self.portfolio_, self._way = None, PLAIN
        if self.n_features_to_select == "auto" or not self.as_set:
            return None
        n_selected = self._n_to_select(graph.n_features)
        if n_selected >= np.count_nonzero(scores > 0):
            return None  # all of them
        draws = rng.spawn(1)[0]
        judge = Judge.of(graph.features, graph.adjacency, evidence.labels, self.n_clusters, draws)
        choice = choose_way(evidence, scores, n_selected, judge, draws, n_jobs=self.n_jobs)
        self.portfolio_, self._way = choice.table, choice.way
        return choice.order

    def _select_found(
        self, statistics: BlockStatistics, scores: FloatArray, order: IntArray | None, found: Discoveries | None
    ) -> None:
        """Select the first of the order, or the discoveries whatever their scores: a cut would lose the guarantee."""
        self.p_values_ = None if found is None else found.p_values
        self.q_values_ = None if found is None else found.q_values
        if found is None:
            self._select_scores(statistics, scores, order)
            return
        self._keep_induced_density(statistics, scores)
        self._rank(scores)
        self.support_, self.n_features_ = found.support, int(found.support.sum())
        if not self.n_features_:
            warn_caller(
                f"no feature matches the graph better than chance at a false discovery rate of {DEFAULT_LEVEL:g}, so "
                "none is selected; see discover_features for another level, or ask for a number of features.",
                ConvergenceWarning,
            )

    def _n_resamples(self, asked: int) -> int:
        return self.effort_.n_resamples(asked)

    def _scores_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        report: Progress = no_progress,
    ) -> FloatArray:
        """Scores on other graphs of the same nodes, without a whole fit to each.

        On three graphs of four a voter's blocks, in turn, are refined, and score. On the fourth blocks are found anew,
        the best of a few. A fit finds the same optimum again that often: with new blocks alone, of few starts,
        features would seem less stable than they are, and with the voters' alone more. Blocks that were given stay;
        only their densities change.
        """
        nodes = self._scored_nodes(graph)
        graph = graph.only(nodes)
        adjacencies = [adjacency if nodes.all() else adjacency[nodes][:, nodes] for adjacency in adjacencies]
        voters = [voter.among(nodes).labels for voter in self.voters_]
        unit, counts, scaled = link_unit(graph.adjacency), as_counts(graph.features), scaled_for_links(graph.features)

        def rescore(place: int) -> tuple[BlockModel, Evidence]:
            resampled = replace(graph, adjacency=adjacencies[place])
            likelihood = JointLikelihood(resampled, link_unit=unit, counts=counts)
            if self._searches() and place % _SEARCH_EVERY == _SEARCH_EVERY - 1:
                model = self._found_anew(likelihood, resampled, rngs[place])
            else:
                model = BlockModel.from_labels(resampled.adjacency, voters[place % len(voters)])
                if self.joint and self._searches():
                    model = likelihood.improve(model, max_rounds=_ROUNDS_AGAIN, rng=rngs[place]).model
            gains = feature_gains(likelihood, resampled, [model], scaled)
            return model, Evidence.of(resampled, gains.weights, gains, likelihood, [model])

        models, evidence = [], []
        with threadpool_limits(limits=1):  # those within would overlap: a limit is one for the whole process
            parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
            for done, found in enumerate(parallel(delayed(rescore)(i) for i in range(len(adjacencies))), start=1):
                models.append(found[0])
                evidence.append(found[1])
                report("resampling", done, len(adjacencies))
        gram = rough_gram_squared(
            graph.features,
            dtype=self._solver().float_type,
            memory_limit=self._solver().memory_limit,
            n_jobs=self.n_jobs,
        )
        solution = self._solve(gram, self._statistics(graph, models), partial(report, "stability"))
        votes = [mean_vote(each) for each in solution.scores]
        return np.array([self._priorities(replace(e, vote=v)) for e, v in zip(evidence, votes, strict=True)])

    def _priorities(self, evidence: Evidence) -> FloatArray:
        """What decides which features are selected, larger first: the scores, or how early each enters the set."""
        scores = weighted(evidence.vote, evidence.gains)
        if self._way == PLAIN:
            return scores
        priorities = np.zeros(len(scores))
        priorities[evidence.order(self._way, scores, n_looked_at(self.n_features_))] = 1 / np.arange(1, len(scores) + 1)
        return np.where(scores > 0, priorities, 0.0)

    def _found_anew(self, likelihood: JointLikelihood, graph: AttributedGraph, rng: np.random.Generator) -> BlockModel:
        """The best of a few new block models of a resampled graph, of the families that voted, in turn."""
        found = [
            find_block_models(
                graph,
                voter.n_blocks,
                family=voter.family,
                features=graph.features,
                n_candidates=1,
                rng=rng,
                max_iter=self._factorization_steps(),
            )[0]
            for voter in (self.voters_ * _NEW_STARTS)[:_NEW_STARTS]
        ]
        return screen(likelihood, found, joint=self.joint, rng=rng).voters[0]

    def _advice_for_more(self) -> str:
        return "; a feature that is the same for all nodes does so too"

    def _without_effect(self) -> dict[str, str]:
        if not self._searches():
            names = ("n_blocks", "max_blocks", "n_candidates", "budget", "joint")
            idle = dict.fromkeys(names, "block_model brings the blocks")
        else:
            idle = {} if self.n_blocks == "auto" else {"max_blocks": 'it limits n_blocks="auto" alone'}
        if not self.as_set:
            idle["n_clusters"] = "as_set=False selects the largest scores"
        if self.n_features_to_select == "auto":
            why = 'n_features_to_select="auto" selects all that match the graph better than chance'
            idle |= dict.fromkeys(("as_set", "n_clusters"), why)
        return idle


def _numbers_to_try(count: BlockCount) -> list[int]:
    """As many blocks as the links show, and besides, where those are fewer, as are allowed.

    Links alone miss blocks near the limit of detection, which links and features together show.
    """
    return [count.n_blocks] if count.n_blocks == count.limit else [count.n_blocks, count.limit]
