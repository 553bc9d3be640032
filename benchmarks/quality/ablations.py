"""SETTINGS: the ways of BlockModelSelector that are measured beside its default, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blockselect.consensus.estimator import BlockModelSelector
from blockselect.names import look_up

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


def _default_but(**changes: Any) -> Setting:
    """The default with some settings changed. How stable features are is left out: it changes no selection."""
    return Setting({"n_resamples": 0, **changes}, one_fit=True)


SETTINGS: dict[str, Setting] = {
    DEFAULT: _default_but(),
    "known number of blocks": _default_but(n_blocks=KNOWN_BLOCKS),
    "blocks not improved": _default_but(joint=False),
    "evidence of blocks alone": _default_but(evidence="blocks"),
    "no evidence": _default_but(evidence="none"),
    "how densely blocks link": _default_but(profile_target="density"),
    "spectral candidates alone": _default_but(block_model="spectral"),
    "the best-fitting candidate": _default_but(guidance="lowest_error"),
    "values of features": _default_but(binarize=False),
    "sparsity averaged": _default_but(sparsity="auto"),
    "sparsity by the paper's rule": _default_but(sparsity="paper"),  # for the largest number of features
    "refined with coverage": Setting({"n_resamples": 0, "refine": True}),
}
"""Every setting by its name, the order of tables."""


def find_setting(name: str) -> Setting:
    """The setting of this name.

    Raises
    ------
    ValueError
        With the names there are, and the closest.
    """
    return look_up(name, SETTINGS, what="setting")


def parse_settings(text: str) -> list[str]:
    """Names of settings, by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        find_setting(name)
    return names


def selector_of(text: str, n_features_to_select: int, *, n_blocks: int, seed: int) -> BlockModelSelector:
    """The selector of a setting's text, not fitted; `n_blocks` is read where the setting says so."""
    arguments = json.loads(text)
    if arguments.get("n_blocks") == KNOWN_BLOCKS:
        arguments["n_blocks"] = n_blocks
    return BlockModelSelector(n_features_to_select, random_state=seed, **arguments)
