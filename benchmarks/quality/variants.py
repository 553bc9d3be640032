"""VARIANTS: settings of BlockModelSelector that are compared with its defaults, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blockselect.consensus.estimator import BlockModelSelector
from blockselect.utils.parameters import look_up

DEFAULT = "default"
KNOWN_BLOCKS = "known number"
"""Value of `n_blocks` that stands for the number of classes or of planted blocks."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Arguments of the selector, as JSON values, besides the number of features and the seed."""

    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The arguments as text, which identifies the variant in trials."""
        return json.dumps(self.arguments, sort_keys=True)


VARIANTS: dict[str, Variant] = {
    DEFAULT: Variant(),
    "known number of blocks": Variant({"n_blocks": KNOWN_BLOCKS}),
    "blocks not refined": Variant({"refine": False}),
    "spectral candidates alone": Variant({"block_model": "spectral"}),
    "ONMtF candidates alone": Variant({"block_model": "onmtf"}),
    "six candidates": Variant({"n_candidates": 6}),
    "values of features": Variant({"binarize": False}),
}
"""All variants by name, in the order of the tables."""


def find_variant(name: str) -> Variant:
    """The variant with this name; the error for an unknown name suggests the closest."""
    return look_up(name, VARIANTS, what="variant")


def parse_variants(text: str) -> list[str]:
    """Split a comma-separated list of variant names."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        find_variant(name)
    return names


def selector_of(text: str, n_features_to_select: int, *, n_blocks: int, seed: int) -> BlockModelSelector:
    """Make a selector from the text of a variant; `n_blocks` applies only if the variant uses the known number."""
    arguments = json.loads(text)
    if arguments.get("n_blocks") == KNOWN_BLOCKS:
        arguments["n_blocks"] = n_blocks
    return BlockModelSelector(n_features_to_select, random_state=seed, **arguments)
