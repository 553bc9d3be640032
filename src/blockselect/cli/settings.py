"""Options of the command line into settings of the selector, and its complaints back into options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from blockselect.cli.failure import Failure

PARAMETER_OF: dict[str, str] = {
    "top": "n_features_to_select",
    "fdr": "false_discovery_rate",
    "null_rounds": "n_null",
    "blocks": "n_blocks",
    "block_model": "block_model",
    "candidates": "n_candidates",
    "guidance": "guidance",
    "joint": "joint",
    "evidence": "evidence",
    "resamples": "n_resamples",
    "profile_target": "profile_target",
    "profile_ratio": "profile_ratio",
    "sparsity": "sparsity",
    "binarize": "binarize",
    "refine": "refine",
    "redundancy": "redundancy",
    "coverage": "coverage",
    "gradient": "gradient",
    "max_iter": "max_iter",
    "tol": "tol",
    "seed": "random_state",
    "device": "device",
    "dtype": "dtype",
}
"""Option → parameter of BlockModelSelector."""

IN_PYTHON: dict[str, str] = {
    r"build a graph with nearest_neighbour_graph\(features\)": "leave --graph out for links of nearest neighbours",
    r" Cross-validation \(GridSearchCV.*": "",
}
"""Advice that can be followed in Python alone, as a pattern → what can be done here."""

LEAST_RESAMPLES = 3


class BlockFamily(StrEnum):
    spectral = "spectral"
    onmtf = "onmtf"
    normalized = "normalized"
    two_hop = "two_hop"
    smoothed = "smoothed"
    adjacency = "adjacency"
    leiden = "leiden"
    mixed = "mixed"


class EvidenceKind(StrEnum):
    blocks_and_links = "blocks and links"
    blocks = "blocks"
    none = "none"


class ProfileTarget(StrEnum):
    reflected = "reflected"
    density = "density"


class Binarize(StrEnum):
    auto = "auto"
    yes = "yes"
    no = "no"


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


def parse_top(text: str) -> int | float | str:
    """A whole number of features, a share of them, or as many as stand out."""
    number = _number(text)
    if text == "auto":
        return text
    if isinstance(number, int) and number >= 1:
        return number
    if isinstance(number, float) and 0 < number < 1:
        return number
    raise Failure(f"--top is {text!r}; expected a whole number from 1, a share between 0 and 1, or auto.")


def parse_blocks(text: str) -> int | str:
    """A number of blocks, or as many as the graph shows."""
    number = _number(text)
    if text == "auto":
        return text
    if isinstance(number, int) and number >= 1:
        return number
    raise Failure(f"--blocks is {text!r}; expected a whole number from 1, or auto.")


def parse_guidance(text: str) -> str | int:
    """Which candidates guide: the best together, that of lowest error, or one by its place."""
    number = _number(text)
    if text in ("consensus", "lowest_error"):
        return text
    if isinstance(number, int) and number >= 0:
        return number
    raise Failure(f"--guidance is {text!r}; expected consensus, lowest_error, or the place of a candidate from 0.")


def parse_sparsity(text: str) -> str | float:
    """A weight of the penalty, or a rule that finds it."""
    number = _number(text)
    if text in ("auto", "paper"):
        return text
    if number is not None and 0 <= number < float("inf"):
        return float(number)
    raise Failure(f"--sparsity is {text!r}; expected a number from 0, auto or paper.")


def parse_fdr(share: float) -> float:
    if 0 < share < 1:
        return share
    raise Failure(f"--fdr is {share:g}; expected a share between 0 and 1, such as 0.1.")


def parse_resamples(count: int) -> int:
    if count == 0 or count >= LEAST_RESAMPLES:
        return count
    raise Failure(
        f"--resamples is {count}, too few to tell stability; choose at least {LEAST_RESAMPLES}, or 0 for none."
    )


def parse_binarize(choice: Binarize) -> bool | str:
    return "auto" if choice is Binarize.auto else choice is Binarize.yes


PARSERS: dict[str, Callable[[Any], Any]] = {
    "top": parse_top,
    "blocks": parse_blocks,
    "guidance": parse_guidance,
    "sparsity": parse_sparsity,
    "fdr": parse_fdr,
    "resamples": parse_resamples,
    "binarize": parse_binarize,
}


def in_terms_of_options(message: str) -> str:
    """What the library says of parameters and calls in Python, said of options instead."""
    for option, parameter in PARAMETER_OF.items():
        name = f"--{option.replace('_', '-')}"
        begin = rf"^(?:The '{parameter}' parameter of BlockModelSelector|{parameter}(?= (?:is|has|must)\b))"
        message = re.sub(begin, name, message)
        message = re.sub(rf"\b{parameter}=(['\"]?)([\w.:+-]*\w)\1", rf"{name} \2", message)
    for advice, instead in IN_PYTHON.items():
        message = re.sub(advice, instead, message)
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
