"""Parameters that no method takes: each of them, of each class that has it."""

from __future__ import annotations

import inspect
from typing import Any

from blockselect import BMGUFS, SELECTORS, Descent
from error_cases.case import Case, adjacency, features

BAD_VALUES: dict[str, tuple[Any, ...]] = {
    "n_features_to_select": (0, -1, 1.5, "many", float("nan"), [3]),
    "n_blocks": (0, -1, 2.5, "three"),
    "n_candidates": (0, 1.5, "few"),
    "max_blocks": (1, "many"),
    "n_neighbors": (0, -1, "all"),
    "random_state": (-1, "seed", 1.5),
    "profile_ratio": (-0.1, 1.1, float("nan"), "half"),
    "sparsity": (-1, "none"),
    "binarize": ("maybe", 2),
    "refine": ("maybe", 2),
    "device": (0, None),
    "n_jobs": (1.5, "all"),
    "solver": ("fast", 3),
    "max_iter": (0, -1, 1.5),
    "tol": (-1, "small"),
    "gradient": ("approximate",),
    "step_size": (0, "large"),
    "smoothing": (-1, "none"),
    "dtype": ("int8",),
    "memory_limit": (-1, "all"),
}
"""Parameter → values that are refused wherever it is."""


def _cases() -> list[Case]:
    cases, seen = [], set()
    for method in SELECTORS.values():
        kind = method.selector
        if kind in seen:
            continue
        seen.add(kind)
        for name in kind().get_params(deep=False):
            for value in BAD_VALUES.get(name, ()):
                cases.append(_case(kind.__name__, name, value, lambda _, k=kind, n=name, v=value: _fit(k(**{n: v}))))
    for name in Descent().get_params(deep=False):
        for value in BAD_VALUES.get(name, ()):
            cases.append(
                _case(
                    "Descent",
                    name,
                    value,
                    lambda _, n=name, v=value: _fit(BMGUFS(3, n_blocks=3, solver=Descent(**{n: v}))),
                )
            )
    return cases


def _case(owner: str, name: str, value: Any, call: Any) -> Case:
    return Case("Parameters", f"{owner}({name}={value!r})", (name, "Got" if value is not None else ""), call)


def _fit(selector: Any) -> None:
    graph = {"adjacency": adjacency()} if "adjacency" in inspect.signature(selector.fit).parameters else {}
    selector.fit(features(), **graph)


PARAMETER_CASES = tuple(_cases())
