"""Rankings on resampled graphs, without a complete fit to each of them: what the stability of a selection rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from blockselect.arrays import BoolArray, FloatArray, Sparse
from blockselect.blockmodels.candidates import find_candidates
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.likelihood import as_counts, link_unit, scaled_for_links
from blockselect.consensus.ranking import rank_by_trees
from blockselect.consensus.refine import JointLikelihood
from blockselect.consensus.screening import screen
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.over_rows import jobs_for
from blockselect.progress import Progress
from blockselect.threads import one_thread

_ROUNDS = 3  # of refinement on a resampled graph, because the optimum is near
_SEARCH_EVERY, _NEW_STARTS = 4, 2  # every fourth resampled graph gets new blocks, the best of two starts


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """What a fit passes on to the ranking on resampled graphs."""

    models: Sequence[BlockModel]  # the consensus models of the fit
    searched: bool  # whether the blocks were searched for; blocks that were given stay as they are
    refine: bool
    max_iter: int  # of a factorisation
    n_ranked: int  # features to select one by one
    n_jobs: int | None

    def scores(
        self,
        graph: AttributedGraph,
        nodes: BoolArray,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        progress: Progress,
    ) -> FloatArray:
        """1 / rank of each feature on each of b other graphs of the same nodes; 0 for constant features: (b, m).

        On three graphs of four, one of the consensus models is refined. On the fourth graph, blocks are searched for
        again. A complete fit finds the same optimum about as often. New blocks alone, from few starts, would make
        features seem less stable than they are; the models of the fit alone would make them seem more stable.
        """
        graph = graph.only(nodes)
        counts, scaled, unit = as_counts(graph.features), scaled_for_links(graph.features), link_unit(graph.adjacency)
        models = [model.among(nodes) for model in self.models]

        def rescore(place: int) -> FloatArray:
            adjacency = adjacencies[place] if nodes.all() else adjacencies[place][nodes][:, nodes]
            resampled = replace(graph, adjacency=adjacency)
            likelihood = JointLikelihood(resampled, link_unit=unit, counts=counts)
            if self.searched and place % _SEARCH_EVERY == _SEARCH_EVERY - 1:
                model = self._search_again(likelihood, resampled, rngs[place])
            else:
                model = BlockModel.of_checked(adjacency, models[place % len(models)].labels)
                if self.refine:
                    model = likelihood.improve(model, max_rounds=_ROUNDS, rng=rngs[place]).model
            ranking = rank_by_trees(resampled, likelihood, likelihood.trees([model]), self.n_ranked, scaled=scaled)
            scores = np.zeros(len(ranking.order))
            scores[ranking.order] = 1 / np.arange(1, len(scores) + 1)
            return np.where(ranking.is_useful, scores, 0.0)

        scores = []
        progress("resampling", 0, len(adjacencies))
        with one_thread():  # sums over several threads would depend on the number of cores
            parallel = Parallel(n_jobs=jobs_for(graph.features, self.n_jobs), prefer="threads", return_as="generator")
            for done, found in enumerate(parallel(delayed(rescore)(i) for i in range(len(adjacencies))), start=1):
                scores.append(found)
                progress("resampling", done, len(adjacencies))
        return np.array(scores)

    def _search_again(
        self, likelihood: JointLikelihood, graph: AttributedGraph, rng: np.random.Generator
    ) -> BlockModel:
        """The best of a few new block models of a resampled graph, found by the families of the consensus models."""
        found = [
            find_candidates(
                graph.adjacency,
                graph.features,
                {model.n_blocks: 1},
                family=model.family,
                rng=rng,
                max_iter=self.max_iter,
            )[0]
            for model in (list(self.models) * _NEW_STARTS)[:_NEW_STARTS]
        ]
        return screen(likelihood, found, refine=self.refine, rng=rng).consensus[0]
