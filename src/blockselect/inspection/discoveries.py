"""Which features match the graph at all: as many as stand out from random matchings, without asking for a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import Features, FloatArray
from blockselect.blockmodels.families.mixed import FEATURE_READING
from blockselect.blockmodels.model import BlockModel
from blockselect.inspection.false_discoveries import discoveries, null_p_values
from blockselect.inspection.matching_null import match_evidence


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Features that match the graph, and how surely each does."""

    p_values: FloatArray  # (m,)
    q_values: FloatArray  # (m,)
    support: NDArray[np.bool_]  # (m,)


def discover(
    features: Features,
    candidates: Sequence[BlockModel],
    *,
    level: float,
    n_rounds: int,
    rng: np.random.Generator,
    **losses: Any,
) -> Found:
    """Test every feature by the candidates that were found from the graph alone; `losses` are settings of both."""
    from_graph = [model for model in candidates if model.family != FEATURE_READING]
    evidence = match_evidence(features, from_graph, n_rounds=n_rounds, rng=rng, **losses)
    p_values = null_p_values(evidence.real, evidence.null)
    result = discoveries(p_values, level)
    return Found(p_values, result.q_values, result.found)


def check_testable(adjacency: Any, block_model: Any, *, refine: bool) -> None:
    """Where features had a say in the graph or its blocks, they match both without any truth in it."""
    if adjacency is None:
        raise ValueError(
            'n_features_to_select="auto" asks which features match the graph, but a graph built from the features '
            "matches them by itself; pass an adjacency, or a number of features."
        )
    family = block_model.family if isinstance(block_model, BlockModel) else block_model
    if isinstance(family, str) and family == FEATURE_READING:
        raise ValueError(
            f'n_features_to_select="auto" needs blocks found from the graph alone, and "{FEATURE_READING}" reads '
            'the features; choose another block_model, such as "mixed", or a number of features.'
        )
    if refine:
        raise ValueError(
            'refine=True swaps features, and those that n_features_to_select="auto" finds stand for themselves; '
            "set refine=False, or ask for a number of features."
        )
