"""BlockModelSelector and common single-cell methods on 700 blood cells, with a network built from the features.

python -m benchmarks.quality.single_cells --docs docs    (requires scanpy, from the extra `bench`)
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.quality.command import write_files
from benchmarks.quality.references import ALL, RANDOM, REFERENCES, reference_order
from blockselect import BlockModelSelector, SignedSelector
from blockselect.baselines.by_network.moran import morans_i
from blockselect.evaluation import classify_selection, evaluate_selection
from blockselect.evaluation.comparison_result import markdown_table
from blockselect.graphs.autocorrelation import autocorrelation_z

NUMBERS = (16, 32, 64, 128)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells with their expression, their nearest-neighbour graph, and their types (only for evaluation)."""

    expression: sparse.csr_array  # (n, m) logarithm of normalised counts
    counts: sparse.csr_array  # (n, m) recovered from expression
    standardised: np.ndarray  # (n, m) signed
    graph: sparse.csr_array  # (n, n) from scanpy: ten neighbours in the space of principal components
    types: np.ndarray  # (n,)
    table: Any  # AnnData, for scanpy's own methods


def load_cells() -> Cells:
    """Load the cells that come with scanpy: 765 genes, most of them preselected as highly variable."""
    import scanpy

    table = scanpy.datasets.pbmc68k_reduced()
    expression = sparse.csr_array(table.raw.X, dtype=np.float64)
    linear = sparse.csr_array((np.expm1(expression.data), expression.indices, expression.indptr), expression.shape)
    least = np.minimum.reduceat(linear.data, linear.indptr[:-1])  # log-normalised value of a single count in each cell
    counts = linear.copy()
    counts.data = np.round(linear.data / np.repeat(least, np.diff(linear.indptr)))
    return Cells(
        expression=expression,
        counts=counts,
        standardised=np.asarray(table.X, dtype=np.float64),
        graph=sparse.csr_array(table.obsp["connectivities"], dtype=np.float64),
        types=table.obs["bulk_labels"].cat.codes.to_numpy(),
        table=table,
    )


def highly_variable(cells: Cells, flavor: str) -> np.ndarray:
    """Normalised dispersion of each gene, computed by scanpy."""
    import scanpy

    table = cells.table.raw.to_adata()
    scanpy.pp.highly_variable_genes(table, flavor=flavor, n_top_genes=max(NUMBERS))
    return table.var["dispersions_norm"].fillna(-np.inf).to_numpy()


def default(cells: Cells, seed: int, n_features: int, *, graph: bool = True) -> np.ndarray:
    selector = BlockModelSelector(n_features, random_state=seed)
    return -selector.fit(cells.expression, adjacency=cells.graph if graph else None).ranking_


def signed(cells: Cells, seed: int, n_features: int) -> np.ndarray:
    selector = SignedSelector(BlockModelSelector(n_features, random_state=seed))
    return -selector.fit(cells.standardised, adjacency=cells.graph).ranking_


def reference(cells: Cells, seed: int, n_features: int, *, method: str) -> np.ndarray:
    del n_features  # the ranking does not depend on the number of genes
    order = reference_order(method, cells.expression, cells.types, seed)
    return -np.argsort(order).astype(np.float64)


METHODS: dict[str, Callable[[Cells, int, int], np.ndarray]] = {
    "the default": default,
    "the default, without a graph": lambda cells, seed, d: default(cells, seed, d, graph=False),
    "the default on standardised values (SignedSelector)": signed,
    "variance": lambda cells, seed, d: (
        np.asarray(cells.expression.power(2).mean(axis=0)).ravel()
        - np.asarray(cells.expression.mean(axis=0)).ravel() ** 2
    ),
    "highly variable genes, seurat": lambda cells, seed, d: highly_variable(cells, "seurat"),
    "highly variable genes, cell_ranger": lambda cells, seed, d: highly_variable(cells, "cell_ranger"),
    "morans-i": lambda cells, seed, d: morans_i(cells.expression, cells.graph),
    "hotspot, normal": lambda cells, seed, d: autocorrelation_z(cells.expression, cells.graph, model="normal"),
    "hotspot, bernoulli": lambda cells, seed, d: autocorrelation_z(cells.expression, cells.graph, model="bernoulli"),
    "hotspot, danb on counts": lambda cells, seed, d: autocorrelation_z(cells.counts, cells.graph, model="danb"),
    **{method: partial(reference, method=method) for method in REFERENCES},
}
"""Scores of the genes by method; larger is better. Those of BlockModelSelector depend on the number of genes."""
SEEDED = (*(name for name in METHODS if name.startswith("the default")), RANDOM)


def measure(cells: Cells, method: str, seed: int) -> list[dict[str, object]]:
    """Evaluate a method with both protocols and each number of genes."""
    rows: list[dict[str, object]] = []
    for number in NUMBERS:
        scores = np.nan_to_num(METHODS[method](cells, seed, number), nan=-np.inf)
        best = np.argsort(-scores, kind="stable")[: None if method == ALL else number]
        clusters = evaluate_selection(cells.expression, cells.types, best)
        learnt = classify_selection(cells.expression, cells.types, best, adjacency=cells.graph)
        rows.append(
            {
                "method": method,
                "seed": seed,
                "genes": number,
                "accuracy": clusters.accuracy,
                "nmi": clusters.nmi,
                "few_shot": float(learnt.accuracies.mean()),
                "few_shot_averaged": float(learnt.averaged_accuracies.mean()),
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, metavar="DIR", help="write DIR/quality/single_cells.csv")
    parser.add_argument(
        "--seeds", type=int, default=3, help="number of seeds for BlockModelSelector and for random genes"
    )
    given = parser.parse_args(arguments)
    rows = []
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")  # scanpy's warnings
        cells = load_cells()
        for method in METHODS:
            for seed in range(given.seeds if method in SEEDED else 1):
                rows += measure(cells, method, seed)
    table = pd.DataFrame(rows).groupby(["method", "genes"], sort=False).mean().drop(columns="seed").reset_index()
    shown = render(table)
    print(shown)
    if given.docs is not None:
        content = table.to_csv(index=False, float_format="%.4g").encode()
        write_files(given.docs, {"quality/single_cells.csv": content})


def render(table: pd.DataFrame) -> str:
    """One line per method, one column per number of genes."""
    lines = []
    for method, part in table.groupby("method", sort=False):
        found = part.set_index("genes")
        figures = (found.loc[number, ["accuracy", "nmi", "few_shot"]] for number in NUMBERS)
        lines.append([str(method), *(" / ".join(f"{figure:.3f}" for figure in of_number) for of_number in figures)])
    return markdown_table(["ACC / NMI / few-label accuracy", *(f"{number} genes" for number in NUMBERS)], lines)


if __name__ == "__main__":
    main()
