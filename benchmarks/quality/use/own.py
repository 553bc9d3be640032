"""OWN: the default, and the same with a part left out or changed, all made of one fit.

Ways to select differ only in what is done with the evidence at the end of a fit. A fit is therefore made once for each
network and seed, and stopped there; each way then goes on as a fit of its own would, with the same random numbers. A
test holds the first ones equal to plain fits.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from blockselect import AttributedGraph, BlockModelSelector
from blockselect.arrays import FloatArray, IntArray
from blockselect.base import best_first
from blockselect.consensus import estimator
from blockselect.consensus.portfolio import WAYS, Evidence
from blockselect.consensus.sets import order_by_block

DEFAULT, KNOWN, LIST = "default", "n_clusters known", "list of scores"
_MOST = 600  # features that a fit is asked for; what it finds does not depend on it


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a fit has found when features are about to be selected."""

    selector: BlockModelSelector
    graph: AttributedGraph
    scores: FloatArray  # (m,)
    evidence: Evidence
    rng: np.random.Generator
    n_classes: int  # read by one way alone, which says so

    def order(self, n_features: int, **settings: Any) -> IntArray:
        """The order of a fit with these settings."""
        twin = copy.copy(self.selector).set_params(n_features_to_select=n_features, **settings)
        order = BlockModelSelector._order(twin, self.graph, self.scores, self.evidence, copy.deepcopy(self.rng))
        return best_first(self.scores) if order is None else order

    def judged(self, n_features: int, guides: Callable[[str], bool]) -> IntArray:
        """The order of a fit whose portfolio has such guides alone, which no parameter says."""
        ways = tuple(way for way in WAYS if guides(way.guide))
        with patch.object(estimator, "choose_way", partial(estimator.choose_way, ways=ways)):
            return self.order(n_features)

    def weighted(self, power: float) -> FloatArray:
        """Scores with another exponent of the weights; what scores 0 stays so."""
        return np.where(self.scores > 0, self.evidence.vote * self.evidence.gains.weights**power, 0.0)


Way = Callable[[Found, int], IntArray]


def _plain(found: Found, n_features: int, **settings: Any) -> IntArray:
    return found.order(n_features, **settings)


def _known(found: Found, n_features: int) -> IntArray:
    """The only one that is told something of the classes: how many there are."""
    return found.order(n_features, n_clusters=found.n_classes)


def _not_judged(found: Found, n_features: int) -> IntArray:
    return found.evidence.order(WAYS[0], found.scores, n_features)


def _exponent(found: Found, n_features: int, *, power: float, as_set: bool) -> IntArray:
    guided = found.weighted(power)
    first = order_by_block(guided, found.evidence.shares, found.evidence.labels, n_features) if as_set else []
    rest = best_first(guided)
    return np.concatenate([np.asarray(first, dtype=np.intp), rest[~np.isin(rest, first)]])


OWN: Mapping[str, Way] = {
    DEFAULT: _plain,
    KNOWN: _known,
    LIST: partial(_plain, as_set=False),
}
ABLATION: Mapping[str, Way] = {
    "judge off": _not_judged,
    "portfolio without links": lambda found, d: found.judged(d, lambda guide: guide.startswith("vote")),
    **{f"list, weight^{p:g}": partial(_exponent, power=p, as_set=False) for p in (0, 0.5, 1.5, 2, 3)},
    **{f"set by block, weight^{p:g}": partial(_exponent, power=p, as_set=True) for p in (0, 0.5, 1.5, 2, 3)},
}
"""Ways to select by name, the order of tables. `list, weight^1` is LIST, `set by block, weight^1` is `judge off`."""


class _Stopped(Exception):  # noqa: N818 - no error: it ends a fit early
    """Carries what was found out of the fit."""

    def __init__(self, *found: Any) -> None:
        self.found = found


class _Stopping(BlockModelSelector):
    """Stops where features are about to be selected."""

    def _order(
        self, graph: AttributedGraph, scores: FloatArray, evidence: Evidence, rng: np.random.Generator
    ) -> IntArray | None:
        raise _Stopped(self, graph, scores, evidence, rng)


def find(graph: AttributedGraph, seed: int) -> Found:
    """A fit of the default, up to its evidence."""
    try:
        _Stopping(min(_MOST, graph.n_features - 1), random_state=seed).fit(graph.features, adjacency=graph.adjacency)
    except _Stopped as stopped:
        return Found(*stopped.found, n_classes=len(np.unique(graph.classes)))
    raise AssertionError("a fit selects features")


def select(found: Found, method: str, n_features: int) -> IntArray:
    """What a way selects, the first to enter first: fewer than asked for where fewer have a score."""
    first = {**OWN, **ABLATION}[method](found, n_features)[:n_features]
    return first[found.scores[first] > 0]
