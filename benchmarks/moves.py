"""Compare the node moves with those of an older version: the objective J that each reaches from the same starts.

    python -m benchmarks.moves OLDER/src             available real networks, and planted ones
    python -m benchmarks.moves OLDER/src --save      also writes docs/benchmarks/moves.csv, with one row per start

The starts are six candidates, one from each family. Both versions visit the nodes in the same order. The current
version computes J for the final blocks of both; lower is better.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.networks import at_hand, further
from benchmarks.quality.regimes import REGIMES, PlantedSizes, plant
from benchmarks.scale import markdown
from blockselect import AttributedGraph, BlockModel, find_block_models
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.rows.statistics import are_sparse_counts, presence

SAVED = Path(__file__).parent.parent / "docs" / "benchmarks" / "moves.csv"
SIZES = PlantedSizes(n_nodes=800, n_blocks=6, n_informative=40, n_redundant=20, n_noise=400, n_decoys=20)
STARTS = 6
_REFINE = """
import sys, time
import numpy as np
from scipy import sparse
from blockselect import BlockModel, check_attributed_graph, make_attributed_blocks
try:
    from blockselect.consensus.likelihood import JointLikelihood
    from blockselect.consensus.refine import refine_blocks
except ImportError:  # version 0.2.0 or older
    from blockselect.consensus.joint import JointLikelihood

    def refine_blocks(likelihood, models, rngs):
        return [likelihood.improve(model, rng=rng) for model, rng in zip(models, rngs)]

def refine(graph, starts):
    likelihood = JointLikelihood(graph)
    models = [BlockModel.from_labels(graph.adjacency, labels) for labels in starts]
    return list(refine_blocks(likelihood, models, rngs=[np.random.default_rng(i) for i in range(len(models))]))

small = make_attributed_blocks(100, 3, random_state=0)
refine(small.graph, [small.blocks])  # loads all code
folder = sys.argv[1]
X, A = (sparse.load_npz(f"{folder}/{name}.npz") for name in ("features", "adjacency"))
graph, starts = check_attributed_graph(X, A), np.load(f"{folder}/starts.npy")
begin = time.perf_counter()
results = refine(graph, starts)
np.savez(f"{folder}/{sys.argv[2]}.npz", labels=np.array([result.model.labels for result in results]),
         rises=[bool((np.diff(result.objective) > 0).any()) for result in results], seconds=time.perf_counter() - begin)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="src folder of the older version")
    parser.add_argument("--save", action="store_true", help=f"also write docs/benchmarks/{SAVED.name}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [compare(name, graph, Path(folder), options.before) for name, graph in networks()]
    rows = pd.concat(found, ignore_index=True)
    print(markdown(summary(rows)))
    if options.save:
        rows.round(4).to_csv(SAVED, index=False)


def networks() -> Iterator[tuple[str, AttributedGraph]]:
    """Real networks, with counts made binary as in a fit, and one planted network of each kind."""
    for name, graph in {**at_hand(), **further()}.items():
        binary = are_sparse_counts(graph.features)
        yield name, replace(graph, features=presence(graph.features)) if binary else graph
    for regime in REGIMES:
        yield f"planted: {regime}", plant(regime, SIZES, 0).graph


def compare(name: str, graph: AttributedGraph, folder: Path, before: Path) -> pd.DataFrame:
    """J before the first move, and after the last move of each version; one row per start."""
    rng = np.random.default_rng(0)
    n_blocks = count_blocks(graph.adjacency, rng=rng).n_blocks
    found = find_block_models(
        graph.adjacency, n_blocks, family="mixed", features=graph.features, n_candidates=STARTS, rng=rng, max_iter=100
    )
    starts = [model for model in found if model.n_blocks == n_blocks]
    for part in ("features", "adjacency"):
        sparse.save_npz(folder / f"{part}.npz", sparse.csr_array(getattr(graph, part)), compressed=False)
    np.save(folder / "starts.npy", np.array([model.labels for model in starts]))
    likelihood = JointLikelihood(graph)

    def objective(model: BlockModel | np.ndarray) -> float:
        return -likelihood.gains([model.labels if isinstance(model, BlockModel) else model])[0]

    ends = {"before": _refined(folder, before, "before"), "now": _refined(folder, None, "now")}
    print(name, *(f"{version} {end['seconds']:.1f} s" for version, end in ends.items()), file=sys.stderr, flush=True)
    return pd.DataFrame(
        {
            "network": name,
            "family": [model.family for model in starts],
            "n_blocks": n_blocks,
            "at start": [objective(model) for model in starts],
            **{version: [objective(labels) for labels in end["labels"]] for version, end in ends.items()},
            "rose now": ends["now"]["rises"],
            **{f"seconds {version}": float(end["seconds"]) for version, end in ends.items()},
        }
    )


def _refined(folder: Path, source: Path | None, version: str) -> dict[str, np.ndarray]:
    """The blocks that a version reaches, computed in a separate process."""
    own = Path(__file__).parent.parent / "src"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _REFINE, str(folder), version],
        env={**os.environ, "PYTHONPATH": str(source or own)},
        check=True,
    )
    with np.load(folder / f"{version}.npz") as found:
        return dict(found)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per network: mean and best J that both versions reach, and their difference in percent of J."""
    table = rows.assign(off=100 * (rows["now"] - rows["before"]) / rows["before"].abs())
    table["speed"] = rows["seconds before"] / rows["seconds now"]
    columns = {
        "starts": ("now", "size"),
        "J at start": ("at start", "mean"),
        "J before": ("before", "mean"),
        "J now": ("now", "mean"),
        "best before": ("before", "min"),
        "best now": ("now", "min"),
        "difference %": ("off", "mean"),
        "lower or equal": ("off", lambda off: int((off <= 1e-9).sum())),
        "times as fast": ("speed", "first"),
    }
    return table.groupby("network", sort=False).agg(**columns).reset_index()


if __name__ == "__main__":
    main()
