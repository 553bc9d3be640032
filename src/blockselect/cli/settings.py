"""Options of the command line into settings of the selector, and its complaints back into options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from blockselect.cli.failure import Failure

PARAMETER_OF: dict[str, str] = {
    "top": "n_features_to_select",
    "blocks": "n_blocks",
    "block_model": "block_model",
    "candidates": "n_candidates",
    "guidance": "guidance",
    "profile_ratio": "profile_ratio",
    "sparsity": "sparsity",
    "gradient": "gradient",
    "max_iter": "max_iter",
    "tol": "tol",
    "seed": "random_state",
    "device": "device",
    "dtype": "dtype",
}
"""Option → parameter of BlockModelSelector."""


class BlockFamily(StrEnum):
    spectral = "spectral"
    onmtf = "onmtf"
    normalized = "normalized"
    two_hop = "two_hop"
    smoothed = "smoothed"
    adjacency = "adjacency"
    leiden = "leiden"
    mixed = "mixed"


class GradientKind(StrEnum):
    exact = "exact"
    paper = "paper"


class FloatType(StrEnum):
    float64 = "float64"
    float32 = "float32"


def selector_settings(options: Mapping[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the selector: the preset, and over it every option that was given (is not None)."""
    parsed = {
        name: PARSERS[name](value) if name in PARSERS else value for name, value in options.items() if value is not None
    }
    return {**preset, **{PARAMETER_OF[name]: _plain(value) for name, value in parsed.items()}}


def parse_top(text: str) -> int | float:
    """A whole number of features, or a share of them."""
    number = _number(text)
    if isinstance(number, int) and number >= 1:
        return number
    if isinstance(number, float) and 0 < number < 1:
        return number
    raise Failure(f"--top is {text!r}; expected a whole number from 1, or a share between 0 and 1.")


def parse_guidance(text: str) -> str | int:
    """Which candidate guides: by its error, or by its place."""
    number = _number(text)
    if text == "lowest_error" or (isinstance(number, int) and number >= 0):
        return text if number is None else int(number)
    raise Failure(f"--guidance is {text!r}; expected lowest_error, or the place of a candidate from 0.")


def parse_sparsity(text: str) -> str | float:
    """A weight of the penalty, or the paper's grid."""
    number = _number(text)
    if text == "auto":
        return text
    if number is not None and 0 <= number < float("inf"):
        return float(number)
    raise Failure(f"--sparsity is {text!r}; expected a number from 0, or auto.")


PARSERS = {"top": parse_top, "guidance": parse_guidance, "sparsity": parse_sparsity}


def in_terms_of_options(message: str) -> str:
    """A complaint that begins with a parameter's name, begun with the option's name instead."""
    for option, parameter in PARAMETER_OF.items():
        begin = rf"^(?:The '{parameter}' parameter of BlockModelSelector|{parameter}(?= (?:is|has|must)\b))"
        message = re.sub(begin, f"--{option.replace('_', '-')}", message)
    return message


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, StrEnum) else value
