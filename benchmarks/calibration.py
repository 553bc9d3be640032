"""Is the stated stability the share of resampled graphs on which a feature is selected again?

    python -m benchmarks.calibration

Planted networks of several kinds, and Cora: `selection_stability` of a fit, beside fits from scratch to further graphs.
One Markdown table by network for the selected features, and one by stated stability.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from blockselect import BlockModelSelector, load_cora, make_attributed_blocks, selection_stability
from blockselect.graphs.resample import resample_links

N_AGAIN = 20  # further graphs
BINS = ((0.0, 0.1), (0.1, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
KINDS: dict[str, dict[str, Any]] = {
    "few links, weak features": {"n_blocks": 3, "mean_degree": 6, "signal": 2.5},
    "strong features": {"n_blocks": 3, "mean_degree": 10, "signal": 4.0},
    "blocks that link to others": {"n_blocks": 3, "mean_degree": 10, "signal": 4.0, "structure": "disassortative"},
    "very few links": {"n_blocks": 3, "mean_degree": 4, "signal": 3.0},
    "very weak features": {"n_blocks": 3, "mean_degree": 8, "signal": 2.0},
    "five blocks": {"n_blocks": 5, "mean_degree": 15, "signal": 2.0},
    "six blocks, few links": {"n_blocks": 6, "mean_degree": 5, "signal": 2.0},
}


class Case(NamedTuple):
    name: str
    features: Any
    adjacency: Any
    n_selected: int


class Calibration(NamedTuple):
    stated: Any  # (m,)
    seen: Any  # (m,)
    selected: Any  # (m,) bool


def cases() -> Iterator[Case]:
    for seed, (name, kind) in enumerate(KINDS.items(), start=100):
        n_blocks, rest = kind["n_blocks"], {key: value for key, value in kind.items() if key != "n_blocks"}
        planted = make_attributed_blocks(
            250, n_blocks, n_informative=20, n_redundant=0, n_noise=80, random_state=seed, **rest
        )
        yield Case(name, planted.features, planted.adjacency, 20)
    cora = load_cora()
    yield Case("Cora", cora.features, cora.adjacency, 64)


def calibrate(case: Case) -> Calibration:
    selector = BlockModelSelector(case.n_selected, random_state=0).fit(case.features, adjacency=case.adjacency)
    stated = selection_stability(selector, case.features, adjacency=case.adjacency)
    rng = np.random.default_rng(1)
    graphs = [resample_links(case.adjacency, rng) for _ in range(N_AGAIN)]
    fits = [
        BlockModelSelector(case.n_selected, random_state=seed).fit(case.features, adjacency=graph)
        for seed, graph in enumerate(graphs)
    ]
    return Calibration(stated, np.mean([fit.support_ for fit in fits], axis=0), selector.support_)


def main() -> None:
    warnings.simplefilter("ignore")
    found = []
    print("| network | selected: stated | seen |\n|---|---|---|")
    for case in cases():
        one = calibrate(case)
        found.append(one)
        print(
            f"| {case.name} | {one.stated[one.selected].mean():.2f} | {one.seen[one.selected].mean():.2f} |", flush=True
        )
    stated, seen, selected = (np.concatenate(parts) for parts in zip(*found, strict=True))
    print(f"| all | {stated[selected].mean():.2f} | {seen[selected].mean():.2f} |")
    print("\n| stated stability | features | stated, mean | seen |\n|---|---|---|---|")
    for low, high in BINS:
        within = (stated >= low) & ((stated < high) | (high == 1.0))
        if within.any():
            print(f"| {low:g} to {high:g} | {within.sum()} | {stated[within].mean():.2f} | {seen[within].mean():.2f} |")


if __name__ == "__main__":
    main()
