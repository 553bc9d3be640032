"""SETTINGS: the ways of BlockModelSelector that are measured beside its default, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blockselect.selectors.block_model import PAPER, BlockModelSelector
from blockselect.suggestions import did_you_mean

DEFAULT = "default"
KNOWN_BLOCKS = "as many as there are"
"""As a setting's `n_blocks`: the number of classes, or of planted blocks."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Arguments of the selector besides how many features and the seed; JSON values."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    one_fit: bool = False  # asked for the most features, its ranking serves every smaller number: a fifth of the work

    @property
    def text(self) -> str:
        """The arguments as they tell trials apart."""
        return json.dumps(self.arguments, sort_keys=True)


SETTINGS: dict[str, Setting] = {
    DEFAULT: Setting(),
    "paper's rule": Setting({**PAPER, "n_blocks": KNOWN_BLOCKS}),
}
"""Every setting by its name, the order of tables."""


def find_setting(name: str) -> Setting:
    """The setting of this name.

    Raises
    ------
    ValueError
        With the names there are, and the closest.
    """
    if name not in SETTINGS:
        guess = did_you_mean(name, SETTINGS)
        raise ValueError(f"no setting is called {name!r}; known are: {', '.join(SETTINGS)}.{guess}")
    return SETTINGS[name]


def selector_of(text: str, n_features_to_select: int, *, n_blocks: int, seed: int) -> BlockModelSelector:
    """The selector of a setting's text, not fitted; `n_blocks` is read where the setting says so."""
    arguments = json.loads(text)
    if arguments.get("n_blocks") == KNOWN_BLOCKS:
        arguments["n_blocks"] = n_blocks
    return BlockModelSelector(n_features_to_select, random_state=seed, **arguments)
