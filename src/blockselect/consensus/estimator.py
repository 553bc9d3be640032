"""BlockModelSelector, the default method: finds block models of the graph and the features that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.blockmodels.candidates import FAMILIES, FEATURE_READING
from blockselect.blockmodels.families import MAX_ITER
from blockselect.blockmodels.levels import BlockTree, groups_at, numbers_of_groups
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import AS_GIVEN, MAX_BLOCKS
from blockselect.consensus.consensus import Consensus, expected_agreement, find_consensus
from blockselect.consensus.explained_curve import explained_by_size
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.prediction import regress_blocks
from blockselect.consensus.ranking import MAX_REGRESSED, Ranking, rank_by_trees
from blockselect.consensus.resampling import inverse_ranks
from blockselect.consensus.search import Effort, SearchResult, search_blocks, whether_to_refine
from blockselect.graphs.links import cap_weights
from blockselect.inputs.adjacency import graph_of
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.neighbour_graph import N_NEIGHBORS
from blockselect.inspection.circularity import warn_if_made_from_features
from blockselect.inspection.discoveries import (
    DEFAULT_LEVEL,
    NO_TEST_OF_CHUNKS,
    Discoveries,
    check_testable,
    match_blocks,
)
from blockselect.inspection.stability import n_to_rank
from blockselect.rows.statistics import are_sparse_counts, in_standard_form, presence
from blockselect.rows.sums import in_memory
from blockselect.utils._sklearn import Interval, StrOptions, fit_context
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, ObjectArray, Sparse
from blockselect.utils.errors import ParameterError, warn_caller
from blockselect.utils.parameters import check_whole, generator_from
from blockselect.utils.progress import Progress, follow_fit, no_progress
from blockselect.utils.threads import one_thread

FACTORIZATION_STEPS = 100  # iterations of a factorisation if its blocks are refined afterwards; more do not help
_LEFT_OUT = (
    f"the family {FEATURE_READING!r} is left out for row chunks, because each of its iterations would read all chunks"
)


class BlockModelSelector(BlockGuidedSelector):
    """Select the features that explain the structure of a network, without labels.

    The method first finds block models of the graph, A ≈ F M Fᵀ: F assigns nodes with similar connection patterns to
    the same block, and M contains the link densities between blocks. Candidates are found in several ways and refined
    with the features, and the best are kept. The blocks of each model are then merged two at a time, which gives
    coarser levels of the same structure. Finally, features are selected one after the other. Together they should
    explain, at every level, which block each node belongs to and which blocks its neighbours belong to. The next
    feature is the one that adds most to this explanation and is specific to some blocks. The idea is that of
    :class:`blockselect.BMGUFS` [1]_; all settings are chosen from the data.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to keep, or what share of them (between 0 and 1). None keeps the fewest that explain 80 % of
        what all features explain together, at most 500. If a regression on all features would take too long, None keeps
        the fewest that explain 80 % of what the first 500 explain. "auto" keeps the features that match the graph
        better than chance (see :func:`blockselect.discover_features`). (paper: d)
    n_blocks : int or "auto", default="auto"
        Number of blocks. "auto": as many as the links support beyond chance, or up to 12 if links and features
        together support more; always 2 to `max_blocks`. (paper: k)
    max_blocks : int, default=50
        The largest number of blocks that "auto" chooses.
    block_model : str, array of shape (n,), Series, dict, list of sets, VertexClustering or BlockModel, default="mixed"
        How blocks are found, or the blocks themselves: one label per node, in the order of the rows or by node id (a
        Series or dict), a one-hot matrix of shape (n, k), the communities of networkx (a list of sets of node ids), an
        igraph clustering, or a block model. "mixed" uses several families in turn. See
        :func:`blockselect.find_block_models`. (paper: F)
    n_candidates : int or "auto", default="auto"
        Number of block models to find, from different random starts. "auto": 9 to 48, depending on the estimated cost,
        and fewer on networks of more than about 5·10⁶ links.
    refine : bool or "auto", default="auto"
        Refine the blocks with the features: move a node to another block when links and features together become more
        likely. "auto" refines them unless the links show clear blocks that are unrelated to the features. Blocks that
        were given are never refined.
    binarize : bool or "auto", default="auto"
        Use only the presence of features, not their values. "auto" does so if the values are counts and more than half
        of them are zero, because a few large counts would otherwise dominate every similarity.
    n_neighbors : int or None, default=None
        Number of neighbours of each node in the graph that is built from the features if `fit` is given no adjacency.
        None means 10, with a warning, because the adjacency may have been forgotten.
    n_jobs : int or None, default=None
        Number of threads. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed for finding the candidates: the same seed gives the same result.
    verbose : int, default=0
        0 shows nothing. 1 shows the progress of a fit in one line, if stderr is a terminal or a notebook.

    Attributes
    ----------
    scores_ : array of shape (m,)
        Score of each feature. It decreases strictly with the rank. The score is the share of the block structure that
        the feature adds to what the features before it explain, times its effect size; if this is not below the
        previous score, the score is slightly less than the previous one. Features whose association with the graph may
        be due to chance (see `beyond_chance_`) score at most half as much as the last of the other features. An empty
        or constant column scores 0.
    ranking_ : array of shape (m,)
        Rank of each feature in the order of selection; 1 is the best.
    support_ : boolean array of shape (m,)
        Which features are selected. (paper: S)
    n_features_ : int
        Number of selected features.
    explained_ : array of shape (d,)
        Share of the block structure (R²) that the first 1, 2, … selected features explain together, averaged over all
        levels of all consensus models. Features after the first 1000 are not counted.
    levels_ : DataFrame
        The levels of the best block model, the coarsest first: the number of blocks (`n_blocks`) and the share of the
        level that the selected features explain (`explained`). Each level has half as many blocks as the next finer
        one, but at least 3.
    explained_more_ : array of shape (m,)
        Share that each feature adds to the features before it in the ranking; for features that are not selected,
        what each would add next.
    explained_alone_ : array of shape (m,)
        Share that each feature explains by itself.
    beyond_chance_ : boolean array of shape (m,)
        Which features are more strongly associated with the graph than chance would explain; the others come last in
        the ranking.
    p_values_, q_values_ : arrays of shape (m,)
        See :func:`blockselect.discover_features`. None unless ``n_features_to_select="auto"``.
    block_model_ : BlockModel
        The best block model.
    labels_ : array of shape (n,)
        The block of each node in `block_model_`. Blocks are numbered along the tree of `linkage_`, the largest branch
        first, unless they were given. `labels_at` returns labels for fewer blocks. (paper: F)
    linkage_ : array of shape (k − 1, 4)
        The tree of the blocks in the format of :func:`scipy.cluster.hierarchy.linkage`: the two blocks that are merged
        at each step, the log-likelihood in nats lost so far, and how many of the k blocks are merged.
        :func:`scipy.cluster.hierarchy.dendrogram` draws it.
    block_stability_ : array of shape (k,) or None
        Stability of each block: its expected overlap (Jaccard index) with the closest block of a fit with another
        seed, estimated from `consensus_models_`. None if there is only one consensus model, as with four or fewer
        candidates, or if the blocks were given.
    block_agreement_ : float or None
        Expected adjusted Rand index of `labels_` and the blocks of a fit with another seed. None if `block_stability_`
        is None.
    coef_, intercept_ : arrays of shape (k, d) and (k,)
        The regression of the blocks on the selected features, which `predict` uses to find the blocks of other nodes.
        Selected features after the first 1000 have coefficients of 0.
    binarized_ : bool
        Whether only the presence of features was used, not their values.
    consensus_models_ : list of BlockModel
        The block models that the features should explain, the best first.
    candidates_ : list of BlockModel
        All block models that were found, in order of increasing relative error.
    candidates_table_ : DataFrame
        One row per candidate: its family, number of blocks, relative error, penalised log-likelihood gain in nats
        before and after refinement, and whether it is one of `consensus_models_`.
    effort_ : Effort
        Planned and requested search effort: `n_candidates`, `max_rounds`, `n_resamples(asked)`, `was_cut`.
    n_blocks_reason_ : str
        The reason for the number of blocks.
    refined_ : bool
        Whether blocks were refined with the features.
    refine_reason_ : str
        The reason why the blocks were refined or not.
    families_left_out_ : str or None
        Which family of block models was not tried, and why: "smoothed" if X comes in row chunks. None if no family was
        left out.
    graph_source_ : str
        "adjacency" if `fit` was given the graph, "features" if it built one by linking nearest neighbours.
    encoding_ : DataFrame or None
        How node attributes were converted to features, if X was a networkx or igraph graph: one row per attribute, with
        its kind, the number of nodes without a value (n_missing), and its columns.
    network_evidence_ : NetworkEvidence or None
        Whether the selected features are associated with this graph, tested against random permutations of the nodes:
        `p_value`, `autocorrelation` (mean correlation of the selected features between linked nodes) and `is_clear`.
        `fit` warns if there is no clear evidence. None if this was not tested, because the graph was built from the
        features or no feature is selected.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] Z. Bai, H. Nguyen, I. Davidson. Block Model Guided Unsupervised Feature Selection. KDD 2020.
       https://doi.org/10.1145/3394486.3403173

    Examples
    --------
    >>> from blockselect import BlockModelSelector, load_debian
    >>> debian = load_debian()
    >>> selector = BlockModelSelector(60, n_candidates=6, random_state=0)
    >>> selector.fit_transform(debian.features, adjacency=debian.adjacency).shape
    (4960, 60)
    >>> debian.feature_names[selector.ranking_ <= 4].tolist()
    ['emacs', 'feature', 'gnu', 'tag:devel::lang:perl']
    >>> selector.levels_.round(2)
       n_blocks  explained
    0         4       0.50
    1         9       0.48
    2        19       0.47
    3        38       0.45
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **BlockGuidedSelector._parameter_constraints,
        "n_features_to_select": [
            *BlockGuidedSelector._parameter_constraints["n_features_to_select"],
            StrOptions({"auto"}),
        ],
        "n_blocks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_blocks": [Interval(Integral, 2, None, closed="left")],
        "block_model": [StrOptions(set(FAMILIES)), "array-like", "sparse matrix", BlockModel],
        "n_candidates": [StrOptions({"auto"}), *BlockGuidedSelector._parameter_constraints["n_candidates"]],
        "refine": [StrOptions({"auto"}), "boolean"],
        "binarize": [StrOptions({"auto"}), "boolean"],
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
    }

    _default_neighbors = N_NEIGHBORS
    _takes_row_chunks = True

    def __init__(
        self,
        n_features_to_select: int | float | Literal["auto"] | None = None,
        *,
        n_blocks: int | Literal["auto"] = "auto",
        max_blocks: int = MAX_BLOCKS,
        block_model: Any = "mixed",
        n_candidates: int | Literal["auto"] = "auto",
        refine: bool | Literal["auto"] = "auto",
        binarize: bool | Literal["auto"] = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
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
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    @follow_fit
    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, progress: Any = None) -> Self:
        """Rank the features of the nodes by how much of the structure of their graph they explain.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame of pandas or polars, AnnData or RowChunks, of shape (n, m), or graph
            Non-negative features of the nodes. In :class:`blockselect.RowChunks` they may be larger than memory. A
            networkx or igraph graph provides both its node attributes, as features, and its links (see
            :meth:`blockselect.AttributedGraph.from_networkx`). (paper: Y)
        y : ignored
        adjacency : matrix of shape (n, n), edges, graph of another library, or None
            The graph of the rows of X, in any form that :func:`blockselect.as_adjacency` reads. If None, the
            links of X are used if X is a graph; otherwise, each node is linked to its nearest neighbours in X.
            (paper: A)
        progress : callable, optional
            Called as ``progress(stage, done, total)`` during the fit.

        Returns
        -------
        self
        """
        network = self._check_network(X, y, adjacency)
        self._note_input(X, adjacency, network)
        used, self.binarized_ = self._prepare_features(network)
        nodes = self._nodes_used(used)
        graph, rng = used.only(nodes), generator_from(self.random_state)
        with one_thread():  # otherwise sums would depend on the number of cores
            # Find candidate block models, refine them with the features, keep the best, and merge blocks into levels.
            search = self._search(graph, rng, progress)
            likelihood = JointLikelihood(graph)
            self.refined_, self.refine_reason_, candidates = self._whether_to_refine(search, graph, likelihood)
            consensus = find_consensus(
                likelihood,
                candidates,
                refine=self.refined_,
                rng=rng.spawn(1)[0],
                max_rounds=search.effort.max_rounds,
                n_jobs=self.n_jobs,
                progress=partial(progress, "screening"),
            )
            trees = likelihood.trees(consensus.models, renumber=self._finds_blocks())
            self._keep_blocks(search, consensus, trees, nodes)
            left_out = self._finds_blocks() and self.block_model == "mixed" and not in_memory(graph.features)
            self.families_left_out_ = _LEFT_OUT if left_out else None
            # Select features one after the other that together explain these blocks.
            discoveries = self._discoveries(graph, search.models, rng, progress)
            n_wanted = self._n_wanted(graph.n_features) if discoveries is None else int(discoveries.support.sum())
            progress("ranking", 0, 1)
            ranking = rank_by_trees(graph, likelihood, trees, n_wanted, n_jobs=self.n_jobs)
            self._select_best(ranking, discoveries)
            curve = self._explain(graph.features, trees[0], ranking)
            progress("ranking", 1, 1)
        # Test whether the selected features are associated with the graph; prefer blocks found without the features.
        by_links = search.found_by_links() if self._finds_blocks() else []
        self.network_evidence_ = self._evidence(graph, by_links[0].labels if by_links else None)
        return self._keep_result(network, curve)

    def predict(self, X: Any, *, as_names: bool = False) -> IntArray | ObjectArray:
        """Predict the blocks of nodes, including new ones, from the selected features only.

        The prediction is that of a ridge classifier, trained in `fit` on the selected features and the blocks of the
        nodes. Links are not used.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or AnnData of shape (n, m)
            Features, with the same columns as in `fit`; only the selected columns are used.
        as_names : bool, default=False
            Return the names of the blocks, as in `blocks_`, instead of their numbers.

        Returns
        -------
        array of shape (n,)
            A block of `block_model_` for each row. All rows without any selected feature get the same block.
        """
        check = partial(validate_data, self, accept_sparse="csr", dtype=np.float64, reset=False)
        chosen = self._read_matrix(X, check)[:, np.flatnonzero(self.support_)]
        if self.n_features_:
            chosen = normalize((chosen != 0).astype(np.float64) if self.binarized_ else chosen)
        blocks: IntArray = np.argmax(chosen @ self.coef_.T + self.intercept_, axis=1)
        return self._block_names()[blocks] if as_names else blocks

    def labels_at(self, n_blocks: int) -> IntArray:
        """The block of each node after merging the blocks into `n_blocks` along the tree `linkage_`.

        Parameters
        ----------
        n_blocks : int
            Number of blocks, from 1 to the number of blocks of `block_model_`.

        Returns
        -------
        array of shape (n,)
            The block of each node; blocks are numbered along the tree, as in `labels_`.
        """
        check_is_fitted(self)
        most = self.block_model_.n_blocks
        n_blocks = check_whole("n_blocks", n_blocks, 1, most)
        return groups_at(self.linkage_, n_blocks)[self.labels_]

    def score(self, X: Any, y: Any) -> float:
        """Share of the nodes whose block is predicted correctly.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or AnnData of shape (n, m)
            Features, with the same columns as in `fit`.
        y : array of shape (n,)
            The blocks of these nodes, numbered as in `labels_`.

        Returns
        -------
        float
        """
        return float(accuracy_score(y, self.predict(X)))

    def _check_network(self, X: Any, y: Any, adjacency: Any) -> AttributedGraph:
        """Check the settings, the network and the features."""
        is_auto = self.n_features_to_select == "auto"
        if is_auto:
            check_testable(graph_of(X, adjacency), self.block_model)
        if not in_memory(X):
            if isinstance(self.block_model, str) and self.block_model == FEATURE_READING:
                raise ParameterError("block_model", f"is {FEATURE_READING!r}, but {_LEFT_OUT}; choose another family.")
            if is_auto:
                raise ParameterError("n_features_to_select", f'is "auto", but {NO_TEST_OF_CHUNKS}; pass a number.')
        graph = self._check_graph(X, y, adjacency)
        if graph.n_links == graph.n_self_loops:
            raise ValueError(
                "no link joins two different nodes, so no blocks can be found; pass a graph with links, or use BMGUFS "
                "with block_model=labels."
            )
        if not is_auto:
            self._n_wanted(graph.n_features)  # raises an error before the search if the number is too large
        elif warn_if_made_from_features(graph):
            return replace(graph, origin=graph.origin or "its links")  # so that no evidence is claimed
        return graph

    def _prepare_features(self, graph: AttributedGraph) -> tuple[AttributedGraph, bool]:
        """Convert the features to the form that the method uses; also return whether only their presence counts."""
        features = in_standard_form(graph.features)
        binarizes = are_sparse_counts(features) if self.binarize == "auto" else self.binarize
        return replace(graph, features=presence(features) if binarizes else features), binarizes

    def _read_network(self, X: Any, y: Any = None, adjacency: Any = None) -> AttributedGraph:
        """Check the input, and convert the features to the form that the method uses, for `selection_stability`."""
        return self._prepare_features(self._check_network(X, y, adjacency))[0]

    def _finds_blocks(self) -> bool:
        """Whether the method searches for blocks; otherwise the user gave them."""
        return isinstance(self.block_model, str)

    def _nodes_used(self, graph: AttributedGraph) -> BoolArray:
        """Which nodes are used: those with links or features, or all nodes if the blocks are given: (n,)"""
        return graph.is_linked | graph.has_features if self._finds_blocks() else np.ones(graph.n_nodes, dtype=bool)

    def _factorization_steps(self) -> int:
        """Maximum number of iterations of a factorisation; fewer are enough if blocks are refined afterwards."""
        return FACTORIZATION_STEPS if self.refine is not False else MAX_ITER

    def _search(self, graph: AttributedGraph, rng: np.random.Generator, progress: Progress) -> SearchResult:
        """Candidate block models of the graph, or the blocks that were given."""
        if not self._finds_blocks():
            given = self._given_block_model(graph)
            return SearchResult([given], Effort(0.0, 1), lambda _: AS_GIVEN, given.n_blocks)
        return search_blocks(
            graph,
            n_blocks=self.n_blocks,
            max_blocks=self.max_blocks,
            family=self.block_model,
            n_candidates=self.n_candidates,
            max_iter=self._factorization_steps(),
            n_jobs=self.n_jobs,
            rng=rng,
            progress=progress,
        )

    def _whether_to_refine(
        self, search: SearchResult, graph: AttributedGraph, likelihood: JointLikelihood
    ) -> tuple[bool, str, list[BlockModel]]:
        """Decide whether to refine the blocks; return the decision, the reason, and the candidates to compare."""
        if not self._finds_blocks():
            return False, "the blocks were given", search.models
        if self.refine != "auto":
            return bool(self.refine), f"refine={self.refine}", search.models
        return whether_to_refine(search, graph, likelihood, max_blocks=self.max_blocks, n_jobs=self.n_jobs)

    def _keep_blocks(
        self, search: SearchResult, consensus: Consensus, trees: Sequence[BlockTree], nodes: BoolArray
    ) -> None:
        """Set the attributes about block models. Nodes that were left out join the block with the fewest links."""
        self.linkage_ = trees[0].linkage
        self.candidates_ = [model.with_others(nodes) for model in consensus.candidates]
        self.candidates_table_, self.effort_ = consensus.table(), search.effort
        self.consensus_models_ = [tree.model.with_others(nodes) for tree in trees]
        self.block_model_ = self.consensus_models_[0]
        self.labels_ = self.block_model_.labels
        self.block_stability_, self.block_agreement_ = expected_agreement(
            [model.labels for model in self.consensus_models_]
        )
        self.n_blocks_reason_ = search.reason_for(self.block_model_.n_blocks)

    def _n_wanted(self, n_features: int) -> int | None:
        """The number of features to select; None stands for as many as are needed to explain enough."""
        return None if self.n_features_to_select is None else self._n_to_select(n_features)

    def _discoveries(
        self, graph: AttributedGraph, candidates: Sequence[BlockModel], rng: np.random.Generator, progress: Progress
    ) -> Discoveries | None:
        """Test which features match the graph better than chance; None unless n_features_to_select="auto"."""
        if self.n_features_to_select != "auto":
            return None
        progress("discoveries", 0, 1)
        capped = cap_weights(graph.adjacency)
        if self._finds_blocks() and capped is not graph.adjacency:
            candidates = self._search(replace(graph, adjacency=capped), rng.spawn(1)[0], no_progress).models
        found = match_blocks(
            graph, candidates, level=DEFAULT_LEVEL, rng=rng.spawn(1)[0], progress=partial(progress, "discoveries")
        )
        progress("discoveries", 1, 1)
        if not found.support.any():
            warn_caller(
                f"no feature matches the graph better than chance at a false discovery rate of {DEFAULT_LEVEL:g}, so "
                "none is selected; use discover_features for another level, or request a number of features.",
                ConvergenceWarning,
            )
        return found

    def _select_best(self, ranking: Ranking, discoveries: Discoveries | None) -> None:
        """Select the first features of the ranking, or all discoveries: a subset may exceed their error rate."""
        if discoveries is None:
            n_constant = int(np.count_nonzero(~ranking.is_useful))
            why = f"the other {n_constant} have the same value for all nodes."
            self._select(ranking.scores, why_fewer=why, order=ranking.order, wanted=ranking.n_wanted)
            self.p_values_ = self.q_values_ = None
        else:
            self._rank(ranking.scores, ranking.order)
            self.support_, self.n_features_ = discoveries.support, ranking.n_wanted
            self.p_values_, self.q_values_ = discoveries.p_values, discoveries.q_values

    def _explain(self, features: Features, best: BlockTree, ranking: Ranking) -> dict[str, Any] | None:
        """Set how much of the blocks the selected features explain; return the curve over the number of features."""
        in_order = self._selected_in_order()
        regressed, regression = in_order[:MAX_REGRESSED], ranking.regression
        self.explained_ = np.pad(regression.cumulative(regressed), (0, len(in_order) - len(regressed)), mode="edge")
        self.explained_more_, self.explained_alone_ = ranking.added, ranking.alone
        self.beyond_chance_ = ranking.is_clear
        self.coef_, self.intercept_ = regress_blocks(
            features, np.flatnonzero(self.support_), regressed, best.model.labels, regression.ridge
        )
        n_blocks, at_levels = numbers_of_groups(best.model.n_blocks), regression.by_level(regressed)
        self.levels_ = pd.DataFrame({"n_blocks": n_blocks[::-1], "explained": at_levels[::-1]})
        # There is no curve for row chunks, which would be read several times, nor for one block: nothing to explain.
        has_curve = best.model.n_blocks > 1 and in_memory(features)
        return explained_by_size(self, regression, ranking.share_of_all) if has_curve else None

    def _table_columns(self) -> dict[str, FloatArray | BoolArray]:
        return {
            "beyond_chance": self.beyond_chance_,
            "explained_more": self.explained_more_,
            "explained_alone": self.explained_alone_,
        }

    def _n_resamples(self, asked: int) -> int:
        return self.effort_.n_resamples(asked)

    def _inverse_ranks_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        progress: Progress = no_progress,
    ) -> FloatArray:
        """1 / rank of each feature on other graphs of the same nodes, without complete fits (see `inverse_ranks`)."""
        return inverse_ranks(
            self.consensus_models_,
            graph,
            self._nodes_used(graph),
            adjacencies,
            rngs,
            searched=self._finds_blocks(),
            refine=self.refined_,
            max_iter=self._factorization_steps(),
            n_to_rank=n_to_rank(self.n_features_),
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def _without_effect(self) -> dict[str, str]:
        if not self._finds_blocks():
            names = ("n_blocks", "max_blocks", "n_candidates", "refine")
            return dict.fromkeys(names, "the blocks are given as block_model")
        return {} if self.n_blocks == "auto" else {"max_blocks": 'it only limits n_blocks="auto"'}
