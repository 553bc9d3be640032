"""Blocks by several families in turn: each alone fails on some kind of network, and seldom all on the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blockselect.arrays import Features, IntArray, Sparse
from blockselect.blockmodels.families.adjacency import adjacency_labels
from blockselect.blockmodels.families.normalized import normalized_labels
from blockselect.blockmodels.families.onmtf import onmtf_labels
from blockselect.blockmodels.families.smoothed import smoothed_labels
from blockselect.blockmodels.families.spectral import spectral_labels
from blockselect.blockmodels.families.two_hop import two_hop_labels

Family = Callable[..., list[IntArray]]  # adjacency, n_blocks, rngs, features, n_jobs → labels, one array a generator

MEMBERS: dict[str, Family] = {
    "spectral": spectral_labels,
    "two_hop": two_hop_labels,
    "smoothed": smoothed_labels,
    "normalized": normalized_labels,
    "onmtf": onmtf_labels,
    "adjacency": adjacency_labels,
}
"""Families that need no extra package, so that what is found does not depend on what is installed."""


FEATURE_READING = "smoothed"  # the one family that looks at features besides the graph


def mixed_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    features: Features | None = None,
    n_jobs: int | None = None,
) -> list[IntArray]:
    """Blocks of each generator by the family whose turn it is; without features, "smoothed" has none."""
    turns = members_in_turn(len(rngs), with_features=features is not None)
    found: dict[int, IntArray] = {}
    for name in dict.fromkeys(turns):
        at = [i for i, turn in enumerate(turns) if turn == name]
        labels = MEMBERS[name](adjacency, n_blocks, [rngs[i] for i in at], features=features, n_jobs=n_jobs)
        found.update(zip(at, labels, strict=True))
    return [found[i] for i in range(len(rngs))]


def members_in_turn(n_candidates: int, *, with_features: bool) -> list[str]:
    """The family of each candidate, one after the other: the first ten of twenty are the ten of ten."""
    names = [name for name in MEMBERS if with_features or name != FEATURE_READING]
    return [names[i % len(names)] for i in range(n_candidates)]
