"""The settings of `blockselect select` by the names of their options: which parameter each of them is."""

from __future__ import annotations

DATA, METHOD, OUTPUT, EXPERT = "Data", "Method", "Output", "For experts"
"""Panels of the help, in this order."""

SETTINGS: dict[str, dict[str, str]] = {
    DATA: {"neighbors": "n_neighbors"},
    METHOD: {
        "top": "n_features_to_select",
        "blocks": "n_blocks",
        "seed": "random_state",
        "jobs": "n_jobs",
    },
    EXPERT: {
        "max-blocks": "max_blocks",
        "block-model": "block_model",
        "candidates": "n_candidates",
        "refine": "refine",
        "profile-ratio": "profile_ratio",
        "sparsity": "sparsity",
        "binarize": "binarize",
        "gradient": "solver__gradient",
        "max-iter": "solver__max_iter",
        "tol": "solver__tol",
        "device": "device",
        "dtype": "solver__dtype",
        "memory-limit": "solver__memory_limit",
    },
}
"""Panel of the help → option → parameter of the selectors, or of the solver of BMGUFS. All else is read there."""

PARAMETER_OF = {option: parameter for panel in SETTINGS.values() for option, parameter in panel.items()}
OPTION_OF = {parameter.removeprefix("solver__"): f"--{option}" for option, parameter in PARAMETER_OF.items()}
OPTION_OF |= {"n_resamples": "--resamples", "adjacency": "--graph"}


def option_of(parameter: str) -> str:
    """The option that sets a parameter; the parameter itself where none does."""
    return OPTION_OF.get(parameter, parameter)
