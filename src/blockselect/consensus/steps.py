"""The steps of a fit of BlockModelSelector, in their order: what comes in, candidates, scores, selection."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from blockselect.arrays import FloatArray
from blockselect.base import ScoreSelector
from blockselect.blockmodels.candidates import check_family, find_block_models
from blockselect.blockmodels.model import BlockModel, check_block_model
from blockselect.blockmodels.n_blocks import choose_n_blocks
from blockselect.blockmodels.reflection import reflected
from blockselect.bmgufs.device import check_device
from blockselect.bmgufs.gram_squared import gram_squared
from blockselect.bmgufs.losses import induced_density
from blockselect.bmgufs.problem import ScoreProblem
from blockselect.consensus.guidance import Guidance, Guided
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.binarize import are_sparse_counts, presence
from blockselect.inspection.discoveries import check_testable, discover
from blockselect.scoring.refinement import refine_selection


@dataclass(frozen=True, slots=True, eq=False)
class LossHistory:
    """Both losses before each iteration and after the last."""

    reconstruction: FloatArray  # (t + 1,) (paper: L_b)
    profile: FloatArray  # (t + 1,) (paper: L_m)


class BlockModelSteps(ScoreSelector):
    """Each step reads the selector's parameters and sets the attributes it finds."""

    def _check_input(self, X: Any, y: Any, adjacency: Any) -> AttributedGraph:
        """The network as it is read; everything that may be wrong with it or the settings is found here."""
        check_device(self.device)
        self._guide()
        if isinstance(self.block_model, str):
            check_family(self.block_model, with_features=True)
        if self.n_features_to_select == "auto":
            check_testable(adjacency, self.block_model, refine=self.refine)
        graph = self._check_graph(X, y, adjacency, n_neighbors=self.n_neighbors, dtype=self.dtype)
        if self.guidance == "consensus":
            check_links(graph)
        if self.initial_scores is not None:
            check_initial_scores(self.initial_scores, graph.n_features, np.dtype(self.dtype))
        if self.n_features_to_select != "auto":
            self._n_to_select(graph.n_features)
        binary = are_sparse_counts(graph.features) if self.binarize == "auto" else self.binarize
        return replace(graph, features=presence(graph.features)) if binary else graph

    def _find_candidates(self, graph: AttributedGraph, rng: np.random.Generator) -> list[BlockModel]:
        if isinstance(self.block_model, BlockModel):
            return [check_block_model(self.block_model, graph.n_nodes)]
        if not isinstance(self.block_model, str):
            return [BlockModel.from_labels(graph.adjacency, self.block_model)]
        n_blocks = self.n_blocks
        if n_blocks == "auto":
            n_blocks = choose_n_blocks(graph.adjacency, rng=rng.spawn(1)[0])
        return find_block_models(
            graph.adjacency,
            n_blocks,
            family=self.block_model,
            features=graph.features,
            n_candidates=self.n_candidates,
            rng=rng,
            n_jobs=self.n_jobs,
        )

    def _guide(self) -> int | None:
        """Which of the candidates, ordered by error, guides the scores; None: the best together."""
        if self.guidance == "consensus":
            return None
        index = 0 if self.guidance == "lowest_error" else int(self.guidance)
        count = self.n_candidates if isinstance(self.block_model, str) else 1
        if index >= count:
            raise ValueError(f"guidance is {index} but there are {count} candidates; choose 0 to {count - 1}.")
        return index

    def _discover(
        self, graph: AttributedGraph, candidates: list[BlockModel], rng: np.random.Generator
    ) -> NDArray[np.bool_] | None:
        """Features whose match with the graph stands out from random matchings, where that is asked for."""
        if self.n_features_to_select != "auto":
            return None
        found = discover(
            graph.features,
            [reflected(model) for model in candidates] if self.profile_target == "reflected" else candidates,
            level=self.false_discovery_rate,
            n_rounds=self.n_null,
            rng=rng.spawn(1)[0],
            profile_ratio=self.profile_ratio,
            smoothing=self.smoothing,
            gradient=self.gradient,
        )
        self.p_values_, self.q_values_ = found.p_values, found.q_values
        return found.support

    def _problem(self, graph: AttributedGraph, form: Any) -> ScoreProblem:
        descent = {
            "profile_ratio": self.profile_ratio,
            "gradient": self.gradient,
            "step_size": self.step_size,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "smoothing": self.smoothing,
            "initial_scores": self.initial_scores,
        }
        gram = gram_squared(graph.features, form=form, dtype=self.dtype)
        reflect = self.profile_target == "reflected"
        return ScoreProblem(graph.features, gram, reflect, self.device, self.dtype, descent)

    def _guide_scores(self, guidance: Guidance, candidates: list[BlockModel], rng: np.random.Generator) -> Guided:
        guide = self._guide()
        if guide is not None:
            return guidance.by_one(candidates[guide])
        search = isinstance(self.block_model, str)
        joint = self.joint and search
        voting, resampling = rng.spawn(2)
        guided = guidance.by_consensus(candidates, joint=joint, rng=voting, n_jobs=self.n_jobs)
        self.criteria_ = guided.criteria(candidates)
        if self.n_resamples:
            self.stability_ = guidance.stability(
                guided.models, self.n_resamples, search=search, joint=joint, rng=resampling
            )
        return guided

    def _keep(self, guided: Guided, problem: ScoreProblem) -> None:
        self.block_model_ = guided.models[0]
        self.sparsity_ = float(np.mean(guided.sparsities))
        self.n_iter_ = int(guided.solution.n_iter[0, 0])
        self.history_ = LossHistory(
            guided.solution.reconstruction_loss[0, 0, : self.n_iter_ + 1],
            guided.solution.profile_loss[0, 0, : self.n_iter_ + 1],
        )
        self.induced_density_ = induced_density(problem.statistics(guided.models[:1]), guided.scores[None, None])[0, 0]

    def _select_features(self, guided: Guided, problem: ScoreProblem, found: NDArray[np.bool_] | None) -> None:
        scores = guided.scores
        if found is None:
            self._select(scores, eligible=scores > 0, why_fewer=self._why_fewer(problem))
        else:
            self._select_found(scores, found)
        if self.refine and self.n_features_:
            self.refinement_ = refine_selection(
                np.flatnonzero(self.support_),
                problem.gram,
                problem.statistics(guided.models),
                profile_ratio=self.profile_ratio,
                smoothing=self.smoothing,
                candidates=scores > 0,
                features=problem.features,
                redundancy=self.redundancy,
                coverage=self.coverage,
            )
            self.support_ = np.isin(np.arange(len(scores)), self.refinement_.selected)

    def _select_found(self, scores: FloatArray, found: NDArray[np.bool_]) -> None:
        """Select the discoveries, whatever their scores: a cut by scores would lose the guarantee."""
        self._rank(scores)
        self.support_ = found
        self.n_features_ = int(found.sum())
        if not self.n_features_:
            warnings.warn(
                f"no feature stands out from random matchings at false_discovery_rate={self.false_discovery_rate:g}, "
                "so none is selected; raise it, or ask for a number of features.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _why_fewer(self, problem: ScoreProblem) -> str:
        n_empty = int(np.count_nonzero(np.asarray(problem.features.sum(axis=0)).ravel() == 0))
        advice = f"; sparsity {self.sparsity_:g} (γ) drives scores to zero, lower it for more" if self.sparsity_ else ""
        return f"the others score zero, {n_empty} of them since no node has the feature{advice}."


def check_links(graph: AttributedGraph) -> None:
    """A consensus weighs candidates by what they tell of links."""
    if graph.n_links == graph.n_self_loops:
        raise ValueError(
            "no link joins two different nodes, so there is nothing to find blocks by; pass a graph with links, or "
            "block_model=labels with guidance='lowest_error'."
        )


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
