"""SELECTORS: every method by its name, with what guides it and how sure its formula is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from sklearn.utils.validation import has_fit_parameter

from blockselect.graphs.attributed import AttributedGraph
from blockselect.selectors.base import ScoreSelector
from blockselect.selectors.block_model import PAPER, BlockModelSelector
from blockselect.selectors.moran import MoransI
from blockselect.selectors.variance import VarianceScore

Guidance = Literal["blocks", "features", "network", "none"]
Certainty = Literal["checked", "recalled", "reconstructed"]


@dataclass(frozen=True, slots=True)
class Method:
    """A selector with the settings it is compared with, and where it comes from."""

    selector: type[ScoreSelector]
    title: str
    guidance: Guidance  # what tells good features: blocks of the network, the features alone, its links, or nothing
    certainty: Certainty  # numbers met published code, the objective is as published, or no claim of fidelity
    cite: str
    in_paper: bool  # compared with or discussed by the paper
    settings: Mapping[str, Any] = field(default_factory=dict)


SELECTORS: dict[str, Method] = {
    "block-model": Method(
        BlockModelSelector,
        "Block model, exact gradient",
        "blocks",
        "checked",
        "after Bai, Nguyen and Davidson, KDD 2020, doi:10.1145/3394486.3403173",
        in_paper=False,
    ),
    "bmgufs": Method(
        BlockModelSelector,
        "BMGUFS, as published",
        "blocks",
        "checked",
        "Bai, Nguyen and Davidson, KDD 2020, doi:10.1145/3394486.3403173",
        in_paper=True,
        settings=PAPER,
    ),
    "variance": Method(
        VarianceScore,
        "Variance",
        "none",
        "checked",
        "the variance of each feature, in general use",
        in_paper=False,
    ),
    "morans-i": Method(
        MoransI,
        "Moran's I",
        "network",
        "checked",
        "Moran, Biometrika 1950, doi:10.1093/biomet/37.1-2.17",
        in_paper=False,
    ),
}


def find_method(name: str) -> Method:
    """The method of this name.

    Raises
    ------
    ValueError
        With the names there are, and the closest.
    """
    if name not in SELECTORS:
        close = get_close_matches(name.lower(), SELECTORS, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        raise ValueError(f"no method is called {name!r}; known are: {', '.join(SELECTORS)}.{guess}")
    return SELECTORS[name]


def make_selector(
    name: str, n_features_to_select: int | float | None = None, *, n_blocks: int, random_state: Any = None
) -> ScoreSelector:
    """A selector of the registry, not fitted, with its own settings.

    Parameters
    ----------
    name : str
        A key of `SELECTORS`.
    n_features_to_select : int, float or None
        As in every selector. (paper: d)
    n_blocks : int
        Blocks or clusters of nodes, where the method looks for them. (paper: k)
    random_state : int, RandomState or None
        Where the method is random.

    Examples
    --------
    >>> make_selector("bmgufs", 16, n_blocks=7, random_state=0).block_model
    'onmtf'
    """
    method = find_method(name)
    shared = {"n_blocks": n_blocks, "random_state": random_state}
    taken = method.selector._get_param_names()
    settings = {key: value for key, value in shared.items() if key in taken}
    return method.selector(n_features_to_select, **{**method.settings, **settings})


def fit_selector(selector: ScoreSelector, graph: AttributedGraph) -> ScoreSelector:
    """Fit to a network, of which a selector that looks at the features alone sees those alone."""
    network = {"adjacency": graph.adjacency} if has_fit_parameter(selector, "adjacency") else {}
    return selector.fit(graph.features, **network)  # type: ignore[attr-defined, no-any-return]
