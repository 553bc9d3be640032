"""BlockModelSelector: the default. Block models of the graph, and the features that explain them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect._sklearn import Interval, StrOptions, fit_context
from blockselect.arrays import BoolArray, Features, FloatArray, Sparse
from blockselect.base import best_first
from blockselect.blockmodels.candidates import FAMILIES, check_family, find_block_models
from blockselect.blockmodels.embedding import one_thread
from blockselect.blockmodels.families.search import MAX_ITER
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import AS_GIVEN, MAX_BLOCKS, BlockCount, count_blocks, reason_for_asked
from blockselect.consensus.explained import BlockRegression, Ranking, rank_features
from blockselect.consensus.feature_likelihood import as_counts
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.link_excess import scaled_for_links
from blockselect.consensus.link_likelihood import link_unit
from blockselect.consensus.screening import FACTORIZATION_STEPS, Effort, Screening, plan_effort, screen
from blockselect.consensus.weights import feature_gains
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.links import cap_weights
from blockselect.graphs.neighbours import N_NEIGHBORS
from blockselect.graphs.statistics import are_sparse_counts, presence
from blockselect.inspection.circularity import warn_if_made_from_features
from blockselect.inspection.discoveries import DEFAULT_LEVEL, Discoveries, check_testable, match_blocks
from blockselect.inspection.reselection import n_looked_at
from blockselect.parameters import generator_from
from blockselect.progress import Progress, no_progress
from blockselect.warned import warn_caller

_ROUNDS_AGAIN = 3  # of refinement on a resampled graph: its optimum is near
_SEARCH_EVERY, _NEW_STARTS = 4, 2  # every fourth resampled graph gets new blocks, the best of two starts
_MORE_THAN_LINKS_SHOW = 12  # blocks tried besides, if the links show fewer
_SPARSE_BELOW = 1 / 3  # share of non-zero values up to which features are held as CSR, in whatever form they came


class _Search(NamedTuple):
    """Candidate block models of one graph."""

    models: list[BlockModel]  # the lowest relative error first
    effort: Effort
    why: Callable[[int], str]  # the reason for a number of blocks


class BlockModelSelector(BlockGuidedSelector):
    """Select the features that explain the structure of a network, without labels.

    First block models of the graph, A ≈ F M Fᵀ: which nodes link alike (F), and how densely blocks connect (M).
    Candidates are found in several ways, refined with the features, and the best are kept. Then features are selected
    one after the other: the next one is specific to some blocks and adds most to what the features before it explain
    of which block a node, and its neighbours, are in. The idea is that of :class:`blockselect.BMGUFS` [1]_; all
    settings are chosen from the data.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. "auto" keeps those that match the
        graph better than chance, see :func:`blockselect.discover_features`. (paper: d)
    n_blocks : int or "auto", default="auto"
        Blocks of the graph. "auto": as many as the graph supports, 2 to `max_blocks`. (paper: k)
    max_blocks : int, default=50
        The most blocks that "auto" chooses.
    block_model : str, array of shape (n,) or BlockModel, default="mixed"
        How blocks are found, or the blocks themselves: one label per node, or a block model. "mixed" uses several
        families in turn. See :func:`blockselect.find_block_models`. (paper: F, M)
    n_candidates : int or "auto", default="auto"
        Block models found from different random starts. "auto": 9 to 48, depending on the estimated cost, and fewer
        on networks of more than about 5·10⁶ links.
    refine : bool, default=True
        Refine the blocks with the features: move a node to another block when links and features together become more
        likely. Blocks that were given are never refined.
    binarize : bool or "auto", default="auto"
        Use only which features a node has, not their values. "auto": if they are counts and more than half of them are
        zero, because a few large counts would otherwise dominate every similarity.
    n_neighbors : int or None, default=None
        Neighbours of each node in the graph built from the features if `fit` is given no adjacency. None: 10, with a
        warning, because an adjacency may have been forgotten.
    n_jobs : int or None, default=None
        Processes or threads that find and refine candidates. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seeds the candidates: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        Score of each feature. It falls with the rank. The score is the share of the block structure that the feature
        adds to what the features before it explain, times its effect size, and at most the score before it. An empty
        or constant column scores 0.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best: the order in which features are selected.
    support_ : boolean array of shape (m,)
        Which features are selected. (paper: S)
    n_features_ : int
        How many are selected.
    explained_ : array of shape (d,)
        Share of the block structure (R²) that the first 1, 2, … selected features explain together; features after
        the first 1000 are not counted.
    explained_more_ : array of shape (m,)
        Share that each feature adds to the features before it in the ranking; for features that are not selected,
        what each would add next.
    explained_alone_ : array of shape (m,)
        Share that each feature explains by itself.
    p_values_, q_values_ : arrays of shape (m,)
        With ``n_features_to_select="auto"``, else None: see :func:`blockselect.discover_features`.
    block_model_ : BlockModel
        The best block model.
    labels_ : array of shape (n,)
        The block of each node in it. (paper: F)
    consensus_models_ : list of BlockModel
        The block models that features are asked to explain, the best first.
    candidates_ : list of BlockModel
        All block models that were found, the lowest relative error first.
    candidates_table_ : DataFrame
        One row per candidate: its family, blocks, relative error, penalised log-likelihood gain in nats as found and
        as refined, and whether it is one of `consensus_models_`.
    effort_ : Effort
        Planned and requested search effort: `n_candidates`, `max_rounds`, `n_resamples(asked)`, `was_cut`.
    n_blocks_reason_ : str
        Why there are as many blocks as there are.
    graph_source_ : str
        "adjacency" if `fit` was given the graph, "features" if it linked nearest neighbours.
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
        **BlockGuidedSelector._parameter_constraints,
        "n_features_to_select": [
            *BlockGuidedSelector._parameter_constraints["n_features_to_select"],
            StrOptions({"auto"}),
        ],
        "n_blocks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_blocks": [Interval(Integral, 2, None, closed="left")],
        "block_model": [StrOptions(set(FAMILIES)), "array-like", BlockModel],
        "n_candidates": [StrOptions({"auto"}), *BlockGuidedSelector._parameter_constraints["n_candidates"]],
        "refine": ["boolean"],
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
        refine: bool = True,
        binarize: bool | Literal["auto"] = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.max_blocks = max_blocks
        self.block_model = block_model
        self.n_candidates = n_candidates
        self.refine = refine
        self.binarize = binarize
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, progress: Progress | None = None) -> Self:
        """Rank the features of the nodes by how much of the structure of their graph they explain.

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
        nodes = self._scored_nodes(whole)
        graph = whole.only(nodes)
        rng = generator_from(self.random_state)
        with one_thread():  # sums over several threads would depend on the number of cores
            search = self._search(graph, rng, report)
            likelihood = JointLikelihood(graph)
            screening = screen(
                likelihood,
                search.models,
                refine=self.refine and self._searches(),
                rng=rng.spawn(1)[0],
                max_rounds=search.effort.max_rounds,
                n_jobs=self.n_jobs,
                progress=partial(report, "screening"),
            )
            found = self._discoveries(graph, search.models, rng, report)
            report("ranking", 0, 1)
            ranking = self._rank_by(graph, likelihood, screening.consensus, self._n_to_rank(graph.n_features, found))
            self._select_found(ranking, found)
            self.explained_ = ranking.explained(self._selected_in_order())
            report("ranking", 1, 1)
        self._keep_models(search, screening, nodes)
        self.explained_more_, self.explained_alone_ = ranking.added, ranking.alone
        return self._remember(X, adjacency)

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        if isinstance(self.block_model, str):
            check_family(self.block_model, with_features=True)
        if self.n_features_to_select == "auto":
            check_testable(adjacency, self.block_model)
        self._check_combinations()
        graph = self._check_graph(X, y, adjacency)
        if graph.n_links == graph.n_self_loops:
            raise ValueError(
                "no link joins two different nodes, so there is nothing to find blocks by; pass a graph with links, "
                "or use BMGUFS with block_model=labels."
            )
        if self.n_features_to_select == "auto":
            warn_if_made_from_features(graph)
        else:
            self._n_to_select(graph.n_features)
        features = _in_form(graph.features)
        binary = are_sparse_counts(features) if self.binarize == "auto" else self.binarize
        return replace(graph, features=presence(features) if binary else features)

    def _factorization_steps(self) -> int:
        """Fewer where blocks are refined afterwards."""
        return FACTORIZATION_STEPS if self.refine else MAX_ITER

    def _searches(self) -> bool:
        """Whether blocks are searched for, rather than given."""
        return isinstance(self.block_model, str)

    def _scored_nodes(self, graph: AttributedGraph) -> BoolArray:
        """All but those with neither links nor features; where blocks are given, all."""
        return graph.is_linked | graph.has_features if self._searches() else np.ones(graph.n_nodes, dtype=bool)

    def _search(self, graph: AttributedGraph, rng: np.random.Generator, report: Progress) -> _Search:
        if not self._searches():
            return _Search([self._given_block_model(graph)], Effort(0.0, 1), lambda _: AS_GIVEN)
        if self.n_blocks == "auto":
            count = self._count(graph, rng, report)
            numbers, eigenvectors, why = _numbers_to_try(count), count.vectors, count.reason_for
        else:
            numbers, eigenvectors, why = [self.n_blocks], None, partial(reason_for_asked, asked=self.n_blocks)
        effort = plan_effort(graph, numbers[0], n_candidates=self.n_candidates)
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
            )
            for place, number in enumerate(numbers)
        ]
        report("block models", 1, 1)
        models = list(chain(*found))
        order = best_first(-np.array([model.relative_error for model in models]))
        return _Search([models[place] for place in order], effort, why)

    def _count(self, graph: AttributedGraph, rng: np.random.Generator, report: Progress) -> BlockCount:
        report("number of blocks", 0, 1)
        count = count_blocks(graph, max_blocks=self.max_blocks, rng=rng.spawn(1)[0])
        report("number of blocks", 1, 1)
        return count

    def _keep_models(self, search: _Search, screening: Screening, nodes: BoolArray) -> None:
        """Set what the fit says of the block models that it found."""
        self.candidates_ = _of_all_nodes(search.models, nodes)
        self.consensus_models_ = _of_all_nodes(screening.consensus, nodes)
        self.candidates_table_, self.effort_ = screening.table(), search.effort
        self.block_model_ = self.consensus_models_[0]
        self.labels_ = self.block_model_.labels
        self.n_blocks_reason_ = search.why(self.block_model_.n_blocks)

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

    @staticmethod
    def _rank_by(
        graph: AttributedGraph,
        likelihood: JointLikelihood,
        models: Sequence[BlockModel],
        n_wanted: int,
        scaled: Features | None = None,
    ) -> Ranking:
        """Rank the features by how much of these block models they explain."""
        gains = feature_gains(likelihood, graph, models, scaled)
        regression = BlockRegression.of(graph.features, graph.adjacency, [model.labels for model in models])
        return rank_features(regression, gains, n_wanted)

    def _n_to_rank(self, n_features: int, found: Discoveries | None) -> int:
        """Features to select one by one: those asked for, or as many as were discovered."""
        return self._n_to_select(n_features) if found is None else int(found.support.sum())

    def _select_found(self, ranking: Ranking, found: Discoveries | None) -> None:
        """Select the first of the ranking, or all discoveries: a cut among these would lose the guarantee."""
        self.p_values_ = None if found is None else found.p_values
        self.q_values_ = None if found is None else found.q_values
        scores = ranking.scores
        if found is None:
            n_constant = int(np.count_nonzero(~ranking.is_useful))
            why = f"the other {n_constant} have the same value for all nodes."
            self._select(scores, eligible=ranking.is_useful, why_fewer=why, order=ranking.order)
            return
        self._rank(scores, ranking.order)
        self.support_, self.n_features_ = found.support, int(found.support.sum())
        if not self.n_features_:
            warn_caller(
                f"no feature matches the graph better than chance at a false discovery rate of {DEFAULT_LEVEL:g}, so "
                "none is selected; see discover_features for another level, or ask for a number of features.",
                ConvergenceWarning,
            )

    def _table_columns(self) -> dict[str, FloatArray]:
        return {"explained_more": self.explained_more_, "explained_alone": self.explained_alone_}

    def _n_resamples(self, asked: int) -> int:
        return self.effort_.n_resamples(asked)

    def _scores_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        report: Progress = no_progress,
    ) -> FloatArray:
        """Scores on other graphs of the same nodes, without a whole fit to each: 1 / rank.

        On three graphs of four, one of the consensus models is refined. On the fourth, blocks are found anew. A fit
        finds the same optimum again about that often: new blocks alone, from few starts, would make features seem less
        stable than they are, and the models of the fit alone would make them seem more stable. Blocks that were given
        stay; only their densities change.
        """
        nodes = self._scored_nodes(graph)
        graph = graph.only(nodes)
        adjacencies = [adjacency if nodes.all() else adjacency[nodes][:, nodes] for adjacency in adjacencies]
        models = [model.among(nodes) for model in self.consensus_models_]
        unit, counts, scaled = link_unit(graph.adjacency), as_counts(graph.features), scaled_for_links(graph.features)

        def rescore(place: int) -> FloatArray:
            resampled = replace(graph, adjacency=adjacencies[place])
            likelihood = JointLikelihood(resampled, link_unit=unit, counts=counts)
            if self._searches() and place % _SEARCH_EVERY == _SEARCH_EVERY - 1:
                model = self._found_anew(likelihood, resampled, rngs[place])
            else:
                model = BlockModel.from_labels(resampled.adjacency, models[place % len(models)].labels)
                if self.refine and self._searches():
                    model = likelihood.improve(model, max_rounds=_ROUNDS_AGAIN, rng=rngs[place]).model
            ranking = self._rank_by(resampled, likelihood, [model], n_looked_at(self.n_features_), scaled)
            scores = np.zeros(len(ranking.order))
            scores[ranking.order] = 1 / np.arange(1, len(scores) + 1)
            return np.where(ranking.is_useful, scores, 0.0)

        scores = []
        with one_thread():  # sums over several threads would depend on the number of cores
            parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
            for done, found in enumerate(parallel(delayed(rescore)(i) for i in range(len(adjacencies))), start=1):
                scores.append(found)
                report("resampling", done, len(adjacencies))
        return np.array(scores)

    def _found_anew(self, likelihood: JointLikelihood, graph: AttributedGraph, rng: np.random.Generator) -> BlockModel:
        """The best of a few new block models of a resampled graph, of the families of the consensus models."""
        found = [
            find_block_models(
                graph,
                model.n_blocks,
                family=model.family,
                features=graph.features,
                n_candidates=1,
                rng=rng,
                max_iter=self._factorization_steps(),
            )[0]
            for model in (self.consensus_models_ * _NEW_STARTS)[:_NEW_STARTS]
        ]
        return screen(likelihood, found, refine=self.refine, rng=rng).consensus[0]

    def _without_effect(self) -> dict[str, str]:
        if not self._searches():
            names = ("n_blocks", "max_blocks", "n_candidates", "refine")
            return dict.fromkeys(names, "block_model brings the blocks")
        return {} if self.n_blocks == "auto" else {"max_blocks": 'it limits n_blocks="auto" alone'}


def _in_form(features: Features) -> Features:
    """Double precision, CSR or dense by the share of non-zero values: the form in which they came changes nothing."""
    features = features.astype(np.float64, copy=False)
    n_values = features.count_nonzero() if sparse.issparse(features) else np.count_nonzero(features)
    if n_values <= _SPARSE_BELOW * features.shape[0] * features.shape[1]:
        return sparse.csr_array(features)
    return features.toarray() if sparse.issparse(features) else features


def _of_all_nodes(models: Sequence[BlockModel], nodes: BoolArray) -> list[BlockModel]:
    """Nodes that were left out go to the block with the fewest links."""
    return list(models) if nodes.all() else [model.with_others(nodes) for model in models]


def _numbers_to_try(count: BlockCount) -> list[int]:
    """As many blocks as the links show, and a dozen besides if those are fewer.

    Links alone miss blocks near the limit of detection, which links and features together show.
    """
    dozen = min(count.limit, _MORE_THAN_LINKS_SHOW)
    return [count.n_blocks] if count.n_blocks >= dozen else [count.n_blocks, dozen]
