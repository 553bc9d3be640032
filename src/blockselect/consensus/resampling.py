"""Rankings on resampled graphs, without a complete fit to each: the basis for the stability of a selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from blockselect.blockmodels.candidates import find_candidates
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.consensus import find_consensus
from blockselect.consensus.likelihood import JointLikelihood, as_counts, link_unit
from blockselect.consensus.ranking import rank_by_trees
from blockselect.consensus.refine import refine_blocks
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import in_units
from blockselect.rows.sums import jobs_for
from blockselect.utils.arrays import BoolArray, FloatArray, Sparse
from blockselect.utils.progress import Progress, no_progress
from blockselect.utils.threads import one_thread

_ROUNDS = 3  # rounds of refinement on a resampled graph: few, because the optimum is near
_SEARCH_EVERY, _NEW_STARTS = 4, 2  # on every fourth resampled graph, new blocks are found from two random starts


def inverse_ranks(
    models: Sequence[BlockModel],
    graph: AttributedGraph,
    nodes: BoolArray,
    adjacencies: Sequence[Sparse],
    rngs: Sequence[np.random.Generator],
    *,
    searched: bool,
    refine: bool,
    max_iter: int,
    n_to_rank: int,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> FloatArray:
    """1 / rank of each feature on each of b other graphs of the same nodes; 0 for constant features: (b, m).

    On three of every four graphs, one of the consensus models is refined. On the fourth, new blocks are found. This
    reproduces how often complete fits find the same optimum: with new blocks from a few starts on every graph, features
    would seem less stable than they are; with the consensus models on every graph, they would seem more stable.

    Parameters
    ----------
    models : sequence of BlockModel
        The consensus models of the fit.
    graph : AttributedGraph
        The graph of the fit.
    nodes : boolean array of shape (n,)
        The nodes that are used.
    adjacencies, rngs : sequences of length b
        The other graphs, and a generator for each.
    searched : bool
        Whether the method searched for the blocks; blocks that were given stay as they are.
    refine : bool
        Whether blocks are refined with the features.
    max_iter : int
        The largest number of iterations of a factorisation.
    n_to_rank : int
        Number of features to select one after the other.
    """
    graph = graph.only(nodes)
    counts, scaled, unit = as_counts(graph.features), in_units(graph.features), link_unit(graph.adjacency)
    among = [model.among(nodes) for model in models]

    def on_graph(place: int) -> FloatArray:
        adjacency, rng = adjacencies[place] if nodes.all() else adjacencies[place][nodes][:, nodes], rngs[place]
        resampled = replace(graph, adjacency=adjacency)
        likelihood = JointLikelihood(resampled, unit=unit, counts=counts)
        if searched and place % _SEARCH_EVERY == _SEARCH_EVERY - 1:
            model = search_again(models, likelihood, resampled, rng, refine=refine, max_iter=max_iter)
        else:
            model = BlockModel.of_checked(adjacency, among[place % len(among)].labels)
            if refine:
                (refined,) = refine_blocks(likelihood, [model], rngs=[rng], max_rounds=_ROUNDS)
                model = refined.model
        ranking = rank_by_trees(resampled, likelihood, likelihood.trees([model]), n_to_rank, scaled=scaled)
        scores = np.zeros(len(ranking.order))
        scores[ranking.order] = 1 / np.arange(1, len(scores) + 1)
        return np.where(ranking.is_useful, scores, 0.0)

    scores = []
    progress("resampling", 0, len(adjacencies))
    with one_thread():  # otherwise sums would depend on the number of cores
        parallel = Parallel(n_jobs=jobs_for(graph.features, n_jobs), prefer="threads", return_as="generator")
        for found in parallel(delayed(on_graph)(place) for place in range(len(adjacencies))):
            scores.append(found)
            progress("resampling", len(scores), len(adjacencies))
    return np.array(scores)


def search_again(
    models: Sequence[BlockModel],
    likelihood: JointLikelihood,
    graph: AttributedGraph,
    rng: np.random.Generator,
    *,
    refine: bool,
    max_iter: int,
) -> BlockModel:
    """The best of a few new block models of a resampled graph, from the families of the consensus models."""
    found = [
        find_candidates(
            graph.adjacency, graph.features, {model.n_blocks: 1}, family=model.family, rng=rng, max_iter=max_iter
        )[0]
        for model in (list(models) * _NEW_STARTS)[:_NEW_STARTS]
    ]
    return find_consensus(likelihood, found, refine=refine, rng=rng).models[0]
