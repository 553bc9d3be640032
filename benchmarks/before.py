"""Compare BlockModelSelector with an older version: time, peak memory, and number of features in common.

    python -m benchmarks.before OLDER/src [--networks Cora photo] [--repeats 3] [--csv FILE]

Each fit runs in its own process, and the versions alternate, so that a busy machine slows both. The table shows the
best time and the largest peak of each. Besides the real networks, it includes a simulated single-cell data set.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.neighbors import kneighbors_graph

from benchmarks.networks import blogcatalog, judged
from benchmarks.scale import markdown

SOURCE = Path(__file__).parent.parent / "src"
TOP = 64
Network = tuple[Any, Any]  # features (n, m) and adjacency (n, n)
_FIT = """
import json, resource, sys, time
from scipy import sparse
from blockselect import BlockModelSelector, make_attributed_blocks

folder, top, jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
small = make_attributed_blocks(200, 3, random_state=0)  # loads all code
BlockModelSelector(10, n_jobs=jobs, random_state=0).fit(small.features, adjacency=small.adjacency)
X, A = (sparse.load_npz(f"{folder}/{name}.npz") for name in ("features", "adjacency"))
start = time.perf_counter()
selector = BlockModelSelector(top, n_jobs=jobs, random_state=0).fit(X, adjacency=A)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
print(json.dumps([seconds, peak, selector.support_.nonzero()[0].tolist()]))
"""


def made_cells(n_cells: int = 3_000, n_genes: int = 25_000, seed: int = 0) -> Network:
    """Simulated gene counts, about 10 % of them non-zero; ten groups with 50 markers each; ten nearest neighbours."""
    rng = np.random.default_rng(seed)
    group = rng.integers(10, size=n_cells)
    rates = np.exp(rng.normal(-3.0, 1.4, size=n_genes))
    markers = rng.permutation(n_genes)[: min(500, n_genes)]
    parts = []
    for cells in np.array_split(np.arange(n_cells), 30):  # one dense matrix would take gigabytes
        of_cells = np.tile(rates, (len(cells), 1))
        of_cells[:, markers] *= np.where(group[cells][:, None] == np.arange(len(markers)) % 10, 8.0, 1.0)
        parts.append(sparse.csr_array(rng.poisson(of_cells).astype(np.float64)))
    counts = sparse.vstack(parts, format="csr")
    components = TruncatedSVD(20, random_state=seed).fit_transform(counts.log1p())
    return counts, sparse.csr_array(kneighbors_graph(components, 10))


def _of_catalogue(name: str) -> Network:
    graph = judged(name)
    return graph.features, graph.adjacency


def _blogcatalog() -> Network:
    graph = blogcatalog()
    return graph.features, graph.adjacency


NETWORKS: dict[str, Callable[[], Network]] = {
    "Cora": lambda: _of_catalogue("cora"),
    "BlogCatalog": _blogcatalog,
    "photo": lambda: _of_catalogue("photo"),
    "Debian": lambda: _of_catalogue("debian-all"),
    "cells": made_cells,
}


def compare(network: Network, older: Path, *, repeats: int, jobs: int, top: int = TOP) -> dict[str, Any]:
    """Best time and largest peak memory of both versions, and the number of features that both select."""
    trees = {"older": older, "now": SOURCE}
    fits: dict[str, list[Any]] = {name: [] for name in trees}
    with tempfile.TemporaryDirectory() as folder:
        for name, part in zip(("features", "adjacency"), network, strict=True):
            sparse.save_npz(Path(folder) / f"{name}.npz", sparse.csr_array(part), compressed=False)
        for _ in range(repeats):
            for tree, source in trees.items():
                fits[tree].append(_fit(folder, source, jobs, top))
    best = {tree: min(fit[0] for fit in of_tree) for tree, of_tree in fits.items()}
    same = set(fits["older"][0][2]) & set(fits["now"][0][2])
    return {
        **{f"{tree} s": seconds for tree, seconds in best.items()},
        "now ÷ older": best["now"] / best["older"],
        **{f"peak GB, {tree}": max(fit[1] for fit in of_tree) for tree, of_tree in fits.items()},
        "features in common": len(same),
    }


def _fit(folder: str, source: Path, jobs: int, top: int) -> list[Any]:
    """Seconds, peak memory in GB, and selected features of one version."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(jobs))
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FIT, folder, str(top), str(jobs)],
        env={**os.environ, **threads, "PYTHONPATH": str(source)},
        cwd=folder,  # a folder without Python files, so only PYTHONPATH determines which version is imported
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: list[Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("older", type=Path, help="src folder of the older version")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3, help="number of fits per version")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv", type=Path, metavar="FILE")
    options = parser.parse_args()
    if not (options.older / "blockselect").is_dir():
        sys.exit(f"error: {options.older} does not contain blockselect; pass the src folder of the older version.")
    rows = []
    for name in options.networks:
        found = compare(NETWORKS[name](), options.older.resolve(), repeats=options.repeats, jobs=options.jobs)
        rows.append({"network": name, **found})
        print(json.dumps(rows[-1], ensure_ascii=False), file=sys.stderr, flush=True)
    table = pd.DataFrame(rows)
    print(markdown(table))
    if options.csv is not None:
        table.round(3).to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()
