"""The search for candidate block models: how many to find, and whether to refine them with the features.

The number of candidates depends on the cost of refining them. With c candidates of k blocks, nnz(A) entries of the
graph and nnz(X) values of the features, the cost is at most about

    k (2 c + 50 ⌈c/4⌉) (nnz(A) + nnz(X))

multiplications: two rounds of refinement for each candidate, and fifty for each of the best quarter. Two cores perform
about 10⁹ multiplications per second. More candidates lead to better blocks, above all in disassortative networks. By
default, a search has as many candidates as 2·10⁸ multiplications allow, from 9 to 48. If the cost exceeds 2·10¹¹, the
numbers of candidates, rounds and resampled graphs are reduced in proportion, but not below three candidates (one per
family), five rounds and five resampled graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import ceil, floor
from typing import Literal, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from blockselect.blockmodels.candidates import FEATURE_READING, MIXED, find_candidates
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import BlockCount, count_blocks, reason_for_asked
from blockselect.consensus.consensus import FIRST_ROUNDS, KEPT
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.refine import MAX_ROUNDS
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inspection.evidence import features_follow_blocks
from blockselect.rows.sums import n_values
from blockselect.utils.arrays import best_first
from blockselect.utils.parameters import check_n_blocks
from blockselect.utils.progress import Progress

BUDGET = 2e11  # multiplications beyond which a search is cut: a few minutes on two cores
CHEAP = 2e8  # multiplications of a default search: less than a second
_FEW_CANDIDATES, _MANY_CANDIDATES = 9, 48  # the fewest and the most candidates by default
_LEAST = 5  # rounds of refinement, and resampled graphs, of a search that is cut
_MORE_THAN_LINKS_SHOW = (3, 4, 6, 8, 12)  # numbers of blocks that are also tried if the links support fewer
_AGREE = 0.95  # mean adjusted Rand index above which block models found from the links agree


@dataclass(frozen=True, slots=True)
class Effort:
    """The requested effort of a search, and the effort that is planned within the budget."""

    work: float  # upper bound on the number of multiplications at the requested effort
    asked_candidates: int
    asked_rounds: int = MAX_ROUNDS

    @property
    def share(self) -> float:
        """The planned effort as a share of the requested effort; 1 if nothing is cut."""
        return min(1.0, BUDGET / max(self.work, 1.0))

    @property
    def n_candidates(self) -> int:
        """Number of candidate block models."""
        return self._cut(self.asked_candidates, len(MIXED))

    @property
    def max_rounds(self) -> int:
        """The largest number of rounds of refinement of a consensus model."""
        return self._cut(self.asked_rounds, _LEAST)

    def n_resamples(self, asked: int) -> int:
        """Number of resampled graphs if `asked` are requested."""
        return self._cut(asked, _LEAST)

    @property
    def was_cut(self) -> bool:
        """Whether the planned effort is smaller than the requested one."""
        return self.share < 1

    def _cut(self, asked: int, least: int) -> int:
        return max(min(asked, least), floor(self.share * asked))


def plan_effort(graph: AttributedGraph, n_blocks: int, *, n_candidates: int | Literal["auto"]) -> Effort:
    """Plan the effort of a search for block models with this number of blocks.

    "auto" means 9 to 48 candidates, depending on the estimated cost, and equally many of each family.
    """
    if n_candidates == "auto":
        affordable = CHEAP / _work(graph, n_blocks, _FEW_CANDIDATES) * _FEW_CANDIDATES
        turns = floor(min(affordable, _MANY_CANDIDATES) / len(MIXED))
        asked = max(_FEW_CANDIDATES, turns * len(MIXED))
    else:
        asked = n_candidates
    return Effort(_work(graph, n_blocks, asked), asked)


def _work(graph: AttributedGraph, n_blocks: int, n_candidates: int) -> float:
    """Upper bound on the multiplications of a search."""
    rounds = FIRST_ROUNDS * n_candidates + MAX_ROUNDS * ceil(KEPT * n_candidates)
    return n_blocks * rounds * float(graph.adjacency.nnz + n_values(graph.features))


class SearchResult(NamedTuple):
    """Candidate block models of one graph."""

    models: list[BlockModel]  # the lowest relative error first
    effort: Effort
    reason_for: Callable[[int], str]  # the reason, in words, for a number of blocks
    n_blocks: int  # the number to try first
    counted: BlockCount | None = None  # the number of blocks that the links show, if it was estimated

    def found_by_links(self) -> list[BlockModel]:
        """The models that were found without the features."""
        return [model for model in self.models if model.family != FEATURE_READING]


def search_blocks(
    graph: AttributedGraph,
    *,
    n_blocks: int | Literal["auto"],
    max_blocks: int,
    family: str,
    n_candidates: int | Literal["auto"],
    max_iter: int,
    n_jobs: int | None,
    rng: np.random.Generator,
    progress: Progress,
) -> SearchResult:
    """Find candidates with the requested number of blocks, or with as many as the links support."""
    count, eigenvectors = None, None
    if n_blocks == "auto":
        progress("number of blocks", 0, 1)
        count = count_blocks(graph, max_blocks=max_blocks, rng=rng.spawn(1)[0])
        progress("number of blocks", 1, 1)
        numbers, eigenvectors, reason_for = numbers_to_try(count), count.vectors, count.reason_for
    else:
        check_n_blocks(n_blocks, graph.n_nodes)
        numbers, reason_for = [n_blocks], partial(reason_for_asked, asked=n_blocks)
    first, *others = numbers
    effort = plan_effort(graph, first, n_candidates=n_candidates)
    progress("block models", 0, 1)
    models = find_candidates(
        graph.adjacency,
        graph.features,
        {first: effort.n_candidates, **dict.fromkeys(others, max(1, effort.n_candidates // 4))},
        family=family,
        rng=rng,
        n_jobs=n_jobs,
        max_iter=max_iter,
        eigenvectors=eigenvectors,
        progress=partial(progress, "block models"),
    )
    progress("block models", 1, 1)
    order = best_first(-np.array([model.relative_error for model in models]))
    return SearchResult([models[place] for place in order], effort, reason_for, first, count)


def numbers_to_try(count: BlockCount) -> list[int]:
    """The number of blocks that the links support, and larger numbers up to twelve.

    The links alone do not reveal blocks near the detectability threshold; links and features together may.
    """
    more = [number for number in _MORE_THAN_LINKS_SHOW if count.n_blocks < number <= count.limit]
    return [count.n_blocks, *more]


def whether_to_refine(
    search: SearchResult, graph: AttributedGraph, likelihood: JointLikelihood, *, max_blocks: int, n_jobs: int | None
) -> tuple[bool, str, list[BlockModel]]:
    """Decide whether to refine the blocks with the features; also return the reason and the candidates to compare.

    Features that are unrelated to the graph would destroy blocks that the links show clearly. If the links show no
    clear blocks, the features may still reveal some.
    """
    by_links = [model for model in search.found_by_links() if model.n_blocks == search.n_blocks]
    if not by_links:
        return True, "all blocks were found with the features", search.models
    order = best_first(likelihood.gains_of_links([model.labels for model in by_links]))
    best = [by_links[place].labels for place in order[: max(2, ceil(KEPT * len(order)))]]
    if features_follow_blocks(graph.features, best[0], n_jobs):
        return True, "the features are associated with the blocks found from the links", search.models
    count = search.counted or count_blocks(graph, max_blocks=max_blocks, rng=np.random.default_rng(0))
    agreement = np.mean([adjusted_rand_score(one, two) for one, two in combinations(best, 2)] or [1.0])
    if count.n_shown < 2 or agreement < _AGREE:
        return True, "the links by themselves show no clear blocks", search.models
    return False, "the features are not associated with the clear blocks in the links", by_links
