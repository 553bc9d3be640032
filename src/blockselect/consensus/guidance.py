"""How candidate block models guide the scores: one of them alone, as in the paper, or the best of them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from blockselect.arrays import FloatArray
from blockselect.blockmodels.candidates import find_block_models
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.problem import ScoreProblem, Solution
from blockselect.bmgufs.sparsity import Sparsity, settle_sparsity, sparsities_of
from blockselect.consensus.joint import JointProblem
from blockselect.consensus.screening import Screening, screen
from blockselect.consensus.units import link_unit
from blockselect.consensus.weights import EVIDENCE, consensus_scores
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.resample import resample_links
from blockselect.inspection.reselection import selection_stability

Progress = Callable[[str, int, int], None]  # stage, done, of how many

_TRIES = 3  # block models of each resampled graph, of which the best counts


@dataclass(frozen=True, slots=True, eq=False)
class Guided:
    """Scores, and the block models that led to them."""

    scores: FloatArray  # (m,)
    models: list[BlockModel]  # that guided, the best first
    sparsities: tuple[float, ...]  # that count
    solution: Solution  # of these models, for those sparsities
    screening: Screening | None = None  # where there was a choice

    def criteria(self, candidates: Sequence[BlockModel]) -> pd.DataFrame:
        """How each candidate was judged, in their order; without a screening they were not."""
        table = pd.DataFrame(
            {
                "family": [model.family for model in candidates],
                "n_blocks": [model.n_blocks for model in candidates],
                "relative_error": [model.relative_error for model in candidates],
            }
        )
        if self.screening is None:
            return table
        return table.assign(
            evidence_at_start=self.screening.at_start,
            evidence=self.screening.evidence,
            voted=np.isin(np.arange(len(candidates)), self.screening.kept),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Guidance:
    """What any way of guiding needs: the network as it is read, and how scores are solved."""

    graph: AttributedGraph
    problem: ScoreProblem
    sparsity: Sparsity
    evidence: str  # key of EVIDENCE
    n_wanted: int
    report: Progress

    def by_one(self, model: BlockModel) -> Guided:
        """The paper's way: scores of a single block model."""
        votes, sparsities, solution = self._votes([model], "scores")
        return Guided(votes[0], [model], sparsities, solution)

    def by_consensus(
        self, candidates: Sequence[BlockModel], *, joint: bool, rng: np.random.Generator, n_jobs: int | None
    ) -> Guided:
        """Scores of the candidates whose blocks tell most of links and features, weighed by the evidence."""
        joint_problem = JointProblem(self.graph)
        screening = screen(
            joint_problem,
            candidates,
            joint=joint,
            rng=rng,
            n_jobs=n_jobs,
            progress=lambda done, total: self.report("screening", done, total),
        )
        votes, sparsities, solution = self._votes(screening.models, "scores")
        scores = consensus_scores(votes, EVIDENCE[self.evidence](joint_problem, self.graph, screening.models))
        return Guided(scores, screening.models, sparsities, solution, screening)

    def stability(
        self,
        models: Sequence[BlockModel],
        n_resamples: int,
        *,
        search: bool,
        joint: bool,
        rng: np.random.Generator,
    ) -> FloatArray:
        """How surely each feature would be selected again on a resampled graph: (m,).

        Each resampled graph is fitted by the best of a few block models, of the families that voted, in turn: one
        alone is found worse than the best of many candidates, and features would seem less sure than they are.
        `search` finds them anew, else the given blocks stay and their densities alone change.
        """
        resampled, evidence = [], []
        unit = link_unit(self.graph.adjacency)
        self.report("resampling", 0, n_resamples)
        for i, stream in enumerate(rng.spawn(n_resamples)):
            graph = replace(self.graph, adjacency=resample_links(self.graph.adjacency, stream))
            joint_problem = JointProblem(graph, link_unit=unit)
            if search:
                like = [models[j % len(models)] for j in range(_TRIES * i, _TRIES * (i + 1))]
                found = [_found_again(graph, one, stream) for one in like]
                model = screen(joint_problem, found, joint=joint, rng=stream).models[0]
            else:
                model = BlockModel.from_labels(graph.adjacency, models[0].labels)
            resampled.append(model)
            evidence.append(EVIDENCE[self.evidence](joint_problem, graph, [model]))
            self.report("resampling", i + 1, n_resamples)
        votes, _, _ = self._votes(resampled, "stability")
        scores = [consensus_scores(vote[None], nats) for vote, nats in zip(votes, evidence, strict=True)]
        return selection_stability(np.array(scores), self.n_wanted)

    def _votes(self, models: Sequence[BlockModel], stage: str) -> tuple[FloatArray, tuple[float, ...], Solution]:
        """The scores of each model at the sparsity that counts (c, m)."""
        sparsities = sparsities_of(self.sparsity)
        solution = self.problem.solve(models, sparsities, lambda done, total: self.report(stage, done, total))
        votes, counting = settle_sparsity(solution.scores, self.sparsity, self.n_wanted)
        return votes, sparsities[counting], solution.at(counting)


def _found_again(graph: AttributedGraph, like: BlockModel, rng: np.random.Generator) -> BlockModel:
    """A block model of a graph, found as another was."""
    return find_block_models(
        graph.adjacency, like.n_blocks, family=like.family, features=graph.features, n_candidates=1, rng=rng
    )[0]
