"""Options that go together: one that would change nothing, or has no meaning beside another, is refused at the gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blockselect.cli.failure import Failure

NEEDS: dict[str, tuple[str, str, Any]] = {
    "fdr": ("--top auto", "n_features_to_select", "auto"),
    "null_rounds": ("--top auto", "n_features_to_select", "auto"),
    "joint": ("--guidance consensus", "guidance", "consensus"),
    "evidence": ("--guidance consensus", "guidance", "consensus"),
    "resamples": ("--guidance consensus", "guidance", "consensus"),
    "redundancy": ("--refine", "refine", True),
    "coverage": ("--refine", "refine", True),
}
"""Option → the one it goes with, and the setting which that one makes."""


def check_together(options: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse options without the ones that they go with.

    Parameters
    ----------
    options : mapping
        By name, None where not given.
    settings : mapping
        All parameters of the selector that the options, the preset and the defaults come to.
    """
    for option, (partner, parameter, value) in NEEDS.items():
        if options.get(option) and settings[parameter] != value:  # 0 and False switch off what does not happen anyway
            raise Failure(f"--{option.replace('_', '-')} goes with {partner}; give both, or neither.")
    if settings["n_features_to_select"] != "auto":
        return
    if settings["refine"]:
        raise Failure("--refine swaps among a number of features, and --top auto keeps all that match; leave one out.")
    if settings["block_model"] == "smoothed":
        raise Failure(
            "--top auto needs blocks found from the graph alone, and --block-model smoothed reads the features; "
            "choose another, such as mixed, or a number of features."
        )


def check_discoverable(settings: Mapping[str, Any], *, links_given: bool) -> None:
    """Refuse to ask which features match a graph that would be built from them."""
    if settings["n_features_to_select"] == "auto" and not links_given:
        raise Failure(
            "--top auto asks which features match the graph, and one built from the features matches them by itself; "
            "give a --graph, or a number of features."
        )
