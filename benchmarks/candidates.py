"""Compare 6, 12, 24 and 48 candidates by the log-likelihood gain and by the precision on planted features.

python -m benchmarks.candidates            planted networks of all kinds, and Cora
python -m benchmarks.candidates --save     also writes docs/benchmarks/candidates.csv, with one row per fit
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.planted_networks import precision
from benchmarks.quality.regimes import REGIMES, PlantedSizes, plant
from benchmarks.scale import markdown
from blockselect import BlockModelSelector, load_cora

SAVED = Path(__file__).parent.parent / "docs" / "benchmarks" / "candidates.csv"
COUNTS = (6, 12, 24, 48)
SEEDS = tuple(range(10))
SIZES = PlantedSizes(n_nodes=800, n_blocks=6, n_informative=40, n_redundant=20, n_noise=400, n_decoys=20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"also write docs/benchmarks/{SAVED.name}")
    options = parser.parse_args()
    rows = pd.DataFrame(list(fits()))
    print(markdown(summary(rows).reset_index()))
    if options.save:
        rows.drop(columns="best").round(4).to_csv(SAVED, index=False)


def fits() -> Iterator[dict[str, Any]]:
    """One row per network, seed and number of candidates."""
    cora = load_cora()
    for seed in SEEDS:
        for regime in REGIMES:
            planted = plant(regime, SIZES, seed)
            for count in COUNTS:
                yield _fit(regime, planted, count, seed, planted.is_informative)
        for count in COUNTS:
            yield _fit("Cora", cora, count, seed, None)


def _fit(network: str, graph: Any, count: int, seed: int, is_planted: np.ndarray | None) -> dict[str, Any]:
    n_selected = 64 if is_planted is None else int(is_planted.sum())
    selector = BlockModelSelector(n_selected, n_candidates=count, random_state=seed)
    start = time.perf_counter(), time.process_time()
    selector.fit(graph.features, adjacency=graph.adjacency)
    return {
        "network": network,
        "seed": seed,
        "candidates": count,
        "gain": selector.candidates_table_["gain"].max(),  # −J of the best candidate, in nats
        "precision": float("nan") if is_planted is None else precision(selector, is_planted),
        "best": " ".join(map(str, np.argsort(selector.ranking_)[:n_selected])),
        "seconds": time.perf_counter() - start[0],
        "cpu": time.process_time() - start[1],
    }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means for planted networks and for Cora; gains are in percent of the gain with the most candidates."""
    most = rows[rows["candidates"] == max(COUNTS)].set_index(["network", "seed"])
    at = pd.MultiIndex.from_frame(rows[["network", "seed"]])
    gap = 100 * (rows["gain"].to_numpy() / most.loc[at, "gain"].to_numpy() - 1)
    pairs = zip(rows["best"], most.loc[at, "best"], strict=True)
    same = [len(set(a.split()) & set(b.split())) / len(a.split()) for a, b in pairs]
    kind = np.where(rows["network"] == "Cora", "Cora", "planted")
    table = rows.assign(**{"kind": kind, "gain, % off": gap, "worst, % off": gap, "same features": same})
    how = {"gain, % off": "mean", "worst, % off": "min", "precision": "mean", "same features": "mean", "cpu": "mean"}
    return table.groupby(["kind", "candidates"]).agg(how)


if __name__ == "__main__":
    main()
