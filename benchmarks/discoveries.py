"""False discovery rate and power of `discover_features` on difficult networks.

    python -m benchmarks.discoveries [--repeats 60] [--only WORDS] [--save]

For each scenario of `benchmarks.discovery_networks`, many networks are drawn. The Markdown table shows the mean share
of false discoveries and the mean share of informative features that are found, with standard errors; `--save` stores
it as docs/benchmarks/discoveries.csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.discovery_networks import SCENARIOS, Scenario, draw
from blockselect import discover_features

PATH = Path(__file__).parent.parent / "docs" / "benchmarks" / "discoveries.csv"
LEVEL = 0.1
N_CANDIDATES = 12  # candidate block models, half the default number for speed


class Found(NamedTuple):
    false_share: float  # of the discoveries
    true_share: float  # of the informative features; NaN if there are none


def discover(scenario: Scenario, seed: int) -> Found:
    """Draw one network of a scenario and test its features."""
    truth = draw(scenario, np.random.default_rng([seed, 7]))
    support = discover_features(
        truth.features, adjacency=truth.adjacency, level=LEVEL, n_candidates=N_CANDIDATES, random_state=seed
    ).support
    false = np.count_nonzero(support & ~truth.informative) / max(np.count_nonzero(support), 1)
    return Found(false, float(np.mean(support[truth.informative])) if truth.informative.any() else float("nan"))


def row(name: str, repeats: int, n_jobs: int | None) -> dict[str, object]:
    """Means and standard errors over the networks of a scenario."""
    found = Parallel(n_jobs=n_jobs)(delayed(discover)(SCENARIOS[name], seed) for seed in range(repeats))
    false, true = np.array(found).T
    error = float(np.std(false, ddof=1) / np.sqrt(repeats))
    return {
        "scenario": name,
        "networks": repeats,
        "level": LEVEL,
        "fdr": round(float(np.mean(false)), 3),
        "fdr_error": round(error, 3),
        "power": round(float(np.mean(true)), 3),
        "power_error": round(float(np.std(true, ddof=1) / np.sqrt(repeats)), 3),
        "holds": bool(np.mean(false) <= LEVEL + 2 * error),
    }


def rows(names: list[str], repeats: int, n_jobs: int | None) -> Iterator[dict[str, object]]:
    print("| network | false discovery rate | power | controlled |\n|---|---|---|---|", flush=True)
    for name in names:
        one = row(name, repeats, n_jobs)
        print(markdown(one), flush=True)
        yield one


def markdown(one: dict[str, object]) -> str:
    power = "–" if np.isnan(float(str(one["power"]))) else f"{one['power']:.2f} ± {one['power_error']:.2f}"
    holds = "yes" if one["holds"] else "NO"
    return f"| {one['scenario']} | {one['fdr']:.2f} ± {one['fdr_error']:.2f} | {power} | {holds} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=60, help="number of networks per scenario, at least 2")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this text")
    parser.add_argument("--jobs", type=int, default=None, help="number of processes")
    parser.add_argument("--save", action="store_true", help="store the table")
    options = parser.parse_args()
    found = pd.DataFrame(rows([name for name in SCENARIOS if options.only in name], options.repeats, options.jobs))
    if options.save:
        PATH.parent.mkdir(exist_ok=True)
        found.to_csv(PATH, index=False)
    if not found["holds"].all():
        raise SystemExit(
            f"the false discovery rate exceeds the level in {int((~found['holds']).sum())} of {len(found)} scenarios"
        )


if __name__ == "__main__":
    main()
