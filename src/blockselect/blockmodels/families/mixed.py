"""Blocks by several families in turn: each alone fails on some kind of network, and seldom all on the same."""

from __future__ import annotations

from blockselect.arrays import IntArray
from blockselect.blockmodels.families.adjacency import adjacency_labels
from blockselect.blockmodels.families.factorization import normalized_labels, onmtf_labels, two_hop_labels
from blockselect.blockmodels.families.search import Family, Search
from blockselect.blockmodels.families.smoothed import smoothed_labels
from blockselect.blockmodels.families.spectral import spectral_labels

MEMBERS: dict[str, Family] = {
    "spectral": spectral_labels,
    "two_hop": two_hop_labels,
    "smoothed": smoothed_labels,
    "normalized": normalized_labels,
    "onmtf": onmtf_labels,
    "adjacency": adjacency_labels,
}

FEATURE_READING = "smoothed"  # the one family that reads the features besides the graph


def mixed_labels(search: Search) -> list[IntArray]:
    """Blocks of each start by the family whose turn it is; "smoothed" is left out where there are no features."""
    turns = members_in_turn(len(search.rngs), with_features=search.features is not None)
    found: dict[int, IntArray] = {}
    for name in dict.fromkeys(turns):
        at = [i for i, turn in enumerate(turns) if turn == name]
        labels = MEMBERS[name](search.with_rngs([search.rngs[i] for i in at]))
        found.update(zip(at, labels, strict=True))
    return [found[i] for i in range(len(turns))]


def members_in_turn(n_candidates: int, *, with_features: bool) -> list[str]:
    """The family of each candidate, one after the other: the first ten of twenty are the ten of ten."""
    names = [name for name in MEMBERS if with_features or name != FEATURE_READING]
    return [names[i % len(names)] for i in range(n_candidates)]
