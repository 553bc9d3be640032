"""BlockModelSelector and other methods on Debian: 55,907 packages in 25 sections, with tags and words as features.

    python -m benchmarks.quality.debian --docs docs [--runs 5] [--device cuda]

The network contains all packages in sections of at least 600 packages. Selections are evaluated with the sections as
classes: by the NMI of clusters, and by classification accuracy with 20 labels per class. The largest correlation
between any two of the first 30 features measures their redundancy.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.networks import LARGE_SECTIONS
from benchmarks.quality.command import write_files
from benchmarks.quality.real_networks import REFERENCE, RIVAL, VARIANT
from benchmarks.quality.references import ALL, reference_trials
from benchmarks.quality.use.judgements import judge_by_classes
from benchmarks.quality.use.seen_networks import network
from benchmarks.quality.use.selections import select_by_rival, select_default, select_reference
from benchmarks.quality.variants import DEFAULT
from blockselect.evaluation.comparison_result import markdown_table
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import Features, IntArray

TOPS = (30, 100, 200)
RIVALS = (
    "hotspot",
    "morans-i",
    "laplacian-score-network",
    "partial-order",
    "variance",
)  # each method takes seconds to minutes


def largest_correlation(features: Features, selected: IntArray) -> float:
    """The largest absolute correlation between any two of the selected features."""
    part = features[:, selected]
    values = part if isinstance(part, np.ndarray) else part.toarray()
    with np.errstate(invalid="ignore"):  # for constant features
        correlations = np.abs(np.nan_to_num(np.corrcoef(values, rowvar=False)))
    np.fill_diagonal(correlations, 0.0)
    return float(correlations.max())


def measure(
    name: str, kind: str, method: str, seed: int, *, n_runs: int, n_init: int, limit: float, device: str | None
) -> list[Row]:
    """Select with one method and evaluate each number of features: one row each."""
    given = (name, None, TOPS, method, seed)
    if kind == RIVAL:
        rows = select_by_rival(*given, limit)
    else:
        rows = (select_default if kind == VARIANT else select_reference)(*given)
    judged = []
    for row in rows:
        if row["error"]:
            judged.append({"method": method, "error": row["error"]})
            continue
        if not judged or row["selection"] != rows[0]["selection"]:
            (figures,) = judge_by_classes(name, row["selected"], n_runs, n_init, device)
        judged.append({"kind": kind, "method": method, "seed": seed, "d": row["top"], **figures})
        if row["top"] == TOPS[0] and method != ALL:
            selected = np.array(json.loads(row["selected"]))
            judged[-1]["largest_correlation"] = largest_correlation(network(name).features, selected)
    return judged


def summarize(rows: Sequence[Row]) -> pd.DataFrame:
    """Means over seeds."""
    figures = ["ACC", "NMI", "few_labels", "few_labels_averaged", "largest_correlation"]
    table = pd.DataFrame(rows, columns=["kind", "method", "d", *figures])
    return table.dropna(subset="d").groupby(["kind", "method", "d"], sort=False).mean().round(4).reset_index()


def render(table: pd.DataFrame) -> str:
    header = [
        "few-label accuracy / NMI",
        *(f"{top} features" for top in TOPS),
        f"largest correlation among the first {TOPS[0]}",
    ]
    lines = []
    for method, part in table.groupby("method", sort=False):
        found = part.set_index("d")
        cells = [f"{found.at[top, 'few_labels']:.3f} / {found.at[top, 'NMI']:.3f}" for top in TOPS]
        largest = found["largest_correlation"].max()
        title = "the default" if method == DEFAULT else str(method)
        lines.append([title, *cells, "–" if np.isnan(largest) else f"{largest:.2f}"])
    return markdown_table(header, lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default=LARGE_SECTIONS, help="a network with classes; default: Debian")
    parser.add_argument("--rivals", nargs="*", default=RIVALS, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds of the default")
    parser.add_argument("--runs", type=int, default=5, help="runs per protocol")
    parser.add_argument("--starts", type=int, default=2, help="starts of K-means per run")
    parser.add_argument("--limit", type=float, default=600.0, help="time limit of a rival, in seconds")
    parser.add_argument("--device", help="torch device for the evaluation, such as cuda")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="write DIR/quality/debian.csv")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    wanted = [(VARIANT, DEFAULT, seed) for seed in range(given.seeds)]
    wanted += [(RIVAL, method, 0) for method in given.rivals]
    wanted += [(REFERENCE, method, seed) for method, seed in reference_trials()]
    settings = {"n_runs": given.runs, "n_init": given.starts, "limit": given.limit, "device": given.device}
    for kind, method, seed in wanted:
        rows += measure(given.network, kind, method, seed, **settings)
        print(json.dumps(rows[-1], ensure_ascii=False), file=sys.stderr, flush=True)
    table = summarize(rows)
    print(render(table))
    if given.docs is not None:
        write_files(given.docs, {"quality/debian.csv": table.to_csv(index=False).encode()})


if __name__ == "__main__":
    main()
