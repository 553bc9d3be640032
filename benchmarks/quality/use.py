"""A selection judged by use: clusters and few labels, on every network at hand, the default, its parts and rivals.

    python -m benchmarks.quality.use --jobs 16 --save docs/quality

One row a network, method and number of features, the mean over seeds and runs. Classes are used here alone: no method
sees them but for the number of clusters where its name says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.networks import at_hand, further
from blockselect import AttributedGraph, BlockModelSelector
from blockselect.arrays import IntArray
from blockselect.evaluation.classification import classify_selection
from blockselect.evaluation.clustering import evaluate_selection
from blockselect.registry import SELECTORS, fit_selector, make_selector

OWN = ("default", "n_clusters known", "list of scores")
RIVALS = tuple(name for name, method in SELECTORS.items() if method.guidance == "network")
TOPS = (16, 64, 128, 200, 600)


def selections(graph: AttributedGraph, method: str, tops: Sequence[int], seed: int) -> dict[int, IntArray]:
    """What a method selects for each number of features."""
    n_classes = len(np.unique(graph.classes))
    if method not in OWN:
        selector = fit_selector(make_selector(method, max(tops), n_blocks=n_classes, random_state=seed), graph)
        order = np.argsort(selector.ranking_)
        return {top: order[:top] for top in tops}
    settings = {"n_clusters known": {"n_clusters": n_classes}, "list of scores": {"as_set": False}}.get(method, {})
    found = {}
    for top in tops:  # a set is judged at its size
        selector = BlockModelSelector(top, random_state=seed, **settings)
        selector.fit(graph.features, adjacency=graph.adjacency)
        found[top] = np.flatnonzero(selector.support_)
    return found


def measure(name: str, graph: AttributedGraph, method: str, seed: int, n_runs: int) -> list[dict[str, object]]:
    tops = [top for top in TOPS if top < graph.n_features]
    rows: list[dict[str, object]] = []
    for top, selected in selections(graph, method, tops, seed).items():
        clusters = evaluate_selection(graph.features, graph.classes, selected, n_runs=n_runs)
        few = classify_selection(graph.features, graph.classes, selected, adjacency=graph.adjacency, n_runs=n_runs)
        figures = {
            "ACC": clusters.accuracies,
            "NMI": clusters.nmis,
            "few_labels": few.accuracies,
            "few_labels_averaged": few.averaged_accuracies,
        }
        means = {key: values.mean() for key, values in figures.items()}
        spreads = {f"{key}_sd": values.std() for key, values in figures.items()}
        zero = {"zero_rows": clusters.n_zero_rows}
        rows.append({"network": name, "method": method, "seed": seed, "d": top, **means, **spreads, **zero})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", help="some of the networks at hand")
    parser.add_argument("--methods", nargs="*", default=[*OWN, *RIVALS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="folder for use.csv")
    options = parser.parse_args()
    networks = {**at_hand(), **further()}
    asked = [
        (name, graph, method, seed, options.runs)
        for name, graph in networks.items()
        if not options.networks or name in options.networks
        for method in options.methods
        for seed in range(options.seeds if method in OWN else 1)
    ]
    parts = Parallel(n_jobs=options.jobs, verbose=5)(delayed(measure)(*one) for one in asked)
    table = pd.DataFrame([row for part in parts for row in part])
    table = table.drop(columns="seed").groupby(["network", "method", "d"], sort=False).mean().round(4).reset_index()
    print(table.to_string(index=False))
    if options.save:
        table.to_csv(options.save / "use.csv", index=False)


if __name__ == "__main__":
    main()
