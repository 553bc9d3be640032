"""Rank correlation between label-free criteria and agreement with known classes, across methods on real networks.

BLOCKSELECT_DATA=FOLDER python -m benchmarks.quality.without_labels

"Links explained" is compared with simpler criteria, in which every link instead of every node has the same weight, or
nodes without any selected feature form another cluster.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.metrics import mutual_info_score

from benchmarks.networks import judged
from blockselect import AttributedGraph, evaluate_selection
from blockselect.evaluation.clustering import kmeans
from blockselect.evaluation.comparison import rank_by_method
from blockselect.evaluation.explained_links import ExplainedLinks, links_explained
from blockselect.evaluation.protocol import seeded_runs, unit_rows
from blockselect.rows.matrices import membership_matrix

NETWORKS = ("cora", "citeseer", "debian", "acm", "cora_ml", "uai")
METHODS = ("block-model", "morans-i", "hotspot", "variance", "laplacian-score", "laplacian-score-network")
METHODS += ("spec", "partial-order", "mcfs")
RANDOM = "random features"
NUMBERS = (16, 64, 200)
N_RUNS = 3
CRITERIA = ("by link, all nodes", "by link, covered nodes", "by node, all nodes", "by node, covered nodes", "coverage")


def criteria(adjacency: sparse.csr_array, labels: np.ndarray, covered: np.ndarray) -> list[float]:
    """The values of all CRITERIA for one clustering."""
    every = np.ones(len(labels), dtype=bool)
    by_link = [_by_link(adjacency, labels, nodes) for nodes in (every, covered)]
    by_node = [links_explained(adjacency, labels, nodes) for nodes in (every, covered)]
    return [*by_link, *by_node, float(covered.mean())]


def _by_link(adjacency: sparse.csr_array, labels: np.ndarray, nodes: np.ndarray) -> float:
    F = membership_matrix(labels)[nodes]
    weights = (F.T @ (adjacency[nodes][:, nodes] @ F)).toarray()
    share = weights.sum() / adjacency.sum()
    return float(share * mutual_info_score(None, None, contingency=weights)) if share else 0.0


def measure(name: str, graph: AttributedGraph) -> pd.DataFrame:
    """One row per method and number of features: the criteria, and ACC and NMI against the classes."""
    n_clusters = ExplainedLinks(graph, n_runs=1, seed=0).n_clusters
    rows = []
    for method in (*METHODS, RANDOM):
        if method == RANDOM:
            best = np.random.default_rng(1).permutation(graph.n_features)
        else:
            best, _ = rank_by_method(method, graph, max(NUMBERS), None, 0)
        for number in NUMBERS:
            columns = np.sort(best[:number])
            features = unit_rows(graph.features, columns)
            covered = abs(features).sum(axis=1) > 0
            found = seeded_runs(kmeans, features, n_clusters, 10, n_runs=N_RUNS)
            means = np.mean([criteria(graph.adjacency, labels, covered) for labels in found], axis=0)
            classes = evaluate_selection(graph.features, graph.classes, columns, n_runs=N_RUNS)
            figures = {"ACC": classes.accuracy, "NMI": classes.nmi, **dict(zip(CRITERIA, means, strict=True))}
            rows.append({"network": name, "method": method, "d": number, **figures})
    return pd.DataFrame(rows)


def correlations(measured: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Spearman's correlation of each criterion with ACC or NMI across methods, averaged over d, for each network."""
    found = {
        key: {criterion: spearmanr(cell[criterion], cell[measure]).statistic for criterion in CRITERIA}
        for key, cell in measured.groupby(["network", "d"], sort=False)
    }
    table = pd.DataFrame(found).T.groupby(level=0, sort=False).mean().T
    return table.assign(mean=table.mean(axis=1))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the results of all selections, and the rank correlations."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.without_labels", description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="NAME")
    chosen = parser.parse_args(arguments).networks
    measured = pd.concat([measure(name, judged(name)) for name in chosen])
    print(measured.round(3).to_string(index=False))
    for target in ("NMI", "ACC"):
        print(f"\nrank correlation with {target}\n{correlations(measured, target).round(3).to_string()}")


if __name__ == "__main__":
    main()
