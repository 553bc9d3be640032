"""Precision and block coverage of every method on planted networks of every kind of feature.

python -m benchmarks.quality.panel --out docs/quality/panel.csv [--full] [--methods block-model,hotspot]
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.quality.panel_networks import Cell, PanelNetwork, plant_cell
from blockselect import SignedSelector
from blockselect.base import ScoreSelector
from blockselect.names import check_known
from blockselect.registry import SELECTORS, fit_selector, make_selector

OURS = "block-model"
ONLY_NON_NEGATIVE = (OURS, "bmgufs")  # take signed features through SignedSelector
SLOW = ("ndfs", "ndfs-published", "udfs", "lufs", "spec", "spec-published", "mcfs", "netfs", "gfs", "adapt")
DENSITIES = {"signed": (0.1, 1.0), "counts": (0.1, 1.0), "binary": (0.1, 0.9)}
MIDDLE = 0.5


def cells(*, full: bool) -> Iterator[Cell]:
    """Small networks of every kind; in full also densities and numbers of blocks between, and up to 20,000 nodes."""
    for kind, densities in DENSITIES.items():
        between = (MIDDLE,) if full else ()
        for density, n_blocks in itertools.product((*densities, *between), (4, 12, 20, 40) if full else (4, 40)):
            for n_nodes in (2_000, 10_000, 20_000) if full else (2_000,):
                yield Cell(kind, density, n_blocks, n_nodes)


def measure(cell: Cell, method: str, seed: int) -> dict[str, object]:
    """Two features a block are asked for; a rival is told the number of blocks, the default is not."""
    network = plant_cell(cell, seed)
    row: dict[str, object] = {
        "kind": cell.kind,
        "density": cell.density,
        "blocks": cell.n_blocks,
        "nodes": cell.n_nodes,
        "method": method,
        "seed": seed,
    }
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            selected = np.flatnonzero(_fitted(network, method, seed).support_)
    except ValueError as error:
        return {**row, "error": " ".join(str(error).split())}
    scores = {"precision": network.precision(selected), "coverage": network.coverage(selected)}
    return {**row, **scores, "seconds": round(time.perf_counter() - start, 3), "error": ""}


def _fitted(network: PanelNetwork, method: str, seed: int) -> ScoreSelector:
    n_blocks = None if method == OURS else network.n_blocks
    selector = make_selector(method, 2 * network.n_blocks, n_blocks=n_blocks, random_state=seed)
    if method in ONLY_NON_NEGATIVE and network.graph.features.min() < 0:
        selector = SignedSelector(selector)
    return fit_selector(selector, network.graph)


def summarize(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over seeds, methods as columns would be too wide: one line a cell and method, the best first."""
    keys = ["kind", "density", "blocks", "nodes"]
    means = rows.groupby([*keys, "method"], sort=False)[["precision", "coverage", "seconds"]].mean().reset_index()
    return means.sort_values([*keys, "coverage"], ascending=[True] * len(keys) + [False], kind="stable")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--full", action="store_true", help="also 12 and 20 blocks, density 0.5, up to 20,000 nodes")
    parser.add_argument("--methods", default="", metavar="NAME,NAME…", help="default: all, with --full the fast ones")
    parser.add_argument("--seeds", type=int, default=2, help="networks of each cell")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the fits")
    given = parser.parse_args(arguments)
    names = given.methods.split(",") if given.methods else [n for n in SELECTORS if not (given.full and n in SLOW)]
    check_known(names, SELECTORS, what="method")
    jobs = [
        delayed(measure)(cell, name, seed)
        for cell in cells(full=given.full)
        for name in names
        for seed in range(given.seeds)
    ]
    done = []
    for row in Parallel(n_jobs=given.workers, return_as="generator")(jobs):
        done.append(row)
        pd.DataFrame(done).to_csv(given.out, index=False, float_format="%.4g")  # as rows come: stop it any time
    print(summarize(pd.DataFrame(done)).to_string(index=False))


if __name__ == "__main__":
    main()
